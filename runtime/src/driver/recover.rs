//! What is said to a run from outside, and taking one up again from its journal.

use super::{Driver, Wanted};
use crate::error::DriveError;
use crate::journal::read_all;
use crate::live::{Command, Shared};
use crate::parts::Parts;
use crate::request;
use countersign_core::event::Forked;
use countersign_core::ledger::Ledger;
use countersign_core::{CallKind, Cause, Event, Limits, NodeId, OnLost, Outcome, ROOT, Record, ResumedBy, Run, RunStarted, RunState, Status, Str};
use countersign_modes::Act;
use countersign_modes::tool::unknown_tool;
use std::sync::Arc;

/// What is said of a call that its process was not there to see the end of.
const GONE: &str = "its process is gone";

impl Driver {
    /// Does what was said since the last look.
    pub(super) fn take_commands(&mut self) -> Result<(), DriveError> {
        while let Some(command) = self.shared.inbox.take() {
            self.obey(command)?;
        }
        Ok(())
    }

    pub(super) fn obey(&mut self, command: Command) -> Result<(), DriveError> {
        // What comes late may come after the end.
        if self.run.ledger().has_ended() && !matches!(command, Command::Late { .. }) {
            return Ok(());
        }
        match command {
            Command::Cancel { by, when } => {
                self.offer(Event::CancelRequested { by, when })?;
                self.cancel_when_due()
            }
            Command::Steer(text) => match self.concluder() {
                Some(activation) => self.offer(Event::InputArrived { activation, text, queued: None }),
                None => self.offer(Event::InputQueued { text }),
            },
            Command::FollowUp(text) => self.offer(Event::InputQueued { text }),
            Command::Approve { approval, granted, by, why, args } => {
                self.offer(Event::ApprovalSettled { approval, granted, by, why, args, lapsed: false })
            }
            Command::Answer { question, text } => self.offer(Event::QuestionAnswered { question, text }),
            Command::Resolve { call, outcome, text, by } => self.resolve(call, outcome, &text, by),
            Command::Edited { by } => self.offer(Event::Edited { by }),
            Command::Late { call, outcome, text } => self.offer(Event::LateResult { call, outcome, text }),
            Command::Pause { why } => self.pause(why),
        }
    }

    /// A lost call is run again, or has the outcome that somebody found out. Any other is not theirs to settle.
    fn resolve(&mut self, call: NodeId, outcome: Option<Outcome>, text: &str, by: Str) -> Result<(), DriveError> {
        let Some(run) = self.run.ledger().tool_run(call).filter(|run| run.state == RunState::Lost) else {
            tracing::warn!(run = &*self.shared.run, call = call.0, "a call that is not lost was to be resolved: nothing is done");
            return Ok(());
        };
        let job = run.job;
        let Some(outcome) = outcome else {
            self.put(Event::Retried { call, by })?;
            self.begin_again(call);
            return Ok(());
        };
        let text: Str = format!("{text} (as {by} says)").into();
        self.put(match job {
            Some(job) => Event::BackgroundEnded { job, outcome, text },
            None => Event::ToolSettled { call, outcome, text, cut: None },
        })
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

    /// Folds a run's log and goes on where it stands, unless another process that is alive drives it. The taking up is
    /// in the journal by then, with what was said: who fails here has said nothing.
    pub(crate) async fn resume(
        parts: Arc<Parts>,
        run: &str,
        commands: Vec<Command>,
        limits: Option<Limits>,
    ) -> Result<(Box<Self>, Arc<Shared>), DriveError> {
        let journal = parts.journal.clone();
        let Some(peers) = journal.peers() else { return Self::stored(parts, run, commands, limits).await };
        if !peers.claim(run).await? {
            let known = journal.summary(run).await?.is_some();
            return Err(if known { DriveError::Driven(run.into()) } else { DriveError::UnknownRun(run.into()) });
        }
        let taken = Self::stored(parts, run, commands, limits).await;
        if taken.is_err() {
            // Where that fails as well, it is over with this process.
            let _ = peers.release(run).await;
        }
        taken
    }

    /// As the journal has it, and with what is said in it.
    async fn stored(parts: Arc<Parts>, run: &str, commands: Vec<Command>, limits: Option<Limits>) -> Result<(Box<Self>, Arc<Shared>), DriveError> {
        let (run, written) = Self::read(&parts, run).await?;
        let images = request::images_of(&*parts.journal, run.ledger().started()).await?;
        let (mut driver, shared) = Self::go_on_from(parts, run, written, commands, limits)?;
        driver.images = Some(images.into()).filter(|images: &Arc<[_]>| !images.is_empty());
        if !driver.flush_now()? {
            driver.flush().await?;
        }
        Ok((driver, shared))
    }

    /// A run as its journal has it, and how many events that are.
    pub(crate) async fn read(parts: &Parts, run: &str) -> Result<(Run, usize), DriveError> {
        let log = read_all(&*parts.journal, run).await?;
        if log.is_empty() {
            return Err(DriveError::UnknownRun(run.into()));
        }
        let written = log.len();
        Ok((Run::replay(parts.gate.clone(), log)?, written))
    }

    /// A new run with an older one's beginning. Its rulings are made again, under its own name.
    pub(crate) async fn fork(
        parts: Arc<Parts>,
        from: Forked,
        run: &str,
        commands: Vec<Command>,
        limits: Option<Limits>,
    ) -> Result<(Box<Self>, Arc<Shared>), DriveError> {
        let log = read_until(&parts, &from).await?;
        let forked = retell(&parts, &log, from.clone(), run)?;
        let images = match log.first().map(|record| &record.event) {
            Some(Event::RunStarted(start)) => request::images_of(&*parts.journal, Some(start)).await?,
            _ => Vec::new(),
        };
        let cut = |record: &Arc<Record>| match &record.event {
            Event::ToolSettled { call, cut: Some(cut), .. } if cut.full.is_some() => Some(*call),
            _ => None,
        };
        let mut to_keep = Vec::new();
        for call in log.iter().filter_map(cut) {
            to_keep.extend(parts.journal.kept(&from.run, call).await?.map(|whole| (call, whole)));
        }
        let (mut driver, shared) = Self::go_on_from(parts, forked, 0, commands, limits)?;
        driver.to_keep = to_keep;
        driver.bring(images);
        Ok((driver, shared))
    }

    fn go_on_from(
        parts: Arc<Parts>,
        run: Run,
        written: usize,
        commands: Vec<Command>,
        limits: Option<Limits>,
    ) -> Result<(Box<Self>, Arc<Shared>), DriveError> {
        let id = run.ledger().started().map(|s| s.run.clone()).unwrap_or_default();
        if run.ledger().has_ended() {
            return Err(DriveError::Ended(id));
        }
        if let Some(missing) = lacks(&parts, run.ledger()) {
            return Err(DriveError::Unfit { run: id, missing });
        }
        let at_ms = (parts.clock)();
        let (mut driver, shared) = Self::new(parts, run, written, at_ms);
        driver.take_up(limits)?;
        for command in commands {
            driver.obey(command)?;
        }
        let open = driver.run.ledger().activations().iter().filter(|a| a.open).map(|a| a.id);
        driver.queue = open.collect();
        Ok((driver, shared))
    }

    /// A run that stopped or parked is resumed by a person; any other had its process leave, or die under it.
    fn take_up(&mut self, limits: Option<Limits>) -> Result<(), DriveError> {
        let ledger = self.run.ledger();
        if ledger.totals().stop == Some(Cause::Pause) {
            self.spent_ms = spent_ms(ledger);
            self.put(Event::Resumed { by: ResumedBy::Crash, started: true, limits: None })?;
            return self.lapse_approvals();
        }
        let parked = match ledger.newest() {
            Some(Event::Decided { scope: ROOT, decision, .. }) => decision.status != Status::InProgress,
            _ => false,
        };
        if parked || ledger.totals().stop.is_some() {
            self.put(Event::Resumed { by: ResumedBy::Person, started: true, limits: limits.map(Box::new) })?;
            return self.lapse_approvals();
        }
        self.spent_ms = spent_ms(ledger);
        self.put(Event::Crashed)?;
        self.lose_jobs()?;
        self.put(Event::Resumed { by: ResumedBy::Crash, started: true, limits: None })?;
        self.lapse_approvals()?;
        self.resolve_lost()
    }

    /// The process leaves. What may be done twice is done again by whoever goes on; of anything else nobody can tell what
    /// became of it. Nothing is ruled on: the run is under way, and stands still.
    fn pause(&mut self, why: Str) -> Result<(), DriveError> {
        self.abandon();
        let ledger = self.run.ledger();
        let runs = |call: &NodeId| ledger.tool_run(*call).is_some_and(|run| run.child.is_none() && run.state == RunState::Running);
        let running: Vec<_> = ledger.open().tools.iter().filter(runs).collect();
        for call in running {
            self.put(Event::ToolSettled { call, outcome: Outcome::Lost, text: GONE.into(), cut: None })?;
        }
        self.lose_jobs()?;
        self.resolve_lost()?;
        self.put(Event::Stopped { cause: Cause::Pause, why })?;
        self.abandon();
        Ok(())
    }

    fn lose_jobs(&mut self) -> Result<(), DriveError> {
        let jobs: Vec<_> = self.run.ledger().open().jobs.iter().collect();
        jobs.into_iter().try_for_each(|job| self.put(Event::BackgroundEnded { job, outcome: Outcome::Lost, text: GONE.into() }))
    }

    /// What nobody granted in time is denied, before anybody can still grant it.
    fn lapse_approvals(&mut self) -> Result<(), DriveError> {
        let ledger = self.run.ledger();
        let most = ledger.limits().approval_ms;
        let asked_ms = |node| ledger.data(node).and_then(|d| ledger.record(d.seq)).map_or(self.at_ms, |r| r.at_ms);
        let lapsed: Vec<_> = ledger.open().approvals.iter().filter(|node| self.at_ms.saturating_sub(asked_ms(*node)) > most).collect();
        for approval in lapsed {
            let why: Str = format!("the request stood for more than {most} ms").into();
            self.put(Event::ApprovalSettled { approval, granted: false, by: "policy".into(), why, args: None, lapsed: true })?;
        }
        Ok(())
    }

    /// What the policy says of calls whose outcome nobody can tell.
    pub(super) fn resolve_lost(&mut self) -> Result<(), DriveError> {
        let lost: Vec<_> = self.run.ledger().open().lost.iter().collect();
        let policy = self.run.ledger().policy().on_lost;
        for call in lost {
            match policy {
                OnLost::Ask => {}
                OnLost::Fail => self.resolve(call, Some(Outcome::Failed), "its process died under it", "policy".into())?,
                OnLost::Retry => self.resolve(call, None, "", "policy".into())?,
            }
        }
        Ok(())
    }

    /// A job that goes on is nobody's turn: its act is wanted here. Any other call is its agent's to begin.
    fn begin_again(&mut self, call: NodeId) {
        let goes_on = self.run.ledger().tool_run(call).is_some_and(|run| run.state == RunState::Background);
        let act = Act::RunTool(call);
        if goes_on {
            Wanted::note(&mut self.acts, act);
        }
    }
}

/// How long the run had been at work when its process died: since its start, or since a person last took it up.
fn spent_ms(ledger: &Ledger) -> u64 {
    let begins = |r: &&Arc<Record>| matches!(r.event, Event::RunStarted(_) | Event::Resumed { by: ResumedBy::Person, started: true, .. });
    let log = ledger.log();
    let (began, last) = (log.iter().rev().find(begins), log.last());
    began.zip(last).map_or(0, |(began, last)| last.at_ms.saturating_sub(began.at_ms))
}

/// What the run needs and this runner does not have.
fn lacks(parts: &Parts, ledger: &Ledger) -> Option<String> {
    let mode = ledger.started().map(|s| &s.mode).filter(|mode| **mode != parts.name);
    if let Some(mode) = mode {
        return Some(format!("it runs in mode `{mode}`, and this runner in `{}`", parts.name));
    }
    if let Some(missing) = ledger.started().and_then(|start| lacks_check(parts, start)) {
        return Some(missing);
    }
    let open = || ledger.activations().iter().filter(|a| a.open && a.id != ROOT);
    if let Some(gone) = open().find(|a| parts.agents.get(&a.agent).is_none()) {
        return Some(format!("there is no agent `{}`", gone.agent));
    }
    let mine = |run: &&countersign_core::ledger::ToolRun| run.declared.kind == CallKind::Run && run.declared != unknown_tool();
    let waits = ledger.tool_runs().iter().filter(mine).filter(|run| !matches!(run.state, RunState::Settled(_)));
    let name = waits.filter_map(|run| ledger.call(run)).map(|call| &call.name).find(|name| !parts.tools.contains_key(*name))?;
    Some(format!("there is no tool `{name}`"))
}

/// A check by which the run is ruled on and that is not here.
fn lacks_check(parts: &Parts, start: &RunStarted) -> Option<String> {
    let gone = start.checks.iter().find(|check| !parts.gate.names().contains(check))?;
    Some(format!("there is no check `{}` of version {}", gone.name, gone.version))
}

/// The beginning of a log, up to and with an event.
async fn read_until(parts: &Parts, from: &Forked) -> Result<Vec<Arc<Record>>, DriveError> {
    let mut log: Vec<Arc<Record>> = Vec::new();
    while log.len() < from.seq as usize {
        let page = parts.journal.read(&from.run, super::seq(log.len()), from.seq as usize - log.len()).await?;
        if page.is_empty() {
            break;
        }
        log.extend(page);
    }
    match super::seq(log.len()) {
        0 if parts.journal.summary(&from.run).await?.is_none() => Err(DriveError::UnknownRun(from.run.clone())),
        last if last < from.seq || from.seq == 0 => Err(DriveError::NoEvent { run: from.run.clone(), seq: from.seq, last }),
        _ => Ok(log),
    }
}

/// The same facts under another name.
fn retell(parts: &Parts, log: &[Arc<Record>], from: Forked, run: &str) -> Result<Run, DriveError> {
    let Some((first, Event::RunStarted(start))) = log.first().map(|r| (r, &r.event)) else {
        return Err(DriveError::UnknownRun(from.run));
    };
    if let Some(missing) = lacks_check(parts, start) {
        return Err(DriveError::Unfit { run: from.run, missing });
    }
    let mut start = (**start).clone();
    (start.run, start.forked) = (run.into(), Some(from));
    let mut forked = Run::start(parts.gate.clone(), start, first.at_ms)?;
    for record in log.iter().skip(1) {
        match &record.event {
            Event::Decided { scope, .. } => drop(forked.rule(*scope, record.at_ms)?),
            event => forked.record(record.at_ms, event.clone())?,
        }
    }
    Ok(forked)
}
