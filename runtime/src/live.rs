//! A run under way: a stream of what happens, and a way in from outside.

use crate::driver::DriveError;
use crate::journal::{Journal, JournalError};
use crate::result::RunResult;
use countersign_core::{CancelWhen, NodeId, Record, Str};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::{Notify, broadcast, watch};

/// Something said to a run from outside.
#[derive(Clone, Debug)]
pub enum Command {
    /// Cancel.
    Cancel {
        /// By whom.
        by: Str,
        /// When it takes hold.
        when: CancelWhen,
    },
    /// A message to the agent that owns the answer, read before its next turn.
    Steer(Str),
    /// A message that is read after an accepted finish, instead of ending the run.
    FollowUp(Str),
    /// An approval is granted or denied.
    Approve {
        /// The approval.
        approval: NodeId,
        /// Whether it may run.
        granted: bool,
        /// Who says so.
        by: Str,
        /// Why.
        why: Str,
        /// Arguments as the approver changed them.
        args: Option<Str>,
    },
    /// A question is answered.
    Answer {
        /// The question.
        question: NodeId,
        /// The answer.
        text: Str,
    },
    /// A lost call is resolved: run again, or settled with what is known of it.
    Resolve {
        /// The call.
        call: NodeId,
        /// What became of it; `None` runs it again.
        outcome: Option<countersign_core::Outcome>,
        /// In words.
        text: Str,
        /// Who says so.
        by: Str,
    },
    /// State changed outside the run.
    Edited {
        /// By whom.
        by: Str,
    },
}

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
    pub(crate) tip: watch::Sender<Tip>,
    /// Made by the first who listens.
    pub(crate) deltas: OnceLock<broadcast::Sender<(NodeId, Str)>>,
    pub(crate) inbox: Inbox,
}

/// What was said to a run and not yet read. Empty and unheard of by most runs, so it costs them one load a turn.
#[derive(Default)]
pub(crate) struct Inbox {
    waiting: AtomicBool,
    queue: Mutex<VecDeque<Command>>,
    arrived: Notify,
}

impl Inbox {
    fn put(&self, command: Command) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(command);
        self.waiting.store(true, Ordering::Release);
        self.arrived.notify_one();
    }

    /// The oldest command that was not read yet.
    pub(crate) fn take(&self) -> Option<Command> {
        if !self.waiting.load(Ordering::Acquire) {
            return None;
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let command = queue.pop_front();
        self.waiting.store(!queue.is_empty(), Ordering::Release);
        command
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
        EventStream {
            run: self.shared.run.clone(),
            journal: self.journal.clone(),
            tip: self.shared.tip.subscribe(),
            deltas: self.shared.deltas.get_or_init(|| broadcast::channel(64).0).subscribe(),
            after,
            buffer: VecDeque::new(),
        }
    }

    /// How far the log has come.
    pub fn tip(&self) -> Tip {
        *self.shared.tip.borrow()
    }

    /// Cancels the run.
    pub fn cancel(&self, when: CancelWhen) {
        self.tell(Command::Cancel { by: "user".into(), when });
    }

    /// Says something to the run. Ignored once it has ended.
    pub fn tell(&self, command: Command) {
        self.shared.inbox.put(command);
    }

    /// Waits for the run to end or to park.
    pub async fn result(self) -> Result<RunResult, DriveError> {
        match self.task.await {
            Ok(result) => result,
            Err(error) => Err(DriveError::Driver(error.to_string())),
        }
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
    /// Pieces of text were missed; events never are. Go on from the last event.
    Lagged {
        /// The last event that was handed on.
        resume_after: u32,
    },
}

/// A subscriber's own position in the log. Nobody waits for it, and it loses no event.
pub struct EventStream {
    run: Str,
    journal: Arc<dyn Journal>,
    tip: watch::Receiver<Tip>,
    deltas: broadcast::Receiver<(NodeId, Str)>,
    after: u32,
    buffer: VecDeque<Arc<Record>>,
}

impl EventStream {
    /// The next event or piece of text; `None` once the driver has ended and everything was handed on.
    pub async fn next(&mut self) -> Option<Result<Streamed, JournalError>> {
        loop {
            if let Some(record) = self.buffer.pop_front() {
                self.after = record.seq;
                return Some(Ok(Streamed::Event(record)));
            }
            let tip = *self.tip.borrow_and_update();
            match self.journal.read(&self.run, self.after, 256).await {
                Ok(records) if !records.is_empty() => {
                    self.buffer.extend(records);
                    continue;
                }
                Ok(_) if tip.ended => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            tokio::select! {
                changed = self.tip.changed() => if changed.is_err() {
                    return self.rest().await;
                },
                delta = self.deltas.recv() => match delta {
                    Ok((activation, text)) => return Some(Ok(Streamed::Delta { activation, text })),
                    Err(broadcast::error::RecvError::Lagged(_)) => return Some(Ok(Streamed::Lagged { resume_after: self.after })),
                    Err(broadcast::error::RecvError::Closed) => return self.rest().await,
                },
            }
        }
    }

    /// The driver is gone: what it wrote last may not have been read yet.
    async fn rest(&mut self) -> Option<Result<Streamed, JournalError>> {
        match self.journal.read(&self.run, self.after, 256).await {
            Ok(records) => {
                self.buffer.extend(records);
                let record = self.buffer.pop_front()?;
                self.after = record.seq;
                Some(Ok(Streamed::Event(record)))
            }
            Err(error) => Some(Err(error)),
        }
    }
}
