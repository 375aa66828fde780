//! Where stored runs are read from: a journal, or a log of one JSON event a line.

use crate::place::{Place, PlaceError};
use clap::Args;
use countersign::journal::projection::RunQuery;
use countersign::journal::sqlite::SqliteOptions;
use countersign::journal::{self, Journal, JournalError};
use countersign::{Batch, Event, MemoryJournal, Record, SqliteJournal};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is no such file.
    #[error("there is no journal `{}`; name one with `--journal`, or in `COUNTERSIGN_JOURNAL`", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read.
    #[error("`{}` cannot be read: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// A line is no event.
    #[error("`{}`, line {line}, is no event: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It cannot be opened.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// It has no such run.
    #[error("`{place}` has no run `{run}`; `countersign runs` lists those it has")]
    NoRun {
        /// Where it is not.
        place: Place,
        /// The run.
        run: String,
    },
}

/// Which key a journal was written with.
#[derive(Args, Debug, Clone, Default)]
pub struct Key {
    /// The file with the key of the journal's hash chain, where it has one.
    #[arg(long, env = "COUNTERSIGN_KEY_FILE", value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// Which journal a command reads.
#[derive(Args, Debug, Clone)]
pub struct Where {
    /// The journal: a file that Countersign wrote, or `postgres://...`. A password is better kept in the variable.
    #[arg(long, env = "COUNTERSIGN_JOURNAL", hide_env_values = true, default_value = "countersign.db", value_name = "FILE|DSN")]
    pub journal: Place,
    /// Its key.
    #[command(flatten)]
    pub key: Key,
}

/// Stored runs.
pub enum Source {
    /// A journal file.
    File(Arc<SqliteJournal>),
    /// A database.
    #[cfg(feature = "postgres")]
    Postgres(Arc<countersign_connect::postgres::PostgresJournal>),
    /// A log of one event a line, in memory.
    Lines(Arc<MemoryJournal>),
}

impl Source {
    /// Opens what is there. Nothing is made where there is nothing.
    pub async fn open(place: &Place, key: &Key) -> Result<Self, SourceError> {
        let key = key.key_file.as_ref().map(|path| std::fs::read(path).map_err(|why| SourceError::File { path: path.clone(), why })).transpose()?;
        match place {
            Place::File(path) => Self::file(path, key).await,
            #[cfg(feature = "postgres")]
            Place::Postgres(dsn) => Ok(Self::Postgres(Arc::new(dsn.look(key).await?))),
            #[cfg(not(feature = "postgres"))]
            Place::Postgres(dsn) => Err(PlaceError::NotBuilt(dsn.to_string()).into()),
        }
    }

    async fn file(path: &Path, key: Option<Vec<u8>>) -> Result<Self, SourceError> {
        if !path.exists() {
            return Err(SourceError::Missing(path.into()));
        }
        let file = |why| SourceError::File { path: path.into(), why };
        let mut head = Vec::new();
        std::fs::File::open(path).and_then(|f| f.take(1).read_to_end(&mut head)).map_err(file)?;
        if head == b"{" {
            return Ok(Self::Lines(Arc::new(lines(path).await?)));
        }
        Ok(Self::File(Arc::new(SqliteJournal::look(path, SqliteOptions { key, ..SqliteOptions::default() })?)))
    }

    /// The runs, as a journal.
    pub fn journal(&self) -> Arc<dyn Journal> {
        match self {
            Self::File(journal) => journal.clone(),
            #[cfg(feature = "postgres")]
            Self::Postgres(journal) => journal.clone(),
            Self::Lines(journal) => journal.clone(),
        }
    }

    /// What is damaged in it. `None` for a log without a hash chain.
    pub async fn verify(&self) -> Result<Option<Vec<JournalError>>, SourceError> {
        match self {
            Self::File(journal) => Ok(Some(journal.verify().await?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(journal) => Ok(Some(journal.verify().await?)),
            Self::Lines(_) => Ok(None),
        }
    }

    /// The log of one run.
    pub async fn log(&self, place: &Place, run: &str) -> Result<Vec<Arc<Record>>, SourceError> {
        let log = journal::read_all(&*self.journal(), run).await?;
        if log.is_empty() { Err(SourceError::NoRun { place: place.clone(), run: run.into() }) } else { Ok(log) }
    }

    /// The names of all its runs, the oldest first.
    pub async fn names(&self) -> Result<Vec<String>, SourceError> {
        let all = self.journal().list(&RunQuery { most: usize::MAX, ..RunQuery::default() }).await?;
        Ok(all.iter().rev().map(|run| run.run.to_string()).collect())
    }
}

/// Reads a log of one run.
async fn lines(path: &Path) -> Result<MemoryJournal, SourceError> {
    let text = std::fs::read_to_string(path).map_err(|why| SourceError::File { path: path.into(), why })?;
    let line = |at: usize, why: String| SourceError::Line { path: path.into(), line: at + 1, why };
    let read = |(at, text): (usize, &str)| serde_json::from_str(text).map(Arc::new).map_err(|e| line(at, e.to_string()));
    let log: Vec<Arc<Record>> = text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()).map(read).collect::<Result<_, _>>()?;
    let Some(Event::RunStarted(start)) = log.first().map(|r| &r.event) else {
        return Err(line(0, "a log begins with `run_started`".into()));
    };
    let journal = MemoryJournal::new();
    journal.append(Batch::new(&start.run, 0, &log)).await?;
    Ok(journal)
}

/// Runs a command that waits for a journal.
pub(crate) fn wait<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
