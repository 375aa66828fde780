//! A server under load: 5,000 open streams on one process while 200 runs work, read by a client in a process of its own.
//!
//! ```text
//! child: server, SQLite journal, two threads ◀── HTTP ──▶ here: 5,000 readers, who compare what they got
//! child: the bare driver, the same runs and journal
//! ```
//!
//! Memory is what the server's process holds more with its idle streams than without. CPU is the server's alone.

mod child;
mod client;

pub(crate) use child::{bare, serve};

use crate::durable::Folder;
use crate::measure::Row;
use client::{Client, Reader};
use futures_util::future::join_all;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Runs at work at the same time.
const RUNS: usize = 200;
/// Readers of each.
const READERS: usize = 25;
/// How often each run calls a tool.
pub(crate) const CALLS: usize = 40;

pub(crate) fn rows() -> Vec<Row> {
    let Ok(rt) = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() else { return Vec::new() };
    let mut rows = rt.block_on(load()).unwrap_or_default();
    let bare = median_of_three(bare_us);
    let served = median_of_three(|| rt.block_on(one_each()));
    if let (Some(bare), Some(served)) = (bare, served) {
        rows.push(Row::new("bare driver, SQLite, 200 runs", CALLS, bare, "event"));
        rows.push(Row { ratio_to_floor: Some(served / bare), ..Row::new("countersign, HTTP and one stream each", CALLS, served, "event") });
    }
    rows
}

fn median_of_three(sample: impl Fn() -> Option<f64>) -> Option<f64> {
    let mut samples: Vec<f64> = (0..3).filter_map(|_| sample()).collect();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}

/// A server in a process of its own.
struct Server {
    child: Child,
    client: Client,
    _folder: Folder,
}

impl Server {
    fn start() -> Option<Self> {
        let folder = Folder::new()?;
        let mut child = Command::new(std::env::current_exe().ok()?).arg("serve-child").arg(&folder.0).stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
        Some(Self { child, client: Client { addr: line.trim().parse().ok()? }, _folder: folder })
    }

    /// Memory that it holds, in KiB.
    fn rss_kib(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().trim_end_matches(" kB").trim().parse().ok()
    }

    /// Processor time that it has used, in microseconds. The kernel counts in hundredths of a second.
    fn cpu_us(&self) -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        Some(ticks * 10_000.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every stream open and idle; then every run at work at once, and every reader at the end of its own.
async fn load() -> Option<Vec<Row>> {
    let server = Server::start()?;
    let client = &server.client;
    let runs: Vec<String> = join_all((0..RUNS).map(|_| client.start("parks"))).await.into_iter().collect::<Option<_>>()?;
    join_all(runs.iter().map(|run| client.rest(run))).await;
    let before_kib = server.rss_kib()?;
    let waiting = Arc::new(AtomicUsize::new(0));
    let mut readers = Vec::new();
    for run in &runs {
        for _ in 0..READERS {
            let reader = Reader::open(client, run, waiting.clone()).await?;
            readers.push((run.clone(), tokio::spawn(reader.read())));
        }
    }
    let all = RUNS * READERS;
    while waiting.load(Ordering::SeqCst) < all {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let idle_kib = (server.rss_kib()? - before_kib) / all as f64;
    let cpu_us = server.cpu_us()?;
    join_all(runs.iter().map(|run| client.grant(run))).await;
    let mut got = Vec::new();
    for (run, reader) in readers {
        got.push((run, reader.await.ok()??));
    }
    let cpu_us = server.cpu_us()? - cpu_us;
    let (mut wrong, mut events) = (0, 0);
    for run in &runs {
        let whole = client.ids(run).await?;
        events += whole.len();
        wrong += got.iter().filter(|(of, ids)| of == run && *ids != whole).count();
    }
    let delivered = events * READERS;
    let idle = Row { more: vec![("KiB_a_stream", idle_kib)], ..Row::new("countersign, idle streams", all, f64::NAN, "") };
    let work = Row {
        more: vec![("delivered", delivered as f64), ("streams_with_a_gap", wrong as f64)],
        ..Row::new("countersign, 200 runs at work", all, cpu_us / delivered as f64, "frame")
    };
    Some(vec![idle, work])
}

/// Processor time for each event of runs with one reader each.
async fn one_each() -> Option<f64> {
    let server = Server::start()?;
    let before = server.cpu_us()?;
    let one = async |_| {
        let run = server.client.start("works").await?;
        let reader = Reader::open(&server.client, &run, Arc::default()).await?;
        reader.read().await?.last().copied()
    };
    let last: Vec<u32> = join_all((0..RUNS).map(one)).await.into_iter().collect::<Option<_>>()?;
    let events: u32 = last.iter().sum();
    Some((server.cpu_us()? - before) / f64::from(events))
}

/// The same of the bare driver, in a process of its own.
fn bare_us() -> Option<f64> {
    let folder = Folder::new()?;
    let output = Command::new(std::env::current_exe().ok()?).arg("serve-bare").arg(&folder.0).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}
