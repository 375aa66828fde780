//! Which process has which run, and what is said to runs of others.
//!
//! A process that writes holds an advisory lock on the connection on which it listens. Whoever holds one is alive: the
//! server lets go of it when the connection is gone.

use super::PostgresJournal;
use super::append::number;
use super::ears::POSTS;
use super::session::Query;
use super::text::{stored, told};
use async_trait::async_trait;
use countersign::journal::Peers;
use countersign::journal::projection::RunSummary;
use countersign::live::Command;
use countersign::{JournalError, Str};
use std::time::Duration;

/// How often it is looked whether something was posted although nobody has told of it.
const LOOK: Duration = Duration::from_secs(2);

/// Takes a run that nobody alive has.
pub(super) const CLAIM: &str = "
    UPDATE runs SET driver = $2::bigint
    WHERE run = $1::text AND (driver IS NULL OR driver = $2 OR driver NOT IN (SELECT driver FROM living))
    RETURNING no";

/// Gives it back.
pub(super) const RELEASE: &str = "UPDATE runs SET driver = NULL WHERE run = $1::text AND driver = $2::bigint";

/// Runs under way that nobody alive has.
pub(super) const LEFT: &str = "
    SELECT run, conversation, message, mode, title, status, reason, started_ms, changed_ms, seq, owner, profile FROM runs
    WHERE status = 'in_progress' AND (driver IS NULL OR driver NOT IN (SELECT driver FROM living))
    ORDER BY started_ms DESC, no DESC LIMIT $1::bigint";

/// Says something to whoever has a run; to anybody, where nobody has it. A token that is there already was kept before.
pub(super) const POST: &str = "
    WITH kept AS (
        INSERT INTO posts (run, driver, token, body)
        SELECT no, coalesce(driver, 0), post.token, post.body
        FROM runs, unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS post (token, body, at) WHERE run = $1::text ORDER BY at
        ON CONFLICT (token) DO NOTHING
    )
    SELECT pg_notify(current_schema()::text, $4::text)::text";

/// Makes what was posted to this process, or to one that is gone, its own. It stays until it is dropped.
pub(super) const TAKE: &str = "
    WITH taken AS (
        UPDATE posts SET driver = $1::bigint WHERE driver = $1 OR driver NOT IN (SELECT driver FROM living) RETURNING id, run, body
    )
    SELECT taken.id, runs.run, taken.body FROM taken JOIN runs ON runs.no = taken.run ORDER BY taken.id";

/// Drops what was handed out.
pub(super) const DROP: &str = "DELETE FROM posts WHERE id = ANY ($1::bigint[])";

impl PostgresJournal {
    /// A post, as it is stored.
    fn unread(&self, body: &str) -> Result<Command, JournalError> {
        serde_json::from_str(body).map_err(|why| self.door().place.unreadable(format!("what was posted cannot be read: {why}")))
    }
}

#[async_trait]
impl Peers for PostgresJournal {
    async fn claim(&self, run: &str) -> Result<bool, JournalError> {
        Ok(!self.reader.line.ask(Query::Claim, &[&stored(run), &self.driver]).await?.is_empty())
    }

    async fn release(&self, run: &str) -> Result<(), JournalError> {
        self.reader.line.ask(Query::Release, &[&stored(run), &self.driver]).await.map(drop)
    }

    async fn left_behind(&self, most: usize) -> Result<Vec<RunSummary>, JournalError> {
        self.reader.lines(self.reader.line.ask(Query::Left, &[&number(most as u64)]).await?)
    }

    async fn post(&self, run: &str, commands: &[Command]) -> Result<(), JournalError> {
        let written = |command: &Command| serde_json::to_string(command).map_err(|why| JournalError::Store(why.to_string()));
        let bodies = commands.iter().map(written).collect::<Result<Vec<_>, _>>()?;
        let tokens: Vec<i64> = bodies.iter().map(|_| fastrand::i64(..)).collect();
        self.reader.line.ask(Query::Post, &[&stored(run), &tokens, &bodies, &POSTS]).await.map(drop)
    }

    async fn posted(&self) -> Result<Vec<(Str, Command)>, JournalError> {
        let strange = |why: tokio_postgres::Error| self.strange(&why);
        let (mut posts, mut ids) = (Vec::new(), Vec::new());
        for row in self.reader.line.ask(Query::Take, &[&self.driver]).await? {
            ids.push(row.try_get::<_, i64>(0).map_err(strange)?);
            posts.push((told(row.try_get(1).map_err(strange)?), self.unread(row.try_get(2).map_err(strange)?)?));
        }
        if !ids.is_empty() {
            self.reader.line.ask(Query::Drop, &[&ids]).await?;
        }
        Ok(posts)
    }

    async fn mail(&self) {
        let _ = tokio::time::timeout(LOOK, self.ears.wait_for(POSTS)).await;
    }

    async fn news(&self, run: &str) {
        let _ = self.ears.wait(run).await;
    }
}
