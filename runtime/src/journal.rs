//! The journal port: where a run's log is kept. The log is also the stream's buffer.

use async_trait::async_trait;
use countersign_core::{NodeId, Record, Str};
use dashmap::DashMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::Arc;

/// Keeps logs. One writer a run: an append that does not continue the log is refused.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Adds records after `expected`, all or none. `expected` is the number of the last record kept so far.
    async fn append(&self, run: &Str, expected: u32, records: &[Arc<Record>]) -> Result<(), JournalError>;

    /// As `append`, where it can be done at once, without waiting. `None` where it cannot.
    fn append_now(&self, run: &Str, expected: u32, records: &[Arc<Record>]) -> Option<Result<(), JournalError>> {
        let _ = (run, expected, records);
        None
    }

    /// Records after `after`, at most `most`, in order. None where the run is unknown.
    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError>;

    /// Runs that are kept.
    async fn runs(&self) -> Result<Vec<Str>, JournalError>;

    /// Keeps the whole of an output of which a model was shown a part.
    async fn keep(&self, run: &Str, call: NodeId, whole: Str) -> Result<(), JournalError>;

    /// The whole of an output that was kept.
    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError>;
}

/// A log that could not be kept or read.
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
    /// The store failed.
    #[error("the journal failed: {0}")]
    Store(String),
}

/// Logs in memory: for tests, and for runs that need not outlive their process.
#[derive(Default)]
pub struct MemoryJournal {
    runs: DashMap<Str, Kept, FxBuildHasher>,
}

/// One run's log, and outputs that it shows in part.
#[derive(Default)]
struct Kept {
    log: Vec<Arc<Record>>,
    outputs: FxHashMap<NodeId, Str>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&self, run: &Str, expected: u32, records: &[Arc<Record>]) -> Result<(), JournalError> {
        let add = |log: &mut Vec<Arc<Record>>| {
            let at = u32::try_from(log.len()).unwrap_or(u32::MAX);
            if at != expected {
                return Err(JournalError::Stale { run: run.clone(), expected, at });
            }
            log.extend_from_slice(records);
            Ok(())
        };
        if let Some(mut kept) = self.runs.get_mut(run) {
            return add(&mut kept.log);
        }
        add(&mut self.runs.entry(run.clone()).or_default().log)
    }

    /// Forgets a run.
    pub fn forget(&self, run: &str) {
        self.runs.remove(run);
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, run: &Str, expected: u32, records: &[Arc<Record>]) -> Result<(), JournalError> {
        self.add(run, expected, records)
    }

    fn append_now(&self, run: &Str, expected: u32, records: &[Arc<Record>]) -> Option<Result<(), JournalError>> {
        Some(self.add(run, expected, records))
    }

    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        let Some(kept) = self.runs.get(run) else { return Ok(Vec::new()) };
        Ok(kept.log.iter().skip(after as usize).take(most).cloned().collect())
    }

    async fn runs(&self) -> Result<Vec<Str>, JournalError> {
        let mut runs: Vec<Str> = self.runs.iter().map(|e| e.key().clone()).collect();
        runs.sort();
        Ok(runs)
    }

    async fn keep(&self, run: &Str, call: NodeId, whole: Str) -> Result<(), JournalError> {
        self.runs.entry(run.clone()).or_default().outputs.insert(call, whole);
        Ok(())
    }

    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        Ok(self.runs.get(run).and_then(|kept| kept.outputs.get(&call).cloned()))
    }
}
