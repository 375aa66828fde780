//! Logs in memory: for tests, and for runs that need not outlive their process.

use super::projection::{Message, RunQuery, RunSummary};
use super::{Batch, Journal, JournalError};
use async_trait::async_trait;
use countersign_core::{Event, Final, NodeId, Record, Str};
use dashmap::DashMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Logs in memory.
#[derive(Default)]
pub struct MemoryJournal {
    runs: DashMap<Str, Kept, FxBuildHasher>,
    begun: AtomicU64,
}

/// One run's log, its answer, and outputs that it shows in part.
#[derive(Default)]
struct Kept {
    /// How many runs were begun before it.
    no: u64,
    log: Vec<Arc<Record>>,
    answer: Option<Final>,
    outputs: FxHashMap<NodeId, Str>,
}

impl Kept {
    fn add(&mut self, batch: Batch<'_>) -> Result<(), JournalError> {
        let at = u32::try_from(self.log.len()).unwrap_or(u32::MAX);
        if at != batch.expected {
            return Err(JournalError::Stale { run: batch.run.clone(), expected: batch.expected, at });
        }
        if at == 0 {
            // Room for a short run, so that it does not grow step by step.
            self.log.reserve(32);
        }
        self.log.extend_from_slice(batch.records);
        self.outputs.extend(batch.outputs.iter().cloned());
        if let Some(answer) = batch.answer {
            self.answer.get_or_insert_with(|| answer.clone());
        }
        Ok(())
    }

    /// Folded when somebody asks: most runs in memory are never listed.
    fn summary(&self) -> Option<RunSummary> {
        RunSummary::fold(&self.log)
    }

    /// Looked at before a log is folded.
    fn belongs_to(&self, conversation: &Str) -> bool {
        matches!(self.log.first().map(|r| &r.event), Some(Event::RunStarted(start)) if start.conversation.as_ref() == Some(conversation))
    }
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        if let Some(mut kept) = self.runs.get_mut(batch.run) {
            return kept.add(batch);
        }
        let first = || Kept { no: self.begun.fetch_add(1, Ordering::Relaxed), ..Kept::default() };
        self.runs.entry(batch.run.clone()).or_insert_with(first).add(batch)
    }

    /// Forgets a run.
    pub fn forget(&self, run: &str) {
        self.runs.remove(run);
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        self.add(batch)
    }

    fn append_now(&self, batch: Batch<'_>) -> Option<Result<(), JournalError>> {
        Some(self.add(batch))
    }

    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        let Some(kept) = self.runs.get(run) else { return Ok(Vec::new()) };
        Ok(kept.log.iter().skip(after as usize).take(most).cloned().collect())
    }

    async fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        let of = self.runs.iter().filter(|kept| query.conversation.as_ref().is_none_or(|name| kept.belongs_to(name)));
        let mut runs: Vec<(u64, RunSummary)> = of.filter_map(|kept| Some((kept.no, kept.summary()?))).filter(|(_, run)| query.fits(run)).collect();
        runs.sort_by_key(|(no, run)| std::cmp::Reverse((run.started_ms, *no)));
        runs.truncate(query.most);
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }

    async fn summary(&self, run: &str) -> Result<Option<RunSummary>, JournalError> {
        Ok(self.runs.get(run).and_then(|kept| kept.summary()))
    }

    async fn message(&self, run: &str) -> Result<Option<Message>, JournalError> {
        let Some(kept) = self.runs.get(run) else { return Ok(None) };
        let Some(first) = kept.log.first() else { return Ok(None) };
        let mut message = Message::default();
        message.take(first, None);
        for record in kept.log.iter().skip(1) {
            message.take(record, kept.answer.as_ref());
        }
        Ok(Some(message))
    }

    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        Ok(self.runs.get(run).and_then(|kept| kept.outputs.get(&call).cloned()))
    }
}
