//! What every journal promises, asked of those that need no server; in `file`, what one in a file promises besides.

mod file;
#[macro_use]
pub(crate) mod promises;

use crate::scratch::Scratch;
use async_trait::async_trait;
use countersign::*;
use promises::Place;
use std::sync::Arc;

/// In memory there is one journal, however often it is opened.
struct InMemory(Arc<MemoryJournal>);

#[async_trait]
impl Place for InMemory {
    async fn open(&self) -> Arc<dyn Journal> {
        self.0.clone()
    }
}

/// One file, opened as often as a test wants.
struct InFile(Scratch);

#[async_trait]
impl Place for InFile {
    async fn open(&self) -> Arc<dyn Journal> {
        Arc::new(SqliteJournal::open(self.0.file("runs.db")).unwrap())
    }
}

fn places() -> Vec<Box<dyn Place>> {
    vec![Box::new(InMemory(Arc::default())), Box::new(InFile(Scratch::new()))]
}

/// Every journal, each with what has to outlive it.
pub fn journals() -> Vec<(Arc<dyn Journal>, Scratch)> {
    let scratch = Scratch::new();
    let file = SqliteJournal::open(scratch.file("runs.db")).unwrap();
    vec![(Arc::new(MemoryJournal::new()), Scratch::new()), (Arc::new(file), scratch)]
}

promises!(places());
