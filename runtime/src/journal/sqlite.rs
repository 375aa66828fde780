//! Logs in one SQLite file: the embedded default for runs that must outlive their process.
//!
//! ```text
//!  append ──▶ queue ──▶ one writer thread ──▶ one transaction for all that wait ──▶ fsync ──▶ acknowledged
//!  read, list ────────▶ connections of their own (WAL: readers wait for nobody)
//! ```
//!
//! An append returns once its transaction is on the disk (WAL, `synchronous = FULL`). Other processes may use the
//! same file at the same time; what keeps two drivers off one run is the expected number of each append, checked
//! within the transaction.

mod fault;
mod places;
mod queues;
mod read;
mod recent;
mod room;
mod schema;
mod slip;
mod write;

pub use schema::SCHEMA;

use super::chain::Chain;
use super::projection::{Message, RunQuery, RunSummary};
use super::{Batch, Journal, JournalError, POLL, Queues};
use async_trait::async_trait;
use countersign_core::{NodeId, Record, Str};
use fault::Place;
use recent::Recent;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use tokio::sync::watch;

/// How a file is opened.
#[derive(Clone, Default)]
pub struct SqliteOptions {
    /// A key for the hash chain over every log, so that nobody without it can change one unseen. It belongs to the
    /// file: the same key opens it again.
    pub key: Option<Vec<u8>>,
    /// The most bytes that the file may have; appends beyond it fail as on a full disk. `None` leaves it to the disk.
    pub bytes_max: Option<u64>,
}

/// Logs in one SQLite file.
pub struct SqliteJournal {
    shared: Arc<Shared>,
    // INVARIANT: a journal that is written to has both until `drop`, which closes the queue and then waits for the
    // thread; one that is looked at has neither.
    queue: Option<mpsc::Sender<write::Job>>,
    writer: Option<JoinHandle<()>>,
    commits: watch::Receiver<u64>,
    taken: queues::Taken,
}

/// What readers share with the journal.
struct Shared {
    place: Place,
    chain: Chain,
    /// Connections that nobody reads with at the moment.
    idle: Mutex<Vec<Connection>>,
    recent: Recent,
}

impl SqliteJournal {
    /// Opens a file, and makes it where there is none. An older schema is brought up to date; a newer one is refused.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// Opens a file with options.
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, JournalError> {
        let place = Place(path.as_ref().to_path_buf());
        let chain = chain(&place, &options)?;
        let connection = schema::open(&place, &chain, options.bytes_max)?;
        let (queue, jobs) = mpsc::channel();
        let (committed, commits) = watch::channel(0);
        let shared = Arc::new(Shared { place, chain, idle: Mutex::default(), recent: Recent::default() });
        let writer = write::Writer::new(connection, shared.clone(), committed);
        let thread = std::thread::Builder::new().name("countersign-journal".into()).spawn(move || writer.work(&jobs));
        let thread = thread.map_err(|e| JournalError::Store(format!("the writer thread cannot be started: {e}")))?;
        Ok(Self { shared, queue: Some(queue), writer: Some(thread), commits, taken: queues::Taken::default() })
    }

    /// Opens a file to look at it. Nothing is made, changed or brought up to date; appends fail.
    pub fn look(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, JournalError> {
        let place = Place(path.as_ref().to_path_buf());
        let chain = chain(&place, &options)?;
        let connection = schema::look(&place, &chain)?;
        let shared = Arc::new(Shared { place, chain, idle: Mutex::new(vec![connection]), recent: Recent::default() });
        Ok(Self { shared, queue: None, writer: None, commits: watch::channel(0).1, taken: queues::Taken::default() })
    }

    /// Hands work to the writer, and waits until it is on the disk.
    async fn write(&self, append: write::Append) -> Result<(), JournalError> {
        let (done, answer) = slip::slip();
        let gone = || JournalError::Store("the writer thread is gone".into());
        let looked = || JournalError::ReadOnly { place: self.shared.place.name(), why: "it was opened to be looked at".into() };
        self.queue.as_ref().ok_or_else(looked)?.send(write::Job { append, done }).map_err(|_| gone())?;
        answer.await
    }

    /// Reads on a thread where waiting for the disk holds nobody up.
    async fn with<T: Send + 'static>(
        &self,
        reads: impl FnOnce(&read::Reader<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let shared = self.shared.clone();
        let done = tokio::task::spawn_blocking(move || {
            let idle = shared.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = idle.map_or_else(|| schema::reader(&shared.place), Ok)?;
            let result = reads(&read::Reader { connection: &connection, place: &shared.place, chain: &shared.chain });
            shared.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        });
        done.await.map_err(|e| JournalError::Store(e.to_string()))?
    }

    /// Reads every log of the file and says what is damaged. Empty where all is whole.
    pub async fn verify(&self) -> Result<Vec<JournalError>, JournalError> {
        self.with(|reader| reader.verify()).await
    }
}

fn chain(place: &Place, options: &SqliteOptions) -> Result<Chain, JournalError> {
    match options.key.as_deref() {
        None => Ok(Chain::plain()),
        Some([]) => Err(JournalError::Unreadable { place: place.name(), why: "its key is empty".into() }),
        Some(key) => Ok(Chain::keyed(key)),
    }
}

impl Drop for SqliteJournal {
    /// Waits until all that was handed over is written, and the file is closed.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        self.write(write::Append::new(batch)?).await
    }

    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        if let Some(records) = self.shared.recent.after(run, after, most) {
            return Ok(records);
        }
        let name = run.to_owned();
        let records = self.with(move |reader| reader.records(&name, after, most)).await?;
        if records.len() < most && self.queue.is_some() {
            self.shared.recent.follow(run);
        }
        Ok(records)
    }

    /// Told at once of what this process writes; what others write is looked for now and then.
    async fn grown(&self, _: &str, _: u32) -> Result<(), JournalError> {
        let mut commits = self.commits.clone();
        commits.mark_unchanged();
        let _ = tokio::time::timeout(POLL, commits.changed()).await;
        Ok(())
    }

    async fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        let query = query.clone();
        self.with(move |reader| reader.list(&query)).await
    }

    async fn summary(&self, run: &str) -> Result<Option<RunSummary>, JournalError> {
        let run = run.to_owned();
        self.with(move |reader| reader.summary(&run)).await
    }

    async fn message(&self, run: &str) -> Result<Option<Message>, JournalError> {
        let run = run.to_owned();
        self.with(move |reader| reader.message(&run)).await
    }

    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        let run = run.to_owned();
        self.with(move |reader| reader.kept(&run, call)).await
    }

    fn queues(&self) -> Option<&dyn Queues> {
        // Who only looks works nothing off.
        self.queue.as_ref().map(|_| -> &dyn Queues { self })
    }
}
