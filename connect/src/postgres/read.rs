//! Reading: logs with their chain, and the lines of runs.

use super::append::number;
use super::place::Place;
use super::session::{Line, Query};
use super::text::{stored, told};
use countersign::journal::chain::{Chain, Link, Walk};
use countersign::journal::projection::{Message, RunQuery, RunSummary};
use countersign::{JournalError, NodeId, Reason, Record, Status, Str};
use std::sync::Arc;
use tokio_postgres::Row;

/// A run's events after a number, in order, with what the run's row says, as they stood at one moment. Where there are
/// none, one row with the run's alone.
pub(super) const LOG: &str = "
    WITH line AS MATERIALIZED (
        SELECT no, seq, head, (SELECT link FROM events WHERE run = runs.no AND seq = $2::bigint) AS before
        FROM runs WHERE run = $1::text
    )
    SELECT line.seq, line.head, line.before, event.seq, event.link, event.body
    FROM line LEFT JOIN LATERAL (
        SELECT seq, link, body FROM events WHERE run = line.no AND seq > $2 ORDER BY seq LIMIT $3::bigint
    ) AS event ON true
    ORDER BY event.seq";

/// A run's line.
pub(super) const LINE: &str = "
    SELECT run, conversation, message, mode, title, status, reason, started_ms, changed_ms, seq, owner, profile FROM runs WHERE run = $1::text";

/// Lines that fit. Under the collation `C` only ASCII letters have a case.
pub(super) const LIST: &str = r#"
    SELECT run, conversation, message, mode, title, status, reason, started_ms, changed_ms, seq, owner, profile FROM runs
    WHERE ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR mode = $2)
        AND ($3::bigint IS NULL OR started_ms >= $3) AND ($4::bigint IS NULL OR started_ms < $4)
        AND ($5::text IS NULL OR strpos(lower(title COLLATE "C"), lower($5 COLLATE "C")) > 0)
        AND ($6::text IS NULL OR conversation = $6) AND ($7::text IS NULL OR owner = $7)
    ORDER BY started_ms DESC, no DESC LIMIT $8::bigint"#;

/// A run's message, where it has one yet; one row of nothing where it has none, and none where there is no such run.
pub(super) const MESSAGE: &str = "
    SELECT content, candidate, coalesce(finalized, false), messages.status, messages.reason
    FROM runs LEFT JOIN messages ON messages.run = runs.no WHERE runs.run = $1::text";

/// A whole output.
pub(super) const KEPT: &str = "SELECT whole FROM outputs WHERE run = (SELECT no FROM runs WHERE run = $1::text) AND call = $2::bigint";

/// Reads on a connection of its own.
pub(super) struct Reader {
    pub(super) line: Line,
    pub(super) chain: Chain,
}

impl Reader {
    /// Records after `after`, with every link checked. What is whole is handed out; the next read then fails.
    pub(super) async fn records(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        let mut records = Vec::new();
        match self.walk(run, after, most, |record| records.push(Arc::new(record))).await {
            Err(JournalError::Damaged { .. }) if !records.is_empty() => Ok(records),
            done => done.map(|()| records),
        }
    }

    /// Goes through a part of a log, one whole event after the other.
    pub(super) async fn walk(&self, run: &str, after: u32, most: usize, mut each: impl FnMut(Record)) -> Result<(), JournalError> {
        let rows = self.line.ask(Query::Log, &[&stored(run), &i64::from(after), &number(most as u64)]).await?;
        let Some(first) = rows.first() else { return Ok(()) };
        let strange = |e: tokio_postgres::Error| self.strange(&e);
        let (last, head) = (seq(first.try_get(0).map_err(strange)?), link(first.try_get(1).map_err(strange)?));
        let before = match first.try_get::<_, Option<&[u8]>>(2).map_err(strange)? {
            _ if after == 0 => self.chain.start(run),
            Some(before) => link(before),
            // Whoever asks for more than there is gets nothing; whoever asks for what was there is told that it is gone.
            None if after > last => return Ok(()),
            None => return Err(JournalError::Damaged { run: run.into(), seq: after, why: "it is missing".into() }),
        };
        let mut walk = Walk::new(&self.chain, run, after, before, (last, head));
        let mut count = 0;
        for row in &rows {
            let Some(at) = row.try_get::<_, Option<i64>>(3).map_err(strange)? else { break };
            each(walk.take(seq(at), link(row.try_get(4).map_err(strange)?), row.try_get(5).map_err(strange)?)?);
            count += 1;
        }
        match count < most {
            true if walk.seq() > last.max(after) => Err(walk.damaged("the run's own line does not go so far")),
            true => walk.end(),
            false => Ok(()),
        }
    }

    pub(super) async fn line(&self, run: &str) -> Result<Option<RunSummary>, JournalError> {
        let rows = self.line.ask(Query::Line, &[&stored(run)]).await?;
        rows.first().map(|row| self.read(summary(row))).transpose()
    }

    /// Runs that fit, the newest first. No log is touched.
    pub(super) async fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        let (status, mode) = (query.status.map(|status| status.name()), query.mode.as_deref().map(stored));
        let (since, before) = (query.since_ms.map(number), query.before_ms.map(number));
        let (text, conversation) = (query.text.as_deref().map(stored), query.conversation.as_deref().map(stored));
        let (owner, most) = (query.owner.as_deref().map(stored), number(query.most as u64));
        let rows = self.line.ask(Query::List, &[&status, &mode, &since, &before, &text, &conversation, &owner, &most]).await?;
        self.lines(rows)
    }

    pub(super) fn lines(&self, rows: Vec<Row>) -> Result<Vec<RunSummary>, JournalError> {
        rows.iter().map(|row| self.read(summary(row))).collect()
    }

    pub(super) async fn message(&self, run: &str) -> Result<Option<Message>, JournalError> {
        let rows = self.line.ask(Query::Message, &[&stored(run)]).await?;
        rows.first().map(|row| self.read(message(row))).transpose()
    }

    pub(super) async fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        let rows = self.line.ask(Query::Kept, &[&stored(run), &i64::from(call.0)]).await?;
        rows.first().map(|row| self.read(row.try_get(0).map(told).map_err(Strange::Row))).transpose()
    }

    fn place(&self) -> &Place {
        &self.line.door.place
    }

    fn read<T>(&self, row: Result<T, Strange>) -> Result<T, JournalError> {
        row.map_err(|strange| match strange {
            Strange::Row(why) => self.strange(&why),
            Strange::Name(name) => self.place().unreadable(format!("`{name}` is no known status or reason")),
        })
    }

    fn strange(&self, error: &tokio_postgres::Error) -> JournalError {
        self.place().unreadable(error.to_string())
    }
}

/// A row that holds something else than it should.
enum Strange {
    Row(tokio_postgres::Error),
    Name(String),
}

impl From<tokio_postgres::Error> for Strange {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Row(error)
    }
}

/// A number of an event. What is none stands where no event can.
fn seq(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// A link. What is none fits to nothing.
fn link(bytes: &[u8]) -> Link {
    Link::try_from(bytes).unwrap_or_default()
}

fn summary(row: &Row) -> Result<RunSummary, Strange> {
    let ms = |value: i64| u64::try_from(value).unwrap_or(0);
    Ok(RunSummary {
        run: told(row.try_get(0)?),
        conversation: row.try_get::<_, Option<&str>>(1)?.map(told),
        message: row.try_get::<_, Option<&str>>(2)?.map(told),
        mode: told(row.try_get(3)?),
        title: told(row.try_get(4)?),
        status: named(row, 5, Status::named)?.unwrap_or(Status::InProgress),
        reason: named(row, 6, Reason::named)?,
        started_ms: ms(row.try_get(7)?),
        changed_ms: ms(row.try_get(8)?),
        seq: seq(row.try_get(9)?),
        owner: row.try_get::<_, Option<&str>>(10)?.map(told),
        profile: row.try_get::<_, Option<&str>>(11)?.map(told),
    })
}

fn message(row: &Row) -> Result<Message, Strange> {
    Ok(Message {
        content: row.try_get::<_, Option<&str>>(0)?.map(told),
        candidate: row.try_get::<_, Option<&str>>(1)?.map(told),
        finalized: row.try_get(2)?,
        status: named(row, 3, Status::named)?,
        reason: named(row, 4, Reason::named)?,
    })
}

/// A name on the wire. One that this version does not know is an error: a status is never guessed.
fn named<T>(row: &Row, at: usize, of: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Strange> {
    let Some(name) = row.try_get::<_, Option<&str>>(at)? else { return Ok(None) };
    of(name).map(Some).ok_or_else(|| Strange::Name(name.into()))
}
