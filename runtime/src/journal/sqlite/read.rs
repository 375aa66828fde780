//! Reading: logs with their chain, and the lines of runs.

use super::fault::Place;
use super::places::{NEWEST, TAIL, WALK};
use crate::journal::JournalError;
use crate::journal::chain::{Chain, Link};
use crate::journal::projection::{Message, RunQuery, RunSummary};
use countersign_core::{Event, NodeId, ROOT, Reason, Record, Status, Str};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use std::sync::Arc;

/// A run's line, with the time and number of its newest event. A damaged event says no time.
const SUMMARY: &str = "
    SELECT runs.run, conversation, message, mode, title, status, reason, started_ms,
        iif(json_valid(body), body ->> 'at_ms', NULL), events.seq,
        owner, profile
    FROM runs";

/// Reads with one connection.
pub(super) struct Reader<'a> {
    pub(super) connection: &'a Connection,
    pub(super) place: &'a Place,
    pub(super) chain: &'a Chain,
}

impl Reader<'_> {
    /// Records after `after`, with every link checked. What is whole is handed out; the next read then fails.
    pub(super) fn records(&self, run: &str, after: u32, most: usize) -> Result<Vec<Arc<Record>>, JournalError> {
        let mut records = Vec::new();
        match self.walk(run, after, most, |record| records.push(Arc::new(record))) {
            Err(JournalError::Damaged { .. }) if !records.is_empty() => Ok(records),
            done => done.map(|()| records),
        }
    }

    /// Every run whose log is damaged, or whose line or message says something else than its log.
    pub(super) fn verify(&self) -> Result<Vec<JournalError>, JournalError> {
        let fault = |e: rusqlite::Error| self.place.fault(&e);
        let mut names = self.connection.prepare("SELECT run FROM runs ORDER BY no").map_err(fault)?;
        let names = names.query_map([], |row| row.get::<_, String>(0)).map_err(fault)?;
        let mut damaged = Vec::new();
        let counts = "SELECT (SELECT count(*) FROM events), (SELECT events FROM seal)";
        let (has, written): (u64, u64) = self.connection.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fault)?;
        if has != written {
            damaged.push(JournalError::Count { place: self.place.name(), has, written });
        }
        for name in names {
            match self.verify_run(&name.map_err(fault)?) {
                Err(why @ JournalError::Damaged { .. }) => damaged.push(why),
                other => other?,
            }
        }
        Ok(damaged)
    }

    fn verify_run(&self, run: &str) -> Result<(), JournalError> {
        let (mut line, mut message, mut answer): (Option<RunSummary>, Message, Option<Str>) = (None, Message::default(), None);
        self.walk(run, 0, usize::MAX, |record| {
            match &mut line {
                None => line = RunSummary::begin(&record),
                Some(line) => line.take(&record),
            }
            message.take(&record, None);
            if let Event::Decided { scope: ROOT, decision, .. } = &record.event {
                answer = answer.take().or_else(|| decision.final_text.clone());
            }
        })?;
        let seq = line.as_ref().map_or(0, |line| line.seq);
        let other = |what: &str| JournalError::Damaged { run: run.into(), seq, why: format!("its {what} says something else than its log") };
        if self.summary(run)? != line {
            return Err(other("line"));
        }
        let said = self.message(run)?.unwrap_or_default();
        let content = if said.finalized { answer } else { message.content };
        // A log that came without its final has none in its message.
        if said.content.is_some() && said.content != content { Err(other("message")) } else { Ok(()) }
    }

    /// Goes through a log, one whole event after the other, as it stood at one moment.
    fn walk(&self, run: &str, after: u32, most: usize, mut each: impl FnMut(Record)) -> Result<(), JournalError> {
        let fault = |e: rusqlite::Error| self.place.fault(&e);
        let snapshot = self.connection.unchecked_transaction().map_err(fault)?;
        let mut find = snapshot.prepare_cached("SELECT no, seq, head FROM runs WHERE run = ?1").map_err(fault)?;
        let found = find.query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional().map_err(fault)?;
        let Some((no, last, head)): Option<(i64, u32, Link)> = found else { return Ok(()) };
        let Some(mut link) = self.before(&snapshot, run, no, after)? else {
            // Whoever asks for more than there is gets nothing; whoever asks for what was there is told that it is gone.
            let gone = || JournalError::Damaged { run: run.into(), seq: after, why: "it is missing".into() };
            return if after > last { Ok(()) } else { Err(gone()) };
        };
        let damaged = |seq: u32, why: &str| JournalError::Damaged { run: run.into(), seq, why: why.into() };
        let mut rows = snapshot.prepare_cached(WALK).map_err(fault)?;
        let mut rows = rows.query(params![no, after, i64::try_from(most).unwrap_or(i64::MAX)]).map_err(fault)?;
        let (mut seq, mut count, mut met) = (after, 0, after >= last);
        while let Some(row) = rows.next().map_err(|e| damaged(seq + 1, &e.to_string()))? {
            let (at, said, text) = event(row).map_err(|e| damaged(seq + 1, &e.to_string()))?;
            link = self.chain.link(&link, text);
            if at != seq + 1 {
                return Err(damaged(seq + 1, "it is missing"));
            }
            if said != link {
                return Err(damaged(at, "it is not what was written"));
            }
            let record: Record = serde_json::from_str(text).map_err(|e| damaged(at, &e.to_string()))?;
            if record.seq != at {
                return Err(damaged(at, "it says that it is another event"));
            }
            if at == last && link != head {
                return Err(damaged(at, "the run's own line has another event there"));
            }
            met |= at == last;
            (seq, count) = (at, count + 1);
            each(record);
        }
        if count < most && !met { Err(damaged(seq + 1, "it is missing")) } else { Ok(()) }
    }

    /// The link of the event after which reading begins, where there is such an event.
    fn before(&self, connection: &Connection, run: &str, no: i64, after: u32) -> Result<Option<Link>, JournalError> {
        if after == 0 {
            return Ok(Some(self.chain.start(run)));
        }
        super::places::link(connection, no, after).map_err(|e| self.place.fault(&e))
    }

    /// Runs that fit, the newest first. Read by index; no log is touched.
    pub(super) fn list(&self, query: &RunQuery) -> Result<Vec<RunSummary>, JournalError> {
        let fault = |e: rusqlite::Error| self.place.fault(&e);
        let (mut sql, mut values): (String, Vec<Box<dyn ToSql>>) = (format!("{TAIL}{SUMMARY}{NEWEST} WHERE 1"), Vec::new());
        let mut narrow = |clause: &str, value: Option<Box<dyn ToSql>>| {
            if let Some(value) = value {
                sql.push_str(clause);
                values.push(value);
            }
        };
        narrow(" AND status = ?", query.status.map(|s| Box::new(s.name()) as _));
        narrow(" AND mode = ?", query.mode.as_ref().map(|m| Box::new(m.to_string()) as _));
        narrow(" AND owner = ?", query.owner.as_ref().map(|o| Box::new(o.to_string()) as _));
        narrow(" AND conversation = ?", query.conversation.as_ref().map(|c| Box::new(c.to_string()) as _));
        narrow(" AND started_ms >= ?", query.since_ms.map(|ms| Box::new(ms) as _));
        narrow(" AND started_ms < ?", query.before_ms.map(|ms| Box::new(ms) as _));
        narrow(" AND instr(lower(title), lower(?)) > 0", query.text.as_ref().map(|t| Box::new(t.to_string()) as _));
        narrow(" ORDER BY started_ms DESC, runs.no DESC LIMIT ?", Some(Box::new(i64::try_from(query.most).unwrap_or(i64::MAX))));
        let mut rows = self.connection.prepare_cached(&sql).map_err(fault)?;
        let rows = rows.query_map(rusqlite::params_from_iter(values), summary).map_err(fault)?;
        rows.collect::<Result<_, _>>().map_err(fault)
    }

    pub(super) fn summary(&self, run: &str) -> Result<Option<RunSummary>, JournalError> {
        let found = self.connection.prepare_cached(&format!("{TAIL}{SUMMARY}{NEWEST} WHERE runs.run = ?1"));
        found.and_then(|mut one| one.query_row([run], summary).optional()).map_err(|e| self.place.fault(&e))
    }

    pub(super) fn message(&self, run: &str) -> Result<Option<Message>, JournalError> {
        let mut find = self.connection.prepare_cached("SELECT no FROM runs WHERE run = ?1").map_err(|e| self.place.fault(&e))?;
        let no = find.query_row([run], |row| row.get(0)).optional().map_err(|e| self.place.fault(&e))?;
        let Some(no) = no else { return Ok(None) };
        message(self.connection, no).map(|found| Some(found.unwrap_or_default())).map_err(|e| self.place.fault(&e))
    }

    pub(super) fn kept(&self, run: &str, call: NodeId) -> Result<Option<Str>, JournalError> {
        let found = self.connection.prepare_cached("SELECT whole FROM outputs WHERE run = ?1 AND call = ?2");
        let whole = found.and_then(|mut one| one.query_row(params![run, call.0], |row| text(row, 0)).optional());
        whole.map_err(|e| self.place.fault(&e))
    }
}

/// The message of a run, where it has one yet.
pub(super) fn message(connection: &Connection, no: i64) -> Result<Option<Message>, rusqlite::Error> {
    let mut one = connection.prepare_cached("SELECT content, candidate, finalized, status, reason FROM messages WHERE run = ?1")?;
    let read = |row: &Row<'_>| {
        Ok(Message {
            content: perhaps(row, 0)?,
            candidate: perhaps(row, 1)?,
            finalized: row.get(2)?,
            status: named(row, 3, Status::named)?,
            reason: named(row, 4, Reason::named)?,
        })
    };
    one.query_row([no], read).optional()
}

fn event<'row>(row: &'row Row<'_>) -> Result<(u32, Link, &'row str), rusqlite::Error> {
    let text = row.get_ref(3)?.as_str().map_err(|e| rusqlite::Error::FromSqlConversionFailure(3, Type::Text, e.into()))?;
    Ok((row.get(1)?, row.get(2)?, text))
}

fn summary(row: &Row<'_>) -> Result<RunSummary, rusqlite::Error> {
    let started_ms = row.get(7)?;
    Ok(RunSummary {
        run: text(row, 0)?,
        conversation: perhaps(row, 1)?,
        message: perhaps(row, 2)?,
        owner: perhaps(row, 10)?,
        profile: perhaps(row, 11)?,
        mode: text(row, 3)?,
        title: text(row, 4)?,
        status: named(row, 5, Status::named)?.unwrap_or(Status::InProgress),
        reason: named(row, 6, Reason::named)?,
        started_ms,
        changed_ms: row.get::<_, Option<u64>>(8)?.unwrap_or(started_ms),
        seq: row.get::<_, Option<u32>>(9)?.unwrap_or(0),
    })
}

fn text(row: &Row<'_>, at: usize) -> Result<Str, rusqlite::Error> {
    row.get::<_, String>(at).map(Str::from)
}

fn perhaps(row: &Row<'_>, at: usize) -> Result<Option<Str>, rusqlite::Error> {
    Ok(row.get::<_, Option<String>>(at)?.map(Str::from))
}

/// A name on the wire. One that this version does not know is an error: a status is never guessed.
pub(super) fn named<T>(row: &Row<'_>, at: usize, of: impl Fn(&str) -> Option<T>) -> Result<Option<T>, rusqlite::Error> {
    let Some(name) = row.get::<_, Option<String>>(at)? else { return Ok(None) };
    let unknown = || rusqlite::Error::FromSqlConversionFailure(at, Type::Text, format!("`{name}` is no known status or reason").into());
    of(&name).map(Some).ok_or_else(unknown)
}
