//! Queues, on a connection of their own: they are written so rarely that nobody has to wait for the writer of logs.

use super::{SqliteJournal, schema};
use crate::journal::{JournalError, Queues};
use async_trait::async_trait;
use countersign_core::Str;
use rusqlite::{Connection, OptionalExtension};
use std::sync::Mutex;
use std::sync::PoisonError;

impl SqliteJournal {
    /// Does something with the queues, where waiting for the disk holds nobody up.
    async fn queues_do<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static) -> Result<T, JournalError> {
        let shared = self.shared.clone();
        let done = tokio::task::spawn_blocking(move || {
            let connection = schema::second(&shared.place)?;
            work(&connection).map_err(|e| shared.place.fault(&e))
        });
        done.await.map_err(|e| JournalError::Store(e.to_string()))?
    }
}

/// What this process works off already: a file has one process that does.
#[derive(Default)]
pub(super) struct Taken(Mutex<bool>);

impl Taken {
    /// Whether this is the first time.
    fn first(&self) -> bool {
        !std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), true)
    }
}

#[async_trait]
impl Queues for SqliteJournal {
    async fn keep(&self, name: &str, text: &str) -> Result<(), JournalError> {
        let (name, text) = (name.to_owned(), text.to_owned());
        self.queues_do(move |file| file.execute("INSERT INTO queues (name, body, open) VALUES (?1, ?2, 1)", [name, text])).await.map(drop)
    }

    async fn text(&self, name: &str) -> Result<Option<Str>, JournalError> {
        let name = name.to_owned();
        let read =
            move |file: &Connection| file.query_row("SELECT body FROM queues WHERE name = ?1", [name], |row| row.get::<_, String>(0)).optional();
        Ok(self.queues_do(read).await?.map(Str::from))
    }

    /// All of them the first time, and none from then on.
    async fn take(&self) -> Result<Vec<(Str, Str)>, JournalError> {
        if !self.taken.first() {
            return Ok(Vec::new());
        }
        let read = |file: &Connection| {
            let mut open = file.prepare("SELECT name, body FROM queues WHERE open = 1 ORDER BY rowid")?;
            let both = |row: &rusqlite::Row<'_>| Ok((Str::from(row.get::<_, String>(0)?), Str::from(row.get::<_, String>(1)?)));
            open.query_map([], both)?.collect()
        };
        self.queues_do(read).await
    }

    async fn done(&self, name: &str) -> Result<(), JournalError> {
        let name = name.to_owned();
        self.queues_do(move |file| file.execute("UPDATE queues SET open = 0 WHERE name = ?1", [name])).await.map(drop)
    }
}
