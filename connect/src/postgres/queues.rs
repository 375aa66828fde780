//! Tasks that were accepted and have not begun. A queue has the process that works it off, and none once that is done.

use super::PostgresJournal;
use super::session::Query;
use super::text::{stored, told};
use async_trait::async_trait;
use countersign::journal::Queues;
use countersign::{JournalError, Str};

/// Keeps one.
pub(super) const KEEP: &str = "INSERT INTO queues (name, driver, body) VALUES ($1::text, $2::bigint, $3::text) ON CONFLICT (name) DO NOTHING";

/// What one says.
pub(super) const QUEUE: &str = "SELECT body FROM queues WHERE name = $1::text";

/// Takes those of processes that are gone.
pub(super) const INHERIT: &str = "
    UPDATE queues SET driver = $1::bigint WHERE driver IS NOT NULL AND driver <> $1 AND driver NOT IN (SELECT driver FROM living)
    RETURNING name, body";

/// One is worked off.
pub(super) const DONE: &str = "UPDATE queues SET driver = NULL WHERE name = $1::text";

#[async_trait]
impl Queues for PostgresJournal {
    async fn keep(&self, name: &str, text: &str) -> Result<(), JournalError> {
        self.reader.line.ask(Query::Keep, &[&name, &self.driver, &stored(text)]).await.map(drop)
    }

    async fn text(&self, name: &str) -> Result<Option<Str>, JournalError> {
        let rows = self.reader.line.ask(Query::Queue, &[&stored(name)]).await?;
        rows.first().map(|row| row.try_get(0).map(told).map_err(|why| self.strange(&why))).transpose()
    }

    async fn take(&self) -> Result<Vec<(Str, Str)>, JournalError> {
        let rows = self.reader.line.ask(Query::Inherit, &[&self.driver]).await?;
        let both = |row: &tokio_postgres::Row| Ok((row.try_get::<_, &str>(0)?.into(), told(row.try_get(1)?)));
        rows.iter().map(|row| both(row).map_err(|why| self.strange(&why))).collect()
    }

    async fn done(&self, name: &str) -> Result<(), JournalError> {
        self.reader.line.ask(Query::Done, &[&name]).await.map(drop)
    }
}
