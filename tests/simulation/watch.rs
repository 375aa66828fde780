//! A journal that checks, after every event that it keeps, what must always hold.

use countersign::journal::projection::{Message, RunQuery, RunSummary};
use countersign::*;
use std::sync::{Arc, Mutex};

/// Keeps one run, and a ledger of it that is folded from what is kept and from nothing else.
pub struct Watch {
    inner: MemoryJournal,
    pub kept: Mutex<Option<Run>>,
}

impl Watch {
    pub fn new() -> Self {
        Self { inner: MemoryJournal::new(), kept: Mutex::new(None) }
    }

    /// Looks at the run as it is kept.
    pub fn look<T>(&self, at: impl FnOnce(&Run) -> T) -> Option<T> {
        self.kept.lock().unwrap().as_ref().map(at)
    }

    fn add(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        self.inner.append_now(batch).expect("memory needs no waiting")?;
        let mut kept = self.kept.lock().unwrap();
        for record in batch.records {
            match kept.as_mut() {
                None => *kept = Some(Run::replay(Arc::new(Gate::default()), [record.clone()]).expect("a run begins")),
                Some(run) => run.append_records(std::slice::from_ref(record)).unwrap_or_else(|why| panic!("event {}: {why}", record.seq)),
            }
            check(kept.as_ref().expect("it has begun"), record);
        }
        Ok(())
    }
}

/// What holds after every event.
fn check(run: &Run, record: &Record) {
    let ledger = run.ledger();
    assert_eq!(ledger.seq(), record.seq, "the log has no gaps");
    let Event::Decided { scope: ROOT, decision, .. } = &record.event else { return };
    let rulings = ledger.log().iter().filter(|r| matches!(&r.event, Event::Decided { scope: ROOT, decision, .. } if decision.status.is_terminal()));
    assert!(rulings.count() <= 1, "a run ends once");
    assert_eq!(decision.finalized, run.final_answer().is_some(), "only the gate makes a final");
    if decision.finalizable {
        let open = ledger.open();
        let sets = [
            &open.tools,
            &open.transfers,
            &open.jobs,
            &open.approvals,
            &open.questions,
            &open.steps,
            &open.lost,
            &open.unreconciled,
            &open.activations,
        ];
        assert!(sets.iter().all(|set| set.is_empty()), "final at event {} with {open:?}", record.seq);
    }
}

#[async_trait::async_trait]
impl Journal for Watch {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        self.add(batch)
    }

    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        self.inner.read(run, after, most).await
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
