//! 64 concurrent runs on a journal file: events a second against a raw file with append, fdatasync and the same group
//! commit, behind the same driver; and bytes on disk for each byte of an event's JSON.

use crate::measure::{Row, median};
use crate::ours;
use async_trait::async_trait;
use countersign::journal::projection::{Message, RunQuery, RunSummary};
use countersign::{Batch, Effect, Journal, JournalError, NodeId, Record, Runner, SqliteJournal, Str};
use cpu_time::ProcessTime;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

const RUNS: usize = 64;

/// Calls of each run: as many as one filling of the write-ahead log has room for, and several times as many.
const CALLS: &[usize] = &[20, 100];

/// Lengths for which the size of a file is measured.
const LENGTHS: &[usize] = &[10, 100, 1000];

pub(crate) fn rows() -> Vec<Row> {
    let mut rows: Vec<_> = CALLS.iter().flat_map(|calls| throughput(*calls)).collect();
    rows.extend(LENGTHS.iter().filter_map(|calls| size(*calls)));
    rows
}

/// What one sample took: seconds of the clock, and of the processors.
struct Took {
    wall_s: f64,
    cpu_s: f64,
    events: usize,
}

fn throughput(calls: usize) -> Vec<Row> {
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    #[cfg(feature = "postgres")]
    let postgres: Vec<Took> = (0..5).filter_map(|n| on_postgres(calls, n)).collect();
    for _ in 0..5 {
        raw.extend(sample(calls, |path| RawFile::create(path).map(|file| Arc::new(file) as Arc<dyn Journal>)));
        ours.extend(sample(calls, |path| SqliteJournal::open(path).ok().map(|file| Arc::new(file) as Arc<dyn Journal>)));
    }
    let per_s = |took: &[Took]| median(took.iter().map(|t| t.events as f64 / t.wall_s).collect());
    let cpu_us = |took: &[Took]| median(took.iter().map(|t| t.cpu_s * 1e6 / t.events as f64).collect());
    let row = |name, took: &[Took]| Row {
        ratio_to_floor: Some(cpu_us(took) / cpu_us(&raw)),
        more: vec![("events_a_second", per_s(took)), ("throughput_of_floor", per_s(took) / per_s(&raw))],
        ..Row::new(name, calls, cpu_us(took), "event")
    };
    let rows = vec![row("raw file, fdatasync, 64 at once", &raw), row("countersign, SQLite, 64 at once", &ours)];
    #[cfg(feature = "postgres")]
    let rows = rows.into_iter().chain((!postgres.is_empty()).then(|| row("countersign, Postgres, 64 at once", &postgres))).collect();
    rows
}

/// On a server, where one is named. Its own work is not in the CPU time.
#[cfg(feature = "postgres")]
fn on_postgres(calls: usize, n: usize) -> Option<Took> {
    use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
    let dsn = std::env::var("COUNTERSIGN_POSTGRES").ok()?;
    let options = PostgresOptions { schema: format!("bench_{}_{calls}_{n}", std::process::id()), ..PostgresOptions::default() };
    let rt = runtime()?;
    let journal = rt.block_on(PostgresJournal::open_with(&dsn, options));
    match journal {
        Ok(journal) => time(&rt, calls, Arc::new(journal)),
        Err(why) => {
            eprintln!("{why}");
            None
        }
    }
}

fn runtime() -> Option<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().ok()
}

fn sample(calls: usize, open: impl Fn(&Path) -> Option<Arc<dyn Journal>>) -> Option<Took> {
    let folder = Folder::new()?;
    time(&runtime()?, calls, open(&folder.0.join("runs"))?)
}

fn time(rt: &Runtime, calls: usize, journal: Arc<dyn Journal>) -> Option<Took> {
    let runner = runner(calls, journal);
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let events = rt.block_on(async {
        let runs = (0..RUNS).map(|n| runner.start(&format!("run-{n}"), "task"));
        let mut events = 0;
        for run in runs.collect::<Vec<_>>() {
            let result = run.ok()?.result().await.ok()?;
            assert_eq!(result.text(), Some("done"));
            events += result.run.ledger().log().len();
        }
        Some(events)
    })?;
    Some(Took { wall_s: wall.elapsed().as_secs_f64(), cpu_s: cpu.elapsed().as_secs_f64(), events })
}

fn runner(calls: usize, journal: Arc<dyn Journal>) -> Runner {
    ours::runner(calls, Effect::Read, Duration::ZERO).0.on(journal)
}

/// How large a file is, for each byte of its events as compact JSON.
fn size(calls: usize) -> Option<Row> {
    let folder = Folder::new()?;
    let path = folder.0.join("runs");
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let (mut json, mut events) = (0, 0);
    let runs = (2000 / calls).max(4);
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&path).ok()?);
    let runner = runner(calls, journal);
    for n in 0..runs {
        let result = rt.block_on(async { runner.start(&format!("run-{n}"), "task").ok()?.result().await.ok() })?;
        json += result.log().len() - result.run.ledger().log().len();
        events += result.run.ledger().log().len();
    }
    drop(runner);
    let bytes = std::fs::metadata(&path).ok()?.len() as f64;
    let more = vec![("bytes_an_event", bytes / events as f64), ("bytes_of_json", bytes / json as f64)];
    Some(Row { more, ..Row::new("countersign, SQLite, size", calls, f64::NAN, "event") })
}

/// A folder that is gone with its figure.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("countersign-bench-{}-{:?}", std::process::id(), Instant::now()));
        std::fs::create_dir_all(&folder).ok()?;
        Some(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The floor: lines appended to a file, one fdatasync for all that wait. It checks nothing and can give nothing back.
struct RawFile(mpsc::Sender<(String, oneshot::Sender<bool>)>);

impl RawFile {
    fn create(path: &Path) -> Option<Self> {
        let mut file = std::fs::File::create(path).ok()?;
        let (queue, jobs) = mpsc::channel::<(String, oneshot::Sender<bool>)>();
        std::thread::spawn(move || {
            while let Ok(first) = jobs.recv() {
                let mut group = vec![first];
                while let Ok(next) = jobs.try_recv() {
                    group.push(next);
                }
                let text: String = group.iter().map(|(text, _)| text.as_str()).collect();
                let kept = file.write_all(text.as_bytes()).is_ok() && file.sync_data().is_ok();
                for (_, done) in group {
                    let _ = done.send(kept);
                }
            }
        });
        Some(Self(queue))
    }
}

#[async_trait]
impl Journal for RawFile {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        let mut text = String::new();
        for record in batch.records {
            text.push_str(&serde_json::to_string(&**record).map_err(|e| JournalError::Store(e.to_string()))?);
            text.push('\n');
        }
        let (done, answer) = oneshot::channel();
        let failed = || JournalError::Store("the file cannot be written".into());
        self.0.send((text, done)).map_err(|_| failed())?;
        if answer.await.unwrap_or(false) { Ok(()) } else { Err(failed()) }
    }

    async fn read(&self, _: &str, _: u32, _: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        Ok(Vec::new())
    }

    async fn list(&self, _: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        Ok(Vec::new())
    }

    async fn summary(&self, _: &str) -> Result<Option<RunSummary>, JournalError> {
        Ok(None)
    }

    async fn message(&self, _: &str) -> Result<Option<Message>, JournalError> {
        Ok(None)
    }

    async fn kept(&self, _: &str, _: NodeId) -> Result<Option<Str>, JournalError> {
        Ok(None)
    }
}
