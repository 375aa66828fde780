//! Where work was tried, some of it was done: an answer over nothing but failed calls rests on nothing.

use super::{exited, failed, finding, work};
use countersign_core::{Check, Finding, NodeId, Outcome, RunState, View};

/// Some call that counts as work completed, where any was made.
pub struct WorkDone;

impl Check for WorkDone {
    fn name(&self) -> &str {
        "work_done"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let exited = exited(view.ledger);
        let (mut tried, mut nothing) = (0, Vec::<NodeId>::new());
        for run in work(view.ledger) {
            tried += 1;
            if failed(run, &exited) || run.state == RunState::Settled(Outcome::Rejected) {
                nothing.push(run.id);
            }
        }
        if tried == 0 || nothing.len() < tried {
            return Ok(None);
        }
        let message = "work was tried and none of it was done: every call failed or did not run";
        Ok(Some(finding(view, self.name(), &nothing, message, "do the work, or say that it could not be done and why")))
    }
}
