//! Taking a run up from its file: a run of 10,000 events; and opening a file with 100,000 runs.

use crate::durable::Folder;
use crate::measure::{Row, median};
use crate::ours;
use countersign::journal::read_all;
use countersign::{Batch, Effect, Event, Gate, Journal, Record, Run, SqliteJournal, Str};
use cpu_time::ProcessTime;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Calls of a run with about 10,000 events: two a call.
const CALLS: usize = 5000;

const RUNS: usize = 100_000;

pub(crate) fn rows() -> Vec<Row> {
    let Some(rt) = tokio::runtime::Builder::new_current_thread().enable_all().build().ok() else { return Vec::new() };
    [recovered(&rt), opened(&rt, 1), opened(&rt, RUNS)].into_iter().flatten().collect()
}

fn cpu_us(f: impl FnOnce()) -> f64 {
    let start = ProcessTime::now();
    f();
    start.elapsed().as_secs_f64() * 1e6
}

fn recovered(rt: &Runtime) -> Option<Row> {
    let folder = Folder::new()?;
    let journal = SqliteJournal::open(folder.0.join("runs")).ok()?;
    let log = log(rt, CALLS)?;
    rt.block_on(journal.append(Batch::new(&"run-0".into(), 0, &log))).ok()?;
    let gate = Arc::new(Gate::default());
    let whole = || {
        let log = rt.block_on(read_all(&journal, "run-0")).unwrap_or_default();
        let run = Run::replay(gate.clone(), log);
        assert!(run.is_ok_and(|run| run.final_answer().is_some()));
    };
    let reading = || assert!(rt.block_on(read_all(&journal, "run-0")).is_ok_and(|read| read.len() == log.len()));
    let us = median((0..5).map(|_| cpu_us(whole)).collect());
    let read = median((0..5).map(|_| cpu_us(reading)).collect());
    Some(Row { more: vec![("reading_ms", read / 1000.0), ("ms", us / 1000.0)], ..Row::new("countersign, recovery", log.len(), us, "run") })
}

/// The log of one run of so many calls.
fn log(rt: &Runtime, calls: usize) -> Option<Vec<Arc<Record>>> {
    let (runner, _) = ours::runner(calls, Effect::Read, Duration::ZERO);
    let result = rt.block_on(async { runner.start("run-0", "task").ok()?.result().await.ok() })?;
    Some(result.run.ledger().log().to_vec())
}

/// Opening a file and listing its newest ten, whatever else is in it.
fn opened(rt: &Runtime, runs: usize) -> Option<Row> {
    let folder = Folder::new()?;
    let path = folder.0.join("runs");
    fill(rt, &SqliteJournal::open(&path).ok()?, runs)?;
    let open = || {
        let query = countersign::journal::projection::RunQuery { most: 10, ..Default::default() };
        let listed = SqliteJournal::open(&path).and_then(|journal| rt.block_on(journal.list(&query)));
        assert!(listed.is_ok_and(|listed| listed.len() == runs.min(10)));
    };
    let us = median((0..5).map(|_| cpu_us(open)).collect());
    Some(Row::new("countersign, opening and listing ten", runs, us, "file"))
}

/// Many small runs, side by side, so that few commits hold them.
fn fill(rt: &Runtime, journal: &SqliteJournal, runs: usize) -> Option<()> {
    let log = log(rt, 1)?;
    let begun = |n: usize| {
        let name: Str = format!("run-{n}").into();
        let mut first = (**log.first()?).clone();
        if let Event::RunStarted(start) = &mut first.event {
            start.run = name.clone();
        }
        Some((name, [Arc::new(first)]))
    };
    for from in (0..runs).step_by(500) {
        let some: Vec<_> = (from..runs.min(from + 500)).filter_map(begun).collect();
        let appends = some.iter().map(|(name, first)| journal.append(Batch::new(name, 0, first)));
        rt.block_on(futures_util::future::try_join_all(appends)).ok()?;
    }
    Some(())
}
