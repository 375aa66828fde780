//! Logs in a Postgres database: for runs that several machines begin, drive, show and take up again.
//!
//! ```text
//!  append ──▶ queue ──▶ one writer task ──▶ one statement for all that wait ──▶ commit ──▶ acknowledged
//!                                                    └─ NOTIFY ──▶ LISTEN ──▶ readers, in every process
//!  read, list ────────▶ a connection of their own
//! ```
//!
//! An append is one round trip: a statement that moves the run's row on from where the writer says that it is, and adds
//! nothing where it is elsewhere. So two machines never both drive a run. Where a connection is lost in the middle of
//! an append, the writer looks into the run's row, which says by whose append it came to where it is.
//!
//! | module | what it is |
//! |---|---|
//! | `append` | what is written, and the one statement that writes it |
//! | `write` | the one task that writes |
//! | `read` | logs with their chain, and the lines of runs |
//! | `ears` | who waits for news of which run |
//! | `peers` | which process has which run, and what is said to runs of others |
//! | `queues` | tasks that were accepted and have not begun |
//! | `session` | connections that are made again when they are lost |
//! | `schema` | the tables, and how an older schema comes to have them |
//! | `retain` | runs that are forgotten once they are old |
//! | `place` | what the server's errors mean |

mod append;
mod ears;
mod peers;
mod place;
mod queues;
mod read;
mod retain;
mod schema;
mod session;
mod text;
mod write;

pub use schema::SCHEMA;

use async_trait::async_trait;
use countersign::journal::chain::Chain;
use countersign::journal::projection::{Message, Retold, RunQuery, RunSummary};
use countersign::journal::{Peers, Queues};
use countersign::{Batch, Journal, JournalError, NodeId, Record, Str};
use ears::{Ears, Listener};
use read::Reader;
use session::{Door, Line};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// How often a run is looked at although nobody has told of anything new: while the server can be heard, and while not.
const POLLS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(50));

/// Events that are read at a time by whoever reads a whole log.
const PAGE: usize = 4096;

/// How a database is opened.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The schema in which the journal's tables are. It is made where there is none.
    pub schema: String,
    /// A key for the hash chain over every log, so that nobody without it can change one unseen. It belongs to the
    /// journal: the same key opens it again.
    pub key: Option<Vec<u8>>,
    /// How long an append or a read waits for a server that is gone or does not answer. Then it fails, and the run can
    /// be resumed.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { schema: "countersign".into(), key: None, patience: Duration::from_secs(30) }
    }
}

/// Logs in a Postgres database. It belongs to the async runtime in which it was opened, and has three connections: to
/// write, to read and to listen.
pub struct PostgresJournal {
    reader: Reader,
    ears: Arc<Ears>,
    /// `None` where it was opened to be looked at.
    queue: Option<mpsc::Sender<write::Job>>,
    /// By what others know this process.
    driver: i64,
    listener: JoinHandle<()>,
}

impl PostgresJournal {
    /// Opens the database of a DSN, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and makes the journal where there is
    /// none. An older schema is brought up to date; a newer one is refused.
    ///
    /// With `sslmode=require` the connection is encrypted, and the server's certificate has to be one that this machine
    /// trusts; otherwise it is not.
    pub async fn open(dsn: &str) -> Result<Self, JournalError> {
        Self::open_with(dsn, PostgresOptions::default()).await
    }

    /// Opens it with options.
    pub async fn open_with(dsn: &str, options: PostgresOptions) -> Result<Self, JournalError> {
        let (door, chain) = (Door::new(dsn, &options.schema, options.patience)?, chain(&options)?);
        let (mut client, _) = door.connect(None).await?;
        schema::open(&door, &mut client, &chain).await?;
        let (queue, jobs) = mpsc::channel(write::GROUP_MAX);
        // Never 0, which is nobody.
        let (door, ears, driver) = (Arc::new(door), Arc::<Ears>::default(), fastrand::i64(1..1 << 62));
        let mut listener = Listener::new(door.clone(), ears.clone(), Some(driver));
        listener.begin().await?;
        let writer = write::Writer::new(Line::new(door.clone()), chain.clone(), driver);
        tokio::spawn(writer.work(jobs));
        let listener = tokio::spawn(listener.listen());
        Ok(Self { reader: Reader { line: Line::new(door), chain }, ears, queue: Some(queue), driver, listener })
    }

    /// Opens it to look at it. Nothing is made, changed or brought up to date; appends fail.
    pub async fn look(dsn: &str, options: PostgresOptions) -> Result<Self, JournalError> {
        let (door, chain) = (Door::new(dsn, &options.schema, options.patience)?, chain(&options)?);
        let (client, _) = door.connect(None).await?;
        schema::look(&door, &client, &chain).await?;
        let (door, ears) = (Arc::new(door), Arc::<Ears>::default());
        let listener = tokio::spawn(Listener::new(door.clone(), ears.clone(), None).listen());
        Ok(Self { reader: Reader { line: Line::new(door), chain }, ears, queue: None, driver: 0, listener })
    }

    fn door(&self) -> &Door {
        &self.reader.line.door
    }

    /// Reads every log and says what is damaged. Empty where all is whole. A run that is written to meanwhile is looked
    /// at as far as it was when its turn came.
    pub async fn verify(&self) -> Result<Vec<JournalError>, JournalError> {
        let runs = self.list(&RunQuery { most: usize::MAX, ..RunQuery::default() }).await?;
        let mut damaged = Vec::new();
        for run in runs.iter().rev() {
            match self.verify_run(&run.run).await {
                Err(why @ JournalError::Damaged { .. }) => damaged.push(why),
                other => other?,
            }
        }
        Ok(damaged)
    }

    /// Until the line is the same before and after its log was read.
    async fn verify_run(&self, run: &str) -> Result<(), JournalError> {
        loop {
            let (line, message) = (self.summary(run).await?, self.message(run).await?.unwrap_or_default());
            let (mut retold, mut at) = (Retold::default(), 0);
            let mut more = true;
            while more {
                let before = at;
                let take = |record: Record| {
                    at = record.seq;
                    retold.take(&record);
                };
                self.reader.walk(run, before, PAGE, take).await?;
                more = at > before;
            }
            if self.summary(run).await? == line {
                return if line.is_none() { Ok(()) } else { retold.compare(run, line.as_ref(), &message) };
            }
        }
    }

    /// Forgets the runs that ended before a moment, in milliseconds since the Unix epoch, with their events, messages
    /// and outputs, and returns how many they were. A run that is under way, or waits for a person, is never forgotten.
    pub async fn forget_before(&self, ms: u64) -> Result<u64, JournalError> {
        match self.queue {
            Some(_) => retain::forget_before(self.door(), ms).await,
            None => Err(self.looked_at()),
        }
    }

    /// A row that holds something else than it should.
    fn strange(&self, why: &tokio_postgres::Error) -> JournalError {
        self.door().place.unreadable(why.to_string())
    }

    fn looked_at(&self) -> JournalError {
        JournalError::ReadOnly { place: self.door().place.name(), why: "it was opened to be looked at".into() }
    }
}

fn chain(options: &PostgresOptions) -> Result<Chain, JournalError> {
    match options.key.as_deref() {
        None => Ok(Chain::plain()),
        Some([]) => Err(JournalError::Unreadable { place: options.schema.clone(), why: "its key is empty".into() }),
        Some(key) => Ok(Chain::keyed(key)),
    }
}

impl Drop for PostgresJournal {
    /// What was handed over is still written; nobody listens any more.
    fn drop(&mut self) {
        self.listener.abort();
    }
}

#[async_trait]
impl Journal for PostgresJournal {
    async fn append(&self, batch: Batch<'_>) -> Result<(), JournalError> {
        let queue = self.queue.as_ref().ok_or_else(|| self.looked_at())?;
        let gone = || JournalError::Store("the task that writes is gone: its async runtime has ended".into());
        let (done, answer) = oneshot::channel();
        queue.send(write::Job { append: append::Append::new(batch)?, done }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    async fn read(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        self.reader.records(run, after, most).await
    }

    /// Told by the server of what any process writes.
    async fn grown(&self, run: &str, after: u32) -> Result<(), JournalError> {
        // First the ear, then the eye: nothing that comes in between is missed.
        let news = self.ears.wait(run);
        if self.summary(run).await?.is_some_and(|line| line.seq > after) {
            return Ok(());
        }
        let poll = if self.ears.hears() { POLLS.0 } else { POLLS.1 };
        let _ = tokio::time::timeout(poll, news).await;
        Ok(())
    }

    async fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        self.reader.list(query).await
    }

    async fn summary(&self, run: &str) -> Result<Option<RunSummary>, JournalError> {
        self.reader.line(run).await
    }

    async fn message(&self, run: &str) -> Result<Option<Message>, JournalError> {
        self.reader.message(run).await
    }

    async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        self.reader.kept(run, call).await
    }

    fn queues(&self) -> Option<&dyn Queues> {
        self.queue.as_ref().map(|_| -> &dyn Queues { self })
    }

    fn peers(&self) -> Option<&dyn Peers> {
        // Who only looks drives nothing.
        self.queue.as_ref().map(|_| -> &dyn Peers { self })
    }
}
