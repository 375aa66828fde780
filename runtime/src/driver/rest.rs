//! When nobody can go on, and how what is under way is ended.

use super::Driver;
use crate::error::DriveError;
use countersign_core::{CancelWhen, Cause, Decision, Event, Next, NodeId, Outcome, ROOT, RunState, Status, Str};
use countersign_modes::{Act, closing};

use std::sync::Arc;

impl Driver {
    /// The decision with which nobody can go on, if that is so.
    #[inline]
    pub(super) fn at_rest(&mut self) -> Result<Option<Arc<Decision>>, DriveError> {
        if self.run.ledger().totals().stop == Some(Cause::Pause) {
            return Ok(Some(Arc::new(self.run.decide())));
        }
        loop {
            let ended = self.run.ledger().has_ended();
            if !ended && !self.is_idle() {
                return Ok(None);
            }
            let decision = self.standing()?;
            if ended || decision.status != Status::InProgress {
                return Ok(Some(decision));
            }
            if self.run.ledger().totals().stop.is_some() {
                // It was stopped and could be started again, which is for whoever drives it next.
                return Ok(Some(decision));
            }
            // A run that was resumed after a refusal: whoever concluded is told what is missing.
            if matches!(decision.next, Next::Nudge | Next::Continue | Next::ResumeRun) {
                self.go_on(ROOT, &decision)?;
                self.work_off()?;
            }
            if self.is_idle() && self.run.ledger().totals().stop.is_none() {
                // Somebody has to be waited for or given control, and nobody is there: the mode's own fault.
                self.stop(Cause::ModeError, &format!("nobody can go on: {}", decision.completion_reason.name()))?;
            }
        }
    }

    /// The ruling on the run as it stands: the recorded one, where nothing has happened since.
    pub(super) fn standing(&mut self) -> Result<Arc<Decision>, DriveError> {
        match self.run.ledger().newest() {
            Some(Event::Decided { scope: ROOT, decision, .. }) => Ok(decision.clone()),
            _ => Ok(self.run.rule(ROOT, self.at_ms)?),
        }
    }

    /// Ends what is under way. A failure closes everything; a limit leaves the agents open, to be resumed.
    pub(super) fn stop(&mut self, cause: Cause, why: &str) -> Result<(), DriveError> {
        self.abandon();
        let outcome = if cause == Cause::Timeout { Outcome::TimedOut } else { Outcome::Cancelled };
        let fatal = matches!(cause, Cause::Timeout | Cause::ModeError | Cause::ProviderError | Cause::Error | Cause::UserCancelled);
        let left = if fatal { closing(self.run.ledger(), ROOT, outcome, "the run was stopped") } else { self.under_way() };
        for event in left {
            self.put(event)?;
        }
        self.put(Event::Stopped { cause, why: why.into() })?;
        self.queue.clear();
        Ok(())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.acts.is_empty()
    }

    pub(super) fn abandon(&mut self) {
        self.abandoned = true;
        self.running = None;
        self.acts.clear();
        self.queue.clear();
    }

    /// Calls and jobs that were under way, cancelled. Those that wait for a person go on waiting.
    pub(super) fn under_way(&self) -> Vec<Event> {
        let ledger = self.run.ledger();
        let waits =
            |call: &NodeId| ledger.tool_run(*call).is_some_and(|r| r.child.is_none() && matches!(r.state, RunState::Requested | RunState::Running));
        let text: Str = "the run was stopped".into();
        let calls = ledger.open().tools.iter().filter(waits).map(|call| Event::ToolSettled {
            call,
            outcome: Outcome::Cancelled,
            text: text.clone(),
            cut: None,
        });
        let jobs = ledger.open().jobs.iter().map(|job| Event::BackgroundEnded { job, outcome: Outcome::Cancelled, text: text.clone() });
        calls.chain(jobs).collect()
    }

    /// A cancellation that waits for a reply or for tools takes hold once they are in.
    pub(super) fn cancel_when_due(&mut self) -> Result<(), DriveError> {
        let Some(when) = self.run.ledger().totals().cancel.filter(|_| !self.run.ledger().has_ended()) else { return Ok(()) };
        let at_work = self.at_work();
        let due = match when {
            CancelWhen::AtOnce => true,
            CancelWhen::AfterReply => at_work.models == 0,
            CancelWhen::AfterTools => {
                at_work.models == 0 && at_work.tools == 0 && !self.acts.iter().any(|w| !w.begun && matches!(w.act, Act::RunTool(_)))
            }
        };
        if due { self.stop(Cause::UserCancelled, "the user cancelled") } else { Ok(()) }
    }
}
