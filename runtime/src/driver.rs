//! The one loop that performs what a mode asks for and records what happened.
//!
//! Write-ahead: intent before act, outcome after; the journal has both before anything else is done. One
//! batch is everything that was ready together, sorted by node, so the same readiness gives the same log.

mod act;
mod audience;
mod finish;
mod recover;
mod rest;
mod span;

use crate::error::DriveError;
use crate::journal::Batch;
use crate::line;
use crate::live::{Inbox, Shared, Tip, TipCell};
use crate::parts::Parts;
use crate::request::{self, Image};
use crate::result::RunResult;
use act::{Done, Todo, carry_out};
use countersign_core::{Cause, Decision, Event, NodeId, Outcome, ROOT, Run, Str};
use countersign_modes::{Act, Out, machine};
use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, pin_mut};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

/// Drives one run.
pub(crate) struct Driver {
    parts: Arc<Parts>,
    run: Run,
    shared: Arc<Shared>,
    /// How much of the log the journal has.
    written: usize,
    /// Activations whose machine may have something to do.
    queue: VecDeque<NodeId>,
    /// Acts that are wanted or under way, in the order in which they were wanted.
    acts: Vec<Wanted>,
    /// Acts under way side by side; made with the first of them.
    running: Option<FuturesUnordered<BoxFuture<'static, Done>>>,
    /// Whether what is awaited in place is to be dropped.
    abandoned: bool,
    /// How long to wait before an act that failed is done again.
    pauses: Vec<(Act, Duration)>,
    /// Outputs that were cut, to be kept whole before the log refers to them.
    to_keep: Vec<(NodeId, Str)>,
    /// Images that came with the task.
    images: Option<Arc<[Image]>>,
    /// What earlier processes have used of the deadline, in milliseconds.
    spent_ms: u64,
    at_ms: u64,
    out: Out,
}

/// An act that a mode wants, until it is over.
struct Wanted {
    act: Act,
    begun: bool,
}

impl Wanted {
    /// Notes an act that is to be performed, once.
    fn note(acts: &mut Vec<Self>, act: Act) {
        if !acts.iter().any(|w| w.act == act) {
            acts.push(Self { act, begun: false });
        }
    }
}

/// How many acts are under way. Background tools are not counted: nobody waits for them.
struct AtWork {
    models: u32,
    tools: u32,
}

/// What ends a wait.
enum Woken {
    Act(Done),
    Deadline,
    Command,
}

impl Driver {
    pub(crate) fn new(parts: Arc<Parts>, run: Run, written: usize, at_ms: u64) -> (Box<Self>, Arc<Shared>) {
        let id = run.ledger().started().map_or_else(|| "".into(), |s| s.run.clone());
        let shared = Arc::new(Shared { run: id, tip: TipCell::default(), deltas: OnceLock::new(), inbox: Inbox::default() });
        let driver = Box::new(Self {
            parts,
            run,
            shared: shared.clone(),
            written,
            queue: VecDeque::from([ROOT]),
            acts: Vec::new(),
            running: None,
            abandoned: false,
            pauses: Vec::new(),
            to_keep: Vec::new(),
            images: None,
            spent_ms: 0,
            at_ms,
            out: Out::default(),
        });
        (driver, shared)
    }

    /// Images that come with the task, to be kept beside the log before anything refers to them.
    pub(crate) fn bring(&mut self, images: Vec<Image>) {
        if !images.is_empty() {
            self.to_keep.push((ROOT, request::kept(&images)));
            self.images = Some(images.into());
        }
    }

    /// Drives to the end of the run, or to where nobody in it can go on.
    pub(crate) async fn drive(mut self: Box<Self>) -> Result<RunResult, DriveError> {
        let span = span::run(self.run.ledger());
        let result = tracing::Instrument::instrument(self.run_to_rest(), span).await;
        self.publish(true);
        if self.shared.inbox.is_waiting() {
            // Boxed: hardly any run has something left to read.
            let late = Box::pin(line::hand_over(&self.parts, &self.shared)).await;
            // What comes late changes nothing, not even where it cannot be kept.
            late.unwrap_or_else(|why| tracing::warn!(run = &*self.shared.run, %why, "a late result could not be recorded"));
        }
        let decision = result?;
        let candidate = self.run.ledger().activation(ROOT).and_then(|a| a.candidate).and_then(|n| self.run.ledger().candidate(n));
        let final_response = self.run.final_answer().cloned();
        let candidate_response = candidate.map(|c| c.text.clone()).filter(|_| final_response.is_none());
        Ok(RunResult { final_response, candidate_response, decision, run: self.run })
    }

    async fn run_to_rest(&mut self) -> Result<Arc<Decision>, DriveError> {
        let most_ms = self.run.ledger().limits().deadline_ms.saturating_sub(self.spent_ms);
        let began_ms = self.at_ms;
        let (began, most) = (tokio::time::Instant::now(), Duration::from_millis(most_ms));
        // A timer only once something is waited for.
        let deadline = async move { tokio::time::sleep_until(began + most).await }.fuse();
        pin_mut!(deadline);
        let parts = self.parts.clone();
        let lone = OptionFuture::from(None);
        pin_mut!(lone);
        let mut awaits = false;
        loop {
            self.take_commands()?;
            self.work_off()?;
            let rests = self.at_rest()?;
            if !self.flush_now()? {
                self.flush().await?;
            }
            if let Some(decision) = rests {
                return Ok(decision);
            }
            self.begin_acts();
            if let Some(act) = self.lone_act() {
                // Nothing to race with: it is awaited in place, without a place of its own on the heap.
                let todo = self.prepare(act);
                lone.set(Some(carry_out(&parts, todo)).into());
                // Ready at once, as often as not: no need to listen to anything else.
                if let Poll::Ready(Some(done)) = futures_util::poll!(&mut lone) {
                    // A tool may have kept the thread for a while all the same; a reply that asks for one is timed with it.
                    if !done.asks_for_tools() {
                        self.at_ms = (parts.clock)();
                    }
                    self.finish(done)?;
                    // A run that never waits still lets others have their turn, and still has a deadline.
                    tokio::task::consume_budget().await;
                    if self.at_ms.saturating_sub(began_ms) >= most_ms {
                        self.stop(Cause::Timeout, "the deadline passed")?;
                    }
                    continue;
                }
                awaits = true;
            }
            let side_by_side = self.runs_side_by_side();
            let woken_by = tokio::select! {
                biased;
                Some(done) = &mut lone, if awaits => {
                    awaits = false;
                    Woken::Act(done)
                }
                Some(done) = next_of(&mut self.running), if side_by_side => Woken::Act(done),
                () = &mut deadline => Woken::Deadline,
                () = self.shared.inbox.arrived() => Woken::Command,
            };
            self.at_ms = (parts.clock)();
            match woken_by {
                Woken::Act(done) => self.batch(done)?,
                Woken::Deadline => self.stop(Cause::Timeout, "the deadline passed")?,
                Woken::Command => {}
            }
            // What is ready at once side by side lets others have their turn, too: a job in the background has
            // to get on while a model asks how it does.
            tokio::task::consume_budget().await;
            if self.abandoned {
                lone.set(None.into());
                (awaits, self.abandoned) = (false, false);
            }
        }
    }

    /// Asks every machine that may have something to do, until none has.
    fn work_off(&mut self) -> Result<(), DriveError> {
        while let Some(activation) = self.queue.pop_front() {
            machine::step(self.run.ledger(), &self.parts.agents, &*self.parts.mode, activation, &mut self.out);
            if !self.out.events.is_empty() {
                self.put_wanted()?;
            }
            for act in self.out.acts.drain(..) {
                Wanted::note(&mut self.acts, act);
            }
            if let Some(answer) = self.out.answer.take() {
                self.consider(activation, answer)?;
            }
        }
        self.cancel_when_due()
    }

    /// Records the facts that a machine wants recorded.
    fn put_wanted(&mut self) -> Result<(), DriveError> {
        let mut events = std::mem::take(&mut self.out.events);
        for event in events.drain(..) {
            match event {
                Event::Stopped { cause, why } => self.stop(cause, &why)?,
                event => self.put(event)?,
            }
        }
        // The room is used again.
        self.out.events = events;
        Ok(())
    }

    /// Records a fact, and notes whose machine it may concern.
    fn put(&mut self, event: Event) -> Result<(), DriveError> {
        self.run.record(self.at_ms, event)?;
        let ledger = self.run.ledger();
        let touched = ledger.log().last().and_then(|record| machine::touched(ledger, record));
        if let Some(activation) = touched
            && self.queue.back() != Some(&activation)
        {
            self.queue.push_back(activation);
        }
        Ok(())
    }

    /// Writes what the journal does not have yet, where that can be done without waiting. False where not.
    #[inline]
    fn flush_now(&mut self) -> Result<bool, DriveError> {
        if self.written == self.run.ledger().log().len() {
            return Ok(true);
        }
        let Some(done) = self.parts.journal.append_now(self.unwritten()) else { return Ok(false) };
        done?;
        self.was_written();
        Ok(true)
    }

    /// Writes what the journal does not have yet.
    async fn flush(&mut self) -> Result<(), DriveError> {
        self.parts.journal.append(self.unwritten()).await?;
        self.was_written();
        Ok(())
    }

    fn was_written(&mut self) {
        self.written = self.run.ledger().log().len();
        self.to_keep.clear();
        self.publish(false);
    }

    fn unwritten(&self) -> Batch<'_> {
        let records = self.run.ledger().log().get(self.written..).unwrap_or_default();
        Batch { run: &self.shared.run, expected: seq(self.written), records, outputs: &self.to_keep, answer: self.run.final_answer() }
    }

    fn publish(&self, ended: bool) {
        if !ended && Arc::strong_count(&self.shared) == 1 {
            // Nobody has hold of the run, so nobody can begin to listen. Whoever has a line to it asks whether it has ended.
            return;
        }
        self.shared.tip.set_pending(seq(self.run.ledger().open().tools.len()));
        self.shared.tip.set(Tip { seq: seq(self.written), ended });
    }

    /// The only act that is wanted, where nothing else is under way.
    fn lone_act(&mut self) -> Option<Act> {
        match self.acts.as_mut_slice() {
            [only] if !only.begun => {
                only.begun = true;
                Some(only.act)
            }
            _ => None,
        }
    }

    /// Begins what is wanted, as far as the limits on what runs side by side allow. A lone act is not for here.
    fn begin_acts(&mut self) {
        if self.acts.len() == 1 || self.acts.iter().all(|w| w.begun) {
            return;
        }
        let limits = self.run.ledger().limits();
        let most = AtWork { models: limits.concurrent_activations.max(1), tools: limits.concurrent_tools.max(1) };
        let cancelling = self.run.ledger().totals().cancel.is_some();
        let mut at_work = self.at_work();
        let mut acts = std::mem::take(&mut self.acts);
        for wanted in acts.iter_mut().filter(|w| !w.begun) {
            wanted.begun = match wanted.act {
                Act::CallModel(_) => at_work.models < most.models && !cancelling,
                Act::RunTool(call) => at_work.tools < most.tools || self.is_background(call),
            };
            if wanted.begun {
                self.count(wanted.act, &mut at_work);
                let (parts, todo) = (self.parts.clone(), self.prepare(wanted.act));
                self.running.get_or_insert_default().push(async move { carry_out(&parts, todo).await }.boxed());
            }
        }
        self.acts = acts;
    }

    /// What was begun and is not over.
    fn at_work(&self) -> AtWork {
        let mut at_work = AtWork { models: 0, tools: 0 };
        self.acts.iter().filter(|w| w.begun).for_each(|w| self.count(w.act, &mut at_work));
        at_work
    }

    fn count(&self, act: Act, at_work: &mut AtWork) {
        match act {
            Act::CallModel(_) => at_work.models += 1,
            Act::RunTool(call) => at_work.tools += u32::from(!self.is_background(call)),
        }
    }

    fn runs_side_by_side(&self) -> bool {
        self.running.as_ref().is_some_and(|r| !r.is_empty())
    }

    fn prepare(&mut self, act: Act) -> Todo {
        let paused = self.pauses.iter().position(|(of, _)| *of == act);
        let pause = paused.map_or(Duration::ZERO, |at| self.pauses.swap_remove(at).1);
        act::prepare(&self.parts, self.run.ledger(), &self.shared, self.images.as_ref(), act, pause)
    }

    fn is_background(&self, call: NodeId) -> bool {
        self.run.ledger().tool_run(call).is_some_and(|r| r.declared.background)
    }

    /// Whatever else is ready now joins this batch, in the order of nodes.
    fn batch(&mut self, first: Done) -> Result<(), DriveError> {
        if !self.runs_side_by_side() {
            return self.finish(first);
        }
        let mut done = vec![first];
        while let Some(Some(next)) = next_of(&mut self.running).now_or_never() {
            done.push(next);
        }
        done.sort_by_key(|d| d.act());
        done.into_iter().try_for_each(|d| self.finish(d))
    }

    /// An act is over: what came of it is a fact.
    fn finish(&mut self, done: Done) -> Result<(), DriveError> {
        let act = done.act();
        self.acts.retain(|w| w.act != act);
        self.pauses.extend(done.pause().map(|pause| (act, pause)));
        let Some((event, whole)) = done.event(&self.parts.agents, self.run.ledger()) else { return Ok(()) };
        if let Some(whole) = whole {
            self.to_keep.push((act.node(), whole));
        }
        let lost = matches!(event, Event::ToolSettled { outcome: Outcome::Lost, .. });
        self.put(event)?;
        if lost { self.resolve_lost() } else { Ok(()) }
    }
}

/// The number of the last of so many events.
fn seq(events: usize) -> u32 {
    u32::try_from(events).unwrap_or(u32::MAX)
}

/// The next of the acts under way that is over.
async fn next_of(running: &mut Option<FuturesUnordered<BoxFuture<'static, Done>>>) -> Option<Done> {
    match running {
        Some(running) => running.next().await,
        None => None,
    }
}
