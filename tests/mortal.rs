//! Drives a run on a journal file, and stands still at a chosen place, for ever: whoever started it kills it there.
//!
//! ```text
//! mortal scenario FILE NAME SEQ              stands still once event SEQ is on the disk
//! mortal tool FILE EFFECTS TOOL MOMENT   stands still inside a tool, `before` or `after` it has changed the world, or `never`
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use async_trait::async_trait;
use countersign::journal::projection::{Message, RunQuery, RunSummary};
use countersign::*;
use countersign_examples::suite;
use std::io::Write;
use std::sync::Arc;

#[path = "kill/appender.rs"]
mod appender;

/// A journal that stands still once it has one event too many.
struct StandsStill {
    inner: SqliteJournal,
    at: u32,
}

#[async_trait]
impl Journal for StandsStill {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        let room = usize::try_from(self.at.saturating_sub(batch.expected)).unwrap();
        let Some(first) =
            batch.records.get(..room).filter(|first| first.len() < batch.records.len() || batch.expected + first.len() as u32 == self.at)
        else {
            return self.inner.append(batch).await;
        };
        // Less than the driver handed over: a real crash leaves all of a batch or nothing, this one is harder.
        self.inner.append(Batch { records: first, answer: batch.answer.filter(|_| first.len() == batch.records.len()), ..batch }).await?;
        stand_still().await
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

/// Says so, and waits to be killed.
async fn stand_still<T>() -> T {
    println!("here");
    std::io::stdout().flush().unwrap();
    std::future::pending().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["scenario", file, name, seq] => {
            let live = suite::all().find(|live| live.name == *name).expect("a scenario of this name");
            let journal = StandsStill { inner: SqliteJournal::open(file).unwrap(), at: seq.parse().unwrap() };
            let runner = (live.runner)().unwrap().on(Arc::new(journal));
            live.run_with(&runner).await.unwrap();
        }
        ["tool", file, effects, tool, moment] => {
            let stops = match *moment {
                "before" => appender::Stops::Before,
                "after" => appender::Stops::After,
                _ => appender::Stops::Never,
            };
            let journal = Arc::new(SqliteJournal::open(file).unwrap());
            let runner = appender::runner(effects.into(), tool, stops, journal, Policy::execution());
            runner.start("mortal", "append a line").unwrap().result().await.unwrap();
        }
        _ => panic!("see the source for what can be asked"),
    }
}
