//! A check of our own: a run that mended nothing has not done what it was asked to do.

use countersign::{Check, Event, Finding, Outcome, RunState, StepOutcome, View};

/// Something was edited. Where nothing was, the finding says why steps were given up.
pub(super) struct SomethingEdited;

impl Check for SomethingEdited {
    fn name(&self) -> &str {
        "something_edited"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let ledger = view.ledger;
        let edited = ledger.tool_runs().iter().any(|run| run.declared.effect.changes() && run.state == RunState::Settled(Outcome::Completed));
        if edited {
            return Ok(None);
        }
        let blocked = |event: &'_ Event| match event {
            Event::StepSettled { step, outcome: StepOutcome::Blocked, why } => Some((*step, why.clone())),
            _ => None,
        };
        let blocked: Vec<_> = ledger.log().iter().filter_map(|record| blocked(&record.event)).collect();
        let why = blocked.first().map(|(_, why)| format!(": {why}")).unwrap_or_default();
        Ok(Some(Finding {
            check: self.name().into(),
            subjects: view.refs(blocked.into_iter().map(|(step, _)| step)),
            message: format!("nothing was edited{why}"),
            remedy: "edit what the check complains of".into(),
        }))
    }
}
