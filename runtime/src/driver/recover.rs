//! What is said to a run from outside, and taking one up again from its journal.

use super::Driver;
use crate::error::DriveError;
use crate::journal::read_all;
use crate::live::{Command, Shared};
use crate::parts::Parts;
use countersign_core::{Event, Limits, OnLost, Outcome, ROOT, ResumedBy, Run, Status, Str};
use std::sync::Arc;

impl Driver {
    /// Does what was said since the last look.
    pub(super) fn take_commands(&mut self) -> Result<(), DriveError> {
        while let Some(command) = self.shared.inbox.take() {
            self.obey(command)?;
        }
        Ok(())
    }

    pub(super) fn obey(&mut self, command: Command) -> Result<(), DriveError> {
        if self.run.ledger().has_ended() {
            return Ok(());
        }
        match command {
            Command::Cancel { by, when } => {
                self.offer(Event::CancelRequested { by, when })?;
                self.cancel_when_due()
            }
            Command::Steer(text) => match self.concluder() {
                Some(activation) => self.offer(Event::InputArrived { activation, text }),
                None => {
                    self.follow_ups.push_back(text);
                    Ok(())
                }
            },
            Command::FollowUp(text) => {
                self.follow_ups.push_back(text);
                Ok(())
            }
            Command::Approve { approval, granted, by, why, args } => self.offer(Event::ApprovalSettled { approval, granted, by, why, args }),
            Command::Answer { question, text } => self.offer(Event::QuestionAnswered { question, text }),
            Command::Resolve { call, outcome: None, by, .. } => self.offer(Event::Retried { call, by }),
            Command::Resolve { call, outcome: Some(outcome), text, .. } => self.offer(Event::ToolSettled { call, outcome, text, cut: None }),
            Command::Edited { by } => self.offer(Event::Edited { by }),
        }
    }

    /// Records what somebody outside says, unless it cannot be: then it changes nothing, and is said in the trace.
    fn offer(&mut self, event: Event) -> Result<(), DriveError> {
        match self.put(event) {
            Err(DriveError::Append(why)) => {
                tracing::warn!(run = &*self.shared.run, %why, "what was said from outside was refused");
                Ok(())
            }
            other => other,
        }
    }

    /// Folds a run's log and goes on where it stands.
    pub(crate) async fn resume(
        parts: Arc<Parts>,
        run: &str,
        commands: Vec<Command>,
        limits: Option<Limits>,
    ) -> Result<(Box<Self>, Arc<Shared>), DriveError> {
        let log = read_all(&*parts.journal, run).await?;
        if log.is_empty() {
            return Err(DriveError::UnknownRun(run.into()));
        }
        let written = log.len();
        let run = Run::replay(parts.gate.clone(), log)?;
        let id = run.ledger().started().map(|s| s.run.clone()).unwrap_or_default();
        if run.ledger().has_ended() {
            return Err(DriveError::Ended(id));
        }
        let (mut driver, shared) = Self::new(parts, run, written);
        driver.take_up(limits)?;
        for command in commands {
            driver.obey(command)?;
        }
        let open = driver.run.ledger().activations().iter().filter(|a| a.open).map(|a| a.id);
        driver.queue = open.collect();
        Ok((driver, shared))
    }

    /// A run that stopped or parked is resumed by a person; any other had its process die under it.
    fn take_up(&mut self, limits: Option<Limits>) -> Result<(), DriveError> {
        let ledger = self.run.ledger();
        let parked = match ledger.log().last().map(|r| &r.event) {
            Some(Event::Decided { scope: ROOT, decision, .. }) => decision.status != Status::InProgress,
            _ => false,
        };
        if parked || ledger.totals().stop.is_some() {
            return self.put(Event::Resumed { by: ResumedBy::Person, started: true, limits: limits.map(Box::new) });
        }
        self.put(Event::Crashed)?;
        let jobs: Vec<_> = self.run.ledger().open().jobs.iter().collect();
        for job in jobs {
            self.put(Event::BackgroundEnded { job, outcome: Outcome::Lost, text: "its process is gone".into() })?;
        }
        self.put(Event::Resumed { by: ResumedBy::Crash, started: true, limits: None })?;
        self.resolve_lost()
    }

    /// What the policy says of calls whose outcome nobody can tell.
    fn resolve_lost(&mut self) -> Result<(), DriveError> {
        let lost: Vec<_> = self.run.ledger().open().lost.iter().collect();
        let policy = self.run.ledger().policy().on_lost;
        for call in lost {
            match policy {
                OnLost::Ask => {}
                OnLost::Fail => {
                    let text: Str = "its process died under it; by policy it counts as failed".into();
                    self.put(Event::ToolSettled { call, outcome: Outcome::Failed, text, cut: None })?;
                }
                OnLost::Retry => self.put(Event::Retried { call, by: "policy".into() })?,
            }
        }
        Ok(())
    }
}
