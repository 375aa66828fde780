//! The journal port: where a run's log is kept. The log is also the stream's buffer.
//!
//! | module | what it is |
//! |---|---|
//! | [`memory`] | logs in memory |
//! | [`sqlite`] | logs in one file, durable before anything is acknowledged |
//! | [`projection`] | what the readers of runs see without folding a log: summary, message, process details |
//! | [`chain`] | the hash chain that shows whether a stored log was torn or tampered with |
//! | [`tail`] | the events of a run as they come, whoever drives it |
//! | [`queues`] | tasks that were accepted and have not begun |
//! | [`peers`] | what processes that share a journal know of one another |

pub mod chain;
pub mod memory;
pub mod peers;
pub mod projection;
pub mod queues;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod tail;

pub use memory::MemoryJournal;
pub use peers::Peers;
pub use queues::Queues;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteJournal;

use async_trait::async_trait;
use countersign_core::{Event, Final, NodeId, Record, Str};
use projection::{Message, RunQuery, RunSummary};
use std::sync::Arc;
use std::time::Duration;

/// How often a journal that nobody tells of new events is looked at.
const POLL: Duration = Duration::from_millis(50);

/// What a driver adds to a run's log: all of it or nothing.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The run.
    pub run: &'a Str,
    /// The number of the last record kept so far: 0 where there is none.
    pub expected: u32,
    /// The records that follow.
    pub records: &'a [Arc<Record>],
    /// Whole outputs of which a model was shown a part, by their call.
    pub outputs: &'a [(NodeId, Str)],
    /// The answer, once the gate has let one through: the only thing that fills a message with one.
    pub answer: Option<&'a Final>,
}

impl<'a> Batch<'a> {
    /// Records of a run that has no answer.
    pub fn new(run: &'a Str, expected: u32, records: &'a [Arc<Record>]) -> Self {
        Self { run, expected, records, outputs: &[], answer: None }
    }

    /// Why it can be part of no log, wherever the log is: its records do not follow one another from where it says, or
    /// it begins a run with something else than that run's start.
    pub fn flaw(&self) -> Option<JournalError> {
        let run = self.run;
        if let Some((gap, _)) = self.records.iter().zip(self.expected + 1..).find(|(record, next)| record.seq != *next) {
            return Some(JournalError::Store(format!("event {} of run `{run}` stands where another belongs", gap.seq)));
        }
        let first = self.records.first().filter(|_| self.expected == 0)?;
        let begins = matches!(&first.event, Event::RunStarted(start) if start.run == *run);
        (!begins).then(|| JournalError::Store(format!("the log of run `{run}` does not begin with its `run_started`")))
    }
}

/// Keeps logs. One writer a run: an append that does not continue the log is refused.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Adds records, all or none. Once it has returned, they outlive whatever the journal promises to outlive.
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError>;

    /// As `append`, where it can be done at once, without waiting. `None` where it cannot.
    fn append_now(&self, batch: Batch<'_>) -> Option<Result<(), JournalError>> {
        let _ = batch;
        None
    }

    /// Records after `after`, at most `most`, in order; may be fewer than there are. Empty where there are none, or no
    /// such run. Fails at the first that is damaged; what stands before it is handed out first.
    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError>;

    /// Waits until there may be records after `after`. May come back early.
    async fn grown(&self, run: &str, after: u32) -> Result<(), JournalError> {
        let _ = (run, after);
        tokio::time::sleep(POLL).await;
        Ok(())
    }

    /// Runs that fit, the newest first.
    async fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError>;

    /// How a run stands, without folding its log.
    async fn summary(&self, run: &str) -> Result<Option<RunSummary>, JournalError>;

    /// What the user's message holds.
    async fn message(&self, run: &str) -> Result<Option<Message>, JournalError>;

    /// The whole of an output of which a model was shown a part.
    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError>;

    /// Keeps tasks that have not begun. `None` where that is not possible.
    fn queues(&self) -> Option<&dyn Queues> {
        None
    }

    /// The other processes that begin, drive and take up the same runs. `None` where it is for one process.
    fn peers(&self) -> Option<&dyn Peers> {
        None
    }
}

/// The whole log of a run, as a journal has it. Empty where there is no such run.
pub async fn read_all(journal: &dyn Journal, run: &str) -> Result<Vec<Arc<Record>>, JournalError> {
    const PAGE: usize = 4096;
    let mut log: Vec<Arc<Record>> = Vec::new();
    loop {
        let page = journal.read(run, log.last().map_or(0, |r| r.seq), PAGE).await?;
        if page.is_empty() {
            return Ok(log);
        }
        log.extend(page);
    }
}

/// A log that could not be kept or read. Nothing that was acknowledged is lost by any of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Somebody else has written to this run: stop, and read it again.
    #[error("run `{run}` is at {at}, not at {expected}: another driver has written to it; read it again")]
    Stale {
        /// The run.
        run: Str,
        /// What the writer expected.
        expected: u32,
        /// Where the log is.
        at: u32,
    },
    /// A stored log is not what was written: torn, or changed from outside. What stands before stays readable.
    #[error("run `{run}` is damaged at event {seq}: {why}; events before it can be read, and `fork` goes on from there")]
    Damaged {
        /// The run.
        run: Str,
        /// The first event that cannot be trusted.
        seq: u32,
        /// What is wrong with it.
        why: String,
    },
    /// A file has not as many events as were written to it: the end of a run under way was cut off, or one was added.
    #[error("`{place}` has {has} events, and {written} were written to it")]
    Count {
        /// The file.
        place: String,
        /// How many it has.
        has: u64,
        /// How many were written.
        written: u64,
    },
    /// Another process held the file, or a run's row in a database, for too long.
    #[error("`{place}` is held by another process: resume the run once that is done")]
    Busy {
        /// The file.
        place: String,
    },
    /// An older version has written it, and it was opened to be looked at only.
    #[error("`{place}` has schema {found}, and this version reads {known}: open it once to write to it, which brings it up to date")]
    Older {
        /// The file.
        place: String,
        /// Its schema.
        found: u32,
        /// The schema of this version.
        known: u32,
    },
    /// The server that has it is not there, or lets nobody in.
    #[error("`{place}` cannot be reached ({why}): resume the run once it can")]
    Unreachable {
        /// The database.
        place: String,
        /// What the server or the network says.
        why: String,
    },
    /// There is no room.
    #[error("the disk of `{place}` is full: make room and resume the run")]
    Full {
        /// The file.
        place: String,
    },
    /// It may not be written.
    #[error("`{place}` cannot be written ({why}): check its permissions and resume the run")]
    ReadOnly {
        /// The file.
        place: String,
        /// What the system says.
        why: String,
    },
    /// A newer version of Countersign has written it.
    #[error("`{place}` has schema {found}, and this version reads up to {known}: use a newer version of Countersign")]
    Newer {
        /// The file.
        place: String,
        /// Its schema.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// It is sealed with a key, and not with this one.
    #[error("`{place}` was not written with this key: give the key it was made with")]
    Key {
        /// The file.
        place: String,
    },
    /// It is no journal, or is broken as a whole.
    #[error("`{place}` cannot be read as a journal: {why}")]
    Unreadable {
        /// The file.
        place: String,
        /// What the store says.
        why: String,
    },
    /// The store failed.
    #[error("the journal failed: {0}")]
    Store(String),
}
