//! Where evidence is required, the candidate rests on something that was executed and completed.

use super::candidate_last::overtaken;
use super::{Check, View, finding};
use crate::decision::Finding;

pub(super) struct EvidenceOk;

impl Check for EvidenceOk {
    fn name(&self) -> &str {
        "evidence_ok"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        if !view.is_root() || !view.policy().require_execution_evidence {
            return Ok(None);
        }
        let rests = match view.candidate {
            // Words that results have overtaken are refused for that: the work itself is there.
            Some(_) if overtaken(view) && view.ledger.totals().evidence > 0 => true,
            Some((node, _)) => view.ledger.rests_on_evidence(node),
            None => view.ledger.totals().evidence > 0,
        };
        if rests {
            return Ok(None);
        }
        let subject = view.candidate.map_or(view.scope, |(node, _)| node);
        Ok(Some(finding(
            self.name(),
            vec![view.ledger.reference(subject)],
            "evidence is required and the answer rests on no completed tool run; failed, cancelled, denied and bookkeeping calls do not count",
            "do the work with a tool, then answer from its result",
        )))
    }
}
