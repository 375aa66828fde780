//! A journal that fails on purpose.

use crate::journal::projection::{Message, RunQuery, RunSummary};
use crate::journal::{Batch, Journal, JournalError};
use async_trait::async_trait;
use countersign_core::{NodeId, Record, Str};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What goes wrong with an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalFault {
    /// Nothing.
    None,
    /// It takes its time.
    Slow(Duration),
    /// Nothing is kept.
    Fails,
    /// Only the first so many records are kept. No journal should do that; a driver has to live with it.
    Torn(usize),
    /// All is kept, and the writer is told that it failed.
    Unacknowledged,
}

/// A journal whose appends go wrong as a function of their number, counted from 1.
pub struct FaultyJournal<F> {
    inner: Arc<dyn Journal>,
    faults: F,
    appends: AtomicU32,
}

impl<F: Fn(u32) -> JournalFault + Send + Sync> FaultyJournal<F> {
    /// Wraps a journal.
    pub fn new(inner: Arc<dyn Journal>, faults: F) -> Self {
        Self { inner, faults, appends: AtomicU32::new(0) }
    }
}

fn failed<T>(what: &str) -> Result<T, JournalError> {
    Err(JournalError::Store(format!("{what}, on purpose")))
}

#[async_trait]
impl<F: Fn(u32) -> JournalFault + Send + Sync> Journal for FaultyJournal<F> {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        let number = self.appends.fetch_add(1, Ordering::SeqCst) + 1;
        match (self.faults)(number) {
            JournalFault::None => self.inner.append(batch).await,
            JournalFault::Slow(time) => {
                tokio::time::sleep(time).await;
                self.inner.append(batch).await
            }
            JournalFault::Fails => failed("nothing was kept"),
            JournalFault::Torn(whole) => {
                let records = batch.records.get(..whole.min(batch.records.len())).unwrap_or_default();
                let answer = batch.answer.filter(|_| records.len() == batch.records.len());
                self.inner.append(Batch { records, answer, ..batch }).await?;
                failed("not all was kept")
            }
            JournalFault::Unacknowledged => {
                self.inner.append(batch).await?;
                failed("all was kept and nobody told")
            }
        }
    }

    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        self.inner.read(run, after, most).await
    }

    async fn grown(&self, run: &str, after: u32) -> Result<(), JournalError> {
        self.inner.grown(run, after).await
    }

    async fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        self.inner.list(query).await
    }

    async fn summary(&self, run: &str) -> Result<Option<RunSummary>, JournalError> {
        self.inner.summary(run).await
    }

    async fn message(&self, run: &str) -> Result<Option<Message>, JournalError> {
        self.inner.message(run).await
    }

    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        self.inner.kept(run, call).await
    }
}
