//! A run under way: a stream of what happens, and a way in from outside.

mod command;

pub use command::Command;

use crate::error::DriveError;
use crate::journal::{Journal, JournalError};
use crate::result::RunResult;
use countersign_core::{CancelWhen, NodeId, Record, Str};
use futures_util::pin_mut;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::{Notify, broadcast, broadcast::error::TryRecvError};

/// How far a log has come, and whether more can follow from this driver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tip {
    /// The last event that the journal has.
    pub seq: u32,
    /// Whether this driver has ended.
    pub ended: bool,
}

/// What a driver shares with those outside.
pub(crate) struct Shared {
    pub(crate) run: Str,
    pub(crate) tip: TipCell,
    /// Made by the first who listens.
    pub(crate) deltas: OnceLock<broadcast::Sender<Preview>>,
    pub(crate) inbox: Inbox,
}

/// What is shown and not recorded.
#[derive(Clone, Debug)]
pub(crate) enum Preview {
    /// Text of a model that was called after an event.
    Text {
        activation: NodeId,
        text: Str,
        after: u32,
    },
    Progress {
        call: NodeId,
        text: Str,
    },
}

/// The tip, and who waits for it to move.
#[derive(Default)]
pub(crate) struct TipCell {
    seq: AtomicU32,
    /// Tool runs without an outcome.
    pending: AtomicU32,
    ended: AtomicBool,
    /// Whether anybody has ever listened.
    heard: AtomicBool,
    moved: Notify,
}

impl TipCell {
    /// Says how far the journal has come. Costs next to nothing while nobody waits.
    pub(crate) fn set(&self, tip: Tip) {
        self.seq.store(tip.seq, Ordering::SeqCst);
        if tip.ended {
            self.ended.store(true, Ordering::SeqCst);
        }
        if self.heard.load(Ordering::SeqCst) {
            self.moved.notify_waiters();
        }
    }

    /// Says how many tool runs have no outcome. Wakes nobody.
    pub(crate) fn set_pending(&self, pending: u32) {
        self.pending.store(pending, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn get(&self) -> Tip {
        // Ended is read first: whoever sees it also sees the last event.
        let ended = self.ended.load(Ordering::SeqCst);
        Tip { seq: self.seq.load(Ordering::SeqCst), ended }
    }

    /// Waits until there is more than `after`, or no more can come.
    async fn beyond(&self, after: u32) {
        // Before the first look: whoever moves the tip after that look sees that somebody listens.
        self.heard.store(true, Ordering::SeqCst);
        let moved = self.moved.notified();
        pin_mut!(moved);
        loop {
            // Listens first, then looks: what happens in between is not missed.
            moved.as_mut().enable();
            let tip = self.get();
            if tip.ended || tip.seq > after {
                return;
            }
            moved.as_mut().await;
            moved.set(self.moved.notified());
        }
    }
}

/// What was said to a run and not yet read. Empty and unheard of by most runs, so it costs them one load a turn.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: AtomicBool,
    queue: Mutex<Queue>,
    arrived: Notify,
}

#[derive(Default)]
struct Queue {
    unread: VecDeque<Command>,
    /// Set once nobody reads it any more.
    closed: bool,
}

impl Inbox {
    /// Hands a command back where nobody reads it any more. A late result is taken all the same: whoever brings it sees
    /// that the driver has ended, and records it.
    pub(crate) fn put(&self, command: Command) -> Result<(), Command> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.closed && !matches!(command, Command::Late { .. }) {
            return Err(command);
        }
        queue.unread.push_back(command);
        drop(queue);
        // In one order with the tip's end: either the driver sees this, or whoever put it sees that the driver has ended.
        self.waiting.store(true, Ordering::SeqCst);
        self.arrived.notify_one();
        Ok(())
    }

    /// Nobody reads it any more: what was not read is handed back, late results apart.
    fn close(&self) -> Vec<Command> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.closed = true;
        let (late, unread) = queue.unread.drain(..).partition(|command| matches!(command, Command::Late { .. }));
        queue.unread = late;
        Vec::from(unread)
    }

    /// Late results that were not read, and nothing else.
    pub(crate) fn take_late(&self) -> Vec<Command> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let (late, unread): (VecDeque<_>, VecDeque<_>) = queue.unread.drain(..).partition(|command| matches!(command, Command::Late { .. }));
        queue.unread = unread;
        late.into()
    }

    /// The oldest command that was not read yet.
    pub(crate) fn take(&self) -> Option<Command> {
        if !self.waiting.load(Ordering::Acquire) {
            return None;
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let command = queue.unread.pop_front();
        self.waiting.store(!queue.unread.is_empty(), Ordering::Release);
        command
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Waits until there is something to read.
    pub(crate) async fn arrived(&self) {
        while !self.waiting.load(Ordering::Acquire) {
            self.arrived.notified().await;
        }
    }
}

/// A run under way. Dropping it does not stop the run.
pub struct LiveRun {
    pub(crate) shared: Arc<Shared>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) task: tokio::task::JoinHandle<Result<RunResult, DriveError>>,
}

impl LiveRun {
    /// The run's id.
    pub fn id(&self) -> &Str {
        &self.shared.run
    }

    /// Every event after `after`, in order, exactly once; then pieces of text as they come.
    pub fn events(&self, after: u32) -> EventStream {
        self.handle().events(after)
    }

    /// How far the log has come.
    pub fn tip(&self) -> Tip {
        self.shared.tip.get()
    }

    /// Cancels the run.
    pub fn cancel(&self, when: CancelWhen) {
        self.tell(Command::Cancel { by: "user".into(), when });
    }

    /// Says something to the run. Ignored once it has ended.
    pub fn tell(&self, command: Command) {
        let _ = self.shared.inbox.put(command);
    }

    /// A way in that can be kept apart from the run and shared.
    pub fn handle(&self) -> Handle {
        Handle { shared: self.shared.clone(), journal: self.journal.clone() }
    }

    /// Waits for the run to end or to park.
    pub async fn result(self) -> Result<RunResult, DriveError> {
        match self.task.await {
            Ok(result) => result,
            Err(error) => Err(DriveError::Driver(error.to_string())),
        }
    }
}

/// A way into a run under way, for whoever keeps it apart from the run itself.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    journal: Arc<dyn Journal>,
}

impl Handle {
    /// As [`LiveRun::events`].
    pub fn events(&self, after: u32) -> EventStream {
        EventStream {
            shared: self.shared.clone(),
            journal: self.journal.clone(),
            deltas: self.shared.deltas.get_or_init(|| broadcast::channel(64).0).subscribe(),
            after,
            buffer: VecDeque::new(),
            held: None,
        }
    }

    /// Waits until the journal has more than `after`, or the driver has ended.
    pub async fn beyond(&self, after: u32) -> Tip {
        self.shared.tip.beyond(after).await;
        self.shared.tip.get()
    }

    /// How many tool runs had no outcome when the driver last wrote: wanted, waiting for a person, or under way.
    pub fn pending_tools(&self) -> u32 {
        self.shared.tip.pending.load(Ordering::Relaxed)
    }

    /// Says something to the run. Handed back once the handle was closed: then nobody would read it.
    pub fn tell(&self, command: Command) -> Result<(), Command> {
        self.shared.inbox.put(command)
    }

    /// For whoever saw the driver end: nothing more can be told to it, and what it left unread is handed back, so
    /// that nothing said to a run is lost between its parking and its being taken up again.
    pub fn close(&self) -> Vec<Command> {
        // A driver whose task died has not said so itself.
        self.shared.tip.set(Tip { ended: true, ..self.shared.tip.get() });
        self.shared.inbox.close()
    }
}

/// What a subscriber gets.
#[derive(Clone, Debug)]
pub enum Streamed {
    /// An event.
    Event(Arc<Record>),
    /// A piece of text that is not recorded: a preview.
    Delta {
        /// Whose turn it is.
        activation: NodeId,
        /// The text.
        text: Str,
    },
    /// How far a tool says that its call is. Not recorded.
    Progress {
        /// The call.
        call: NodeId,
        /// In words.
        text: Str,
    },
    /// Pieces of text were missed; events never are. Go on from the last event.
    Lagged {
        /// The last event that was handed on.
        resume_after: u32,
    },
}

/// A subscriber's own position in the log. Nobody waits for it, and it loses no event.
pub struct EventStream {
    shared: Arc<Shared>,
    journal: Arc<dyn Journal>,
    deltas: broadcast::Receiver<Preview>,
    after: u32,
    buffer: VecDeque<Arc<Record>>,
    /// What is shown next, once everything was handed on that was recorded when its model was called.
    held: Option<Preview>,
}

impl EventStream {
    /// The next event or piece of text; `None` once the driver has ended and everything was handed on.
    pub async fn next(&mut self) -> Option<Result<Streamed, JournalError>> {
        loop {
            if let Some(preview) = self.preview() {
                return Some(Ok(preview));
            }
            if let Some(record) = self.buffer.pop_front() {
                self.after = record.seq;
                return Some(Ok(Streamed::Event(record)));
            }
            let tip = self.shared.tip.get();
            match self.journal.read(&self.shared.run, self.after, 256).await {
                Ok(records) if !records.is_empty() => {
                    self.buffer.extend(records);
                    continue;
                }
                Ok(_) if tip.ended => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            tokio::select! {
                () = self.shared.tip.beyond(self.after) => {}
                preview = self.deltas.recv(), if self.held.is_none() => match preview {
                    Ok(preview) => self.held = Some(preview),
                    Err(_) => return Some(Ok(Streamed::Lagged { resume_after: self.after })),
                },
            }
        }
    }

    /// What has come that is not recorded. Text stands after what was recorded when its model was called, and before the
    /// reply to which it belongs: a model sends it before its reply is recorded, and this is asked before each record.
    fn preview(&mut self) -> Option<Streamed> {
        if self.held.is_none() {
            self.held = match self.deltas.try_recv() {
                Ok(preview) => Some(preview),
                Err(TryRecvError::Lagged(_)) => return Some(Streamed::Lagged { resume_after: self.after }),
                Err(TryRecvError::Empty | TryRecvError::Closed) => None,
            };
        }
        let is_next = |held: &mut Preview| !matches!(held, Preview::Text { after, .. } if *after > self.after);
        Some(match self.held.take_if(is_next)? {
            Preview::Text { activation, text, .. } => Streamed::Delta { activation, text },
            Preview::Progress { call, text } => Streamed::Progress { call, text },
        })
    }
}
