//! The loop ended by itself, not by a limit, an error or an exit that killed background work.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::event::{Cause, Event};

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
        let why = match view.ledger.event(totals.stop_seq) {
            Some(Event::Stopped { why, .. }) if !why.trim().is_empty() => format!(": {why}"),
            _ => String::new(),
        };
        let message = format!("the run was stopped by {}{why}", cause.name());
        Ok(Some(finding(self.name(), vec![view.ledger.reference(view.scope)], &message, remedy(cause))))
    }
}

/// What can still be done: a limit can be raised, a failure is over.
fn remedy(cause: Cause) -> &'static str {
    match cause {
        Cause::TurnLimit | Cause::Budget | Cause::ReplanLimit | Cause::TransferLimit => "resume it with a higher limit",
        Cause::Repeating | Cause::Guard | Cause::IdleExit => "look at why, then resume it",
        Cause::ProviderError => "see that the provider answers, then try again",
        Cause::Timeout | Cause::ModeError | Cause::Error | Cause::UserCancelled => "it is over: mend what failed and start a new run",
        Cause::Natural | Cause::Pause | Cause::AwaitingHuman => "resume it",
    }
}
