//! The loop ended by itself, not by a limit, an error or an exit that killed background work.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::event::Cause;

pub(super) struct NormalStop;

impl Check for NormalStop {
    fn name(&self) -> &str {
        "normal_stop"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let totals = view.ledger.totals();
        let Some(cause) = totals.stop.filter(|_| view.is_root()) else { return Ok(None) };
        let harmless_exit = cause == Cause::IdleExit && totals.jobs_killed == 0 && view.ledger.open().jobs.is_empty();
        if cause.is_normal() || harmless_exit {
            return Ok(None);
        }
        let message = format!("the run was stopped: {}", cause.name());
        Ok(Some(finding(self.name(), vec![view.ledger.reference(view.scope)], &message, "resume it, with a higher limit where one was reached")))
    }
}
