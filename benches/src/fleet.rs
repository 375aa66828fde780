//! 1,000 concurrent runs of 5 calls: throughput against the hand-written loop, and memory while they wait.

use crate::measure::{Row, cpu_us, interleaved, peak_rss_kib};
use crate::turn::{by_hand, runtime};
use crate::{hand, ours};
use countersign::Effect;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const RUNS: usize = 1000;
const CALLS: usize = 5;

pub(crate) fn rows() -> Vec<Row> {
    let rt = runtime();
    let mut floor = || hand_fleet(&rt, Duration::ZERO);
    let mut fleet = || our_fleet(&rt, Duration::ZERO);
    let us = interleaved(3, &mut [&mut floor, &mut fleet]);
    let names = ["hand-written, 1,000 at once", "countersign, 1,000 at once"];
    let first = us.first().copied().unwrap_or(f64::NAN);
    let throughput = names.iter().zip(&us).map(|(name, us)| Row {
        ratio_to_floor: Some(us / first),
        more: vec![("throughput_of_floor", first / us)],
        ..Row::new(*name, CALLS, us / RUNS as f64, "run")
    });
    let mut rows: Vec<Row> = throughput.collect();
    for (who, name) in [("hand", "hand-written, 10 ms model"), ("ours", "countersign, 10 ms model")] {
        let (us, peak) = in_child(who, 10).unwrap_or((f64::NAN, 0));
        rows.push(Row { peak_rss_kib: Some(peak), ..Row::new(name, CALLS, us / RUNS as f64, "run") });
    }
    rows
}

/// A process of its own, so that its peak is its own. Prints its CPU time in microseconds and its peak in KiB.
pub(crate) fn child(who: &str, latency_ms: u64) {
    let rt = runtime();
    let latency = Duration::from_millis(latency_ms);
    let us = cpu_us(|| if who == "hand" { hand_fleet(&rt, latency) } else { our_fleet(&rt, latency) });
    println!("{us} {}", peak_rss_kib().unwrap_or(0));
}

fn in_child(who: &str, latency_ms: u64) -> Option<(f64, u64)> {
    let this = std::env::current_exe().ok()?;
    let said = std::process::Command::new(this).args(["fleet-child", who, &latency_ms.to_string()]).output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let (us, peak) = said.trim().split_once(' ')?;
    Some((us.parse().ok()?, peak.parse().ok()?))
}

fn hand_fleet(rt: &Runtime, latency: Duration) {
    let (script, tools) = by_hand(CALLS, latency);
    let shared = Arc::new((script, tools));
    rt.block_on(async {
        let run = |shared: Arc<(hand::Script, hand::Tools)>| async move { hand::run(&shared.0, &shared.1, false).await };
        let runs: Vec<_> = (0..RUNS).map(|_| tokio::spawn(run(shared.clone()))).collect();
        for run in runs {
            assert!(run.await.is_ok_and(|answer| &*answer == "done"));
        }
    });
}

fn our_fleet(rt: &Runtime, latency: Duration) {
    let (runner, journal) = ours::runner(CALLS, Effect::Read, latency);
    rt.block_on(async {
        let run = || {
            let (runner, journal) = (runner.clone(), journal.clone());
            tokio::spawn(async move { ours::run(&runner, &journal, CALLS).await.is_some() })
        };
        let runs: Vec<_> = (0..RUNS).map(|_| run()).collect();
        for run in runs {
            assert!(run.await.is_ok_and(|verified| verified));
        }
    });
}
