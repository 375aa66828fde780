//! The newest work before the answer did not fail: an answer straight after a failure rests on what is not there.
//!
//! A look that finds nothing tells something, and so does a command's exit status: neither counts as a failure here.
//! Handing over to a person after one is an honest end.

use super::{exited, failed, finding, own};
use countersign_core::ledger::ToolRun;
use countersign_core::{CallKind, Check, Effect, Finding, Outcome, RunState, View};

/// The newest call that was to change something, or to hand over, did not come to nothing.
pub struct LastWorkOk;

impl Check for LastWorkOk {
    fn name(&self) -> &str {
        "last_work_ok"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let exited = exited(view.ledger);
        let newest = own(view.ledger).rfind(|run| counts(run) && ran(run));
        let Some(last) = newest.filter(|run| run.declared.effect != Effect::Read && failed(run, &exited)) else { return Ok(None) };
        let message = "the newest work failed, and nothing was done after it";
        Ok(Some(finding(view, self.name(), &[last.id], message, "try again or another way, or say that it could not be done and why")))
    }
}

fn counts(run: &ToolRun) -> bool {
    run.declared.kind == CallKind::Run && run.declared.evidence || run.declared.kind == CallKind::Terminal
}

/// What was refused or given up before it ran made nothing worse.
fn ran(run: &ToolRun) -> bool {
    !matches!(run.state, RunState::Settled(Outcome::Rejected | Outcome::Cancelled))
}
