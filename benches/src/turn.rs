//! CPU a turn, at 5, 100 and 1,000 calls.

use crate::measure::{Row, interleaved};
use crate::{hand, ours};
use countersign::Effect;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// One thread, with timers.
pub(crate) fn runtime() -> Runtime {
    match Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(why) => {
            eprintln!("no async runtime: {why}");
            std::process::exit(1);
        }
    }
}

/// The hand-written loop's parts.
pub(crate) fn by_hand(n: usize, latency: Duration) -> (hand::Script, hand::Tools) {
    let tools: hand::Tools = HashMap::from([(Arc::from("read"), Arc::new(hand::Quick) as Arc<dyn hand::Tool>)]);
    (hand::Script { name: "read".into(), args: ours::args(n), latency }, tools)
}

pub(crate) fn rows() -> Vec<Row> {
    let rt = runtime();
    [5, 100, 1000].into_iter().flat_map(|n| at(&rt, n)).collect()
}

fn at(rt: &Runtime, n: usize) -> Vec<Row> {
    let (script, tools) = by_hand(n, Duration::ZERO);
    let (reads, read_journal) = ours::runner(n, Effect::Read, Duration::ZERO);
    let (writes, write_journal) = ours::runner(n, Effect::Write, Duration::ZERO);
    let mut shared = || assert_eq!(&*rt.block_on(hand::run(&script, &tools, false)), "done");
    let mut copied = || assert_eq!(&*rt.block_on(hand::run(&script, &tools, true)), "done");
    let mut our_reads = || assert!(rt.block_on(ours::run(&reads, &read_journal, n)).is_some());
    let mut our_writes = || assert!(rt.block_on(ours::run(&writes, &write_journal, n)).is_some());
    let reps = (100_000 / n).clamp(20, 2000);
    let us = interleaved(reps, &mut [&mut shared, &mut our_reads, &mut our_writes, &mut copied]);
    let names = ["hand-written, shared history", "countersign, reads", "countersign, writes", "hand-written, copied history"];
    let floor = us.first().copied().unwrap_or(f64::NAN);
    let row = |(name, us): (&&str, &f64)| Row { ratio_to_floor: Some(us / floor), ..Row::new(*name, n, us / n as f64, "turn") };
    names.iter().zip(&us).map(row).collect()
}

/// Some runs in a row, for an instruction counter.
pub(crate) fn once(who: &str, n: usize, reps: usize) {
    let rt = runtime();
    if who == "hand" {
        let (script, tools) = by_hand(n, Duration::ZERO);
        (0..reps).for_each(|_| assert_eq!(&*rt.block_on(hand::run(&script, &tools, false)), "done"));
    } else {
        let (runner, journal) = ours::runner(n, Effect::Read, Duration::ZERO);
        (0..reps).for_each(|_| assert!(rt.block_on(ours::run(&runner, &journal, n)).is_some()));
    }
}
