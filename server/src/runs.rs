//! The one way to start a run, to say something to it, and to take it up again. Chats, batches, workflows and the page
//! all come through here.

mod desk;
mod fit;
mod order;
mod others;

pub use order::{Order, Profiles};
pub(crate) use others::LOOK;

use crate::access::{Who, random_name};
use crate::hub::{Follow, Hub, Reader};
use crate::metrics::Metrics;
use crate::pace::Pace;
use crate::problem::Problem;
use crate::redact::Redactor;
use crate::state::Bounds;
use countersign::journal::projection::{RunQuery, RunSummary};
use countersign::live::Command;
use countersign::{Cause, DriveError, Handle, Journal, JournalError, Labels, LiveRun, NodeId, Request, Run, Runner, Str};
use dashmap::DashMap;
use desk::Slot;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// How many runs somebody may be busy with before those are looked for with whom nobody is.
const SLOTS_MAX: usize = 10_000;

/// Every run of a server.
pub struct Runs {
    journal: Arc<dyn Journal>,
    profiles: Profiles,
    slots: DashMap<Str, Arc<Slot>>,
    most: usize,
    redactor: Redactor,
    starts: Pace,
    metrics: Metrics,
    at_work: AtomicUsize,
    idle: Notify,
    leaving: AtomicBool,
}

impl Runs {
    pub(crate) fn new(journal: Arc<dyn Journal>, profiles: Profiles, redactor: Redactor, bounds: &Bounds) -> Arc<Self> {
        let (most, starts) = (bounds.runs, Pace::new(&bounds.rates));
        let (at_work, idle, leaving) = (AtomicUsize::new(0), Notify::new(), AtomicBool::new(false));
        Arc::new(Self { journal, profiles, slots: DashMap::new(), most, redactor, starts, metrics: Metrics::default(), at_work, idle, leaving })
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// What is struck out of everything that leaves.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// What is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Who carries tasks out.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// How many runs are under way.
    pub fn at_work(&self) -> usize {
        self.at_work.load(Ordering::SeqCst)
    }

    /// Tool runs without an outcome, of each run that is under way here.
    pub fn pending(&self) -> HashMap<Str, u32> {
        let driven = |slot: &Slot| slot.handle.try_lock().ok()?.as_ref().map(Handle::pending_tools);
        self.slots.iter().filter_map(|slot| Some((slot.key().clone(), driven(&slot)?))).collect()
    }

    /// Starts a run. Whoever starts one, and for whatever purpose, starts it here.
    pub async fn start(self: &Arc<Self>, who: &Who, order: Order) -> Result<RunSummary, Problem> {
        let id = format!("run-{}", random_name().map_err(Problem::Busy)?);
        self.start_as(&id, who, order).await
    }

    /// As `start`, under a name that nobody else may give.
    pub(crate) async fn start_as(self: &Arc<Self>, id: &str, who: &Who, order: Order) -> Result<RunSummary, Problem> {
        self.may_begin()?;
        self.starts.start(who)?;
        let (profile, runner) = self.profiles.choose(&order)?;
        let runner = match &order.policy {
            Some(asked) => runner.under(asked.tighten(runner.policy())?)?,
            None => runner.clone(),
        };
        let labels = Labels {
            conversation: order.conversation.clone(),
            message: order.message.clone(),
            owner: Some(who.0.clone()),
            profile: Some(profile.clone()),
        };
        let live = runner.start_as(id, Request { task: order.task.into(), images: order.images }, labels).await?;
        let handle = live.handle();
        let slot = self.slot(live.id());
        *slot.handle.lock().await = Some(handle.clone());
        self.supervise(slot, live, 0);
        handle.beyond(0).await;
        self.owned(who, id).await
    }

    /// A run, for whoever owns it. Another's is not there.
    pub async fn owned(&self, who: &Who, run: &str) -> Result<RunSummary, Problem> {
        let found = self.journal.summary(run).await?;
        found.filter(|summary| summary.owner.as_ref() == Some(&who.0)).ok_or_else(|| Problem::NoRun(run.to_owned()))
    }

    /// Runs of one owner, the newest first.
    pub async fn list(&self, who: &Who, query: RunQuery) -> Result<Vec<RunSummary>, Problem> {
        Ok(self.journal.list(&RunQuery { owner: Some(who.0.clone()), ..query }).await?)
    }

    /// A run, folded from its log.
    pub async fn read(&self, run: &RunSummary) -> Result<Run, Problem> {
        Ok(self.profiles.of(run)?.read(&run.run).await?)
    }

    /// Other arguments for a call that waits for approval: JSON that fits the tool's schema, or a refusal.
    pub fn fitting(&self, summary: &RunSummary, run: &Run, approval: NodeId, arguments: &Value) -> Result<Str, Problem> {
        let on = run.ledger().approval(approval).and_then(|approval| run.ledger().tool_run(approval.on));
        let call = on.and_then(|on| run.ledger().call(on));
        let call =
            call.ok_or_else(|| Problem::Refused("this approval is for a step of a plan, which has no arguments; leave `arguments` out".to_owned()))?;
        let spec = self.profiles.of(summary)?.tool(&call.name);
        let spec = spec.ok_or_else(|| Problem::Conflict(format!("there is no tool `{}` here any more", call.name)))?;
        fit::check(&call.name, &spec.schema, arguments)?;
        Ok(arguments.to_string().into())
    }

    /// Says something to a run. One that is under way here reads it, one that another process drives is sent it, and one
    /// that is parked is taken up with it.
    pub async fn tell(self: &Arc<Self>, run: &RunSummary, commands: Vec<Command>) -> Result<(), Problem> {
        let slot = self.slot(&run.run);
        let mut handle = slot.handle.lock().await;
        let mut unheard = Vec::new();
        for command in commands {
            match handle.as_ref() {
                Some(live) => unheard.extend(live.tell(command).err()),
                None => unheard.push(command),
            }
        }
        if handle.is_some() && unheard.is_empty() {
            return Ok(());
        }
        self.take_up_or_post(&slot, &mut handle, run, unheard).await
    }

    /// Takes a run up again that nobody drives: parked, or left behind by a process that died.
    pub async fn resume(self: &Arc<Self>, run: &RunSummary) -> Result<(), Problem> {
        self.tell(run, Vec::new()).await
    }

    /// Takes up every run whose process died under it. Parked ones stay parked. Says how many there were. Where others
    /// share the journal, that is found out by and by instead.
    pub async fn recover(self: &Arc<Self>) -> Result<usize, Problem> {
        if self.journal.peers().is_some() {
            self.attend_to_others();
            return Ok(0);
        }
        let query = RunQuery { status: Some(countersign::Status::InProgress), most: self.most, ..RunQuery::default() };
        let left = self.journal.list(&query).await?;
        let mut taken = 0;
        for run in left {
            match self.resume(&run).await {
                Ok(()) => taken += 1,
                Err(why) => tracing::warn!(run = &*run.run, %why, "a run that was left behind cannot be taken up"),
            }
        }
        Ok(taken)
    }

    /// Follows a run from an event on.
    pub async fn follow(self: &Arc<Self>, run: &RunSummary, after: u32, follow: Follow) -> Result<Reader, Problem> {
        let slot = self.slot(&run.run);
        let handle = slot.handle.lock().await;
        let gate = self.profiles.of(run)?.gate().clone();
        let hub = slot.hub(|| Hub::open(run.run.clone(), gate, self.journal.clone(), self.redactor.clone()), handle.as_ref());
        drop(handle);
        Ok(hub.reader(after, follow))
    }

    /// Waits until a run has no driver here: it has ended, or is parked.
    pub async fn rest(&self, run: &Str) {
        let slot = self.slot(run);
        let handle = slot.handle.lock().await.clone();
        if let Some(handle) = handle {
            handle.beyond(u32::MAX).await;
        }
        drop(slot);
        self.tidy(run);
    }

    /// Lets nothing new begin, and waits until nothing is under way.
    pub async fn drain(&self) {
        self.leaving.store(true, Ordering::SeqCst);
        loop {
            let idle = self.idle.notified();
            if self.at_work() == 0 {
                return;
            }
            idle.await;
        }
    }

    /// Has every run that is under way stand still where it is, so that whoever comes next goes on with it.
    pub async fn park(&self) {
        let slots: Vec<_> = self.slots.iter().map(|slot| slot.clone()).collect();
        for slot in slots {
            if let Some(handle) = slot.handle.lock().await.as_ref() {
                // One that has just ended does not hear it.
                let _ = handle.tell(Command::Pause { why: "the server was shut down".into() });
            }
        }
        self.drain().await;
    }

    /// Whether nothing new begins.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    fn may_begin(&self) -> Result<(), Problem> {
        if self.is_leaving() {
            return Err(Problem::Leaving);
        }
        let at_work = self.at_work();
        if at_work >= self.most {
            return Err(Problem::Busy(format!("{at_work} runs are under way, which is the most; try again when one is done")));
        }
        Ok(())
    }

    /// The place of a run among those that somebody is busy with.
    fn slot(&self, run: &Str) -> Arc<Slot> {
        if self.slots.len() > SLOTS_MAX {
            // A hub may outlive its last reader by a moment, and its slot with it.
            self.slots.retain(|_, slot| Arc::strong_count(slot) > 1 || !slot.is_free());
        }
        self.slots.entry(run.clone()).or_default().clone()
    }

    async fn take_up(self: &Arc<Self>, slot: &Arc<Slot>, at: &mut Option<Handle>, run: &RunSummary, said: Vec<Command>) -> Result<(), Problem> {
        self.may_begin()?;
        let runner: &Runner = self.profiles.of(run)?;
        let live = runner.resume(&run.run, said, None).await?;
        let handle = live.handle();
        slot.attach(&handle);
        *at = Some(handle);
        self.supervise(slot.clone(), live, run.seq);
        Ok(())
    }

    /// Takes a run up with what was said to it; where another process was quicker, that one is told.
    async fn take_up_or_post(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        at: &mut Option<Handle>,
        run: &RunSummary,
        said: Vec<Command>,
    ) -> Result<(), Problem> {
        match (self.take_up(slot, at, run, said.clone()).await, self.journal.peers()) {
            (Err(Problem::Leaving | Problem::Drive(DriveError::Driven(_) | DriveError::Journal(JournalError::Stale { .. }))), Some(others))
                if !said.is_empty() =>
            {
                Ok(others.post(&run.run, &said).await?)
            }
            (done, _) => done,
        }
    }

    /// Sees a run to its end, or to where it parks. What was said to it meanwhile and not read takes it up again.
    fn supervise(self: &Arc<Self>, slot: Arc<Slot>, live: LiveRun, from: u32) {
        self.at_work.fetch_add(1, Ordering::SeqCst);
        let runs = self.clone();
        tokio::spawn(async move {
            let run = live.id().clone();
            let result = live.result().await;
            match &result {
                Ok(result) if result.run.ledger().totals().stop == Some(Cause::Pause) => {}
                Ok(result) => runs.metrics.rested(&result.run, from),
                Err(why) => tracing::error!(run = &*run, %why, "a run's driver has stopped; the run can be taken up again"),
            }
            let over = result.as_ref().map_or(true, |result| result.status().is_terminal());
            drop(result);
            let mut handle = slot.handle.lock().await;
            let unread = handle.take().map(|handle| handle.close()).unwrap_or_default();
            if !over && !unread.is_empty() {
                runs.take_up_unread(&slot, &mut handle, &run, unread).await;
            }
            drop(handle);
            drop(slot);
            runs.tidy(&run);
            if runs.at_work.fetch_sub(1, Ordering::SeqCst) == 1 {
                runs.idle.notify_waiters();
            }
        });
    }

    async fn take_up_unread(self: &Arc<Self>, slot: &Arc<Slot>, at: &mut Option<Handle>, run: &Str, unread: Vec<Command>) {
        let taken = match self.journal.summary(run).await {
            Ok(Some(summary)) => self.take_up_or_post(slot, at, &summary, unread).await,
            Ok(None) => Ok(()),
            Err(why) => Err(why.into()),
        };
        if let Err(why) = taken {
            tracing::error!(run = &**run, %why, "what was said to a run while it parked is lost");
        }
    }

    /// Forgets a run that nobody is busy with any more.
    pub(crate) fn tidy(&self, run: &Str) {
        self.slots.remove_if(run, |_, slot| Arc::strong_count(slot) == 1 && slot.is_free());
    }
}
