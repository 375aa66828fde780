//! The one thread that writes. Everything that waits goes into one transaction, so that one trip to the disk
//! acknowledges all of it.

use super::fault::Place;
use crate::journal::chain::{Chain, Link};
use crate::journal::projection::{Message, RunSummary};
use crate::journal::{Batch, JournalError};
use countersign_core::{Event, Final, NodeId, Record, Str};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, named_params, params};
use std::sync::{Arc, mpsc};
use tokio::sync::{oneshot, watch};

/// Most jobs in one transaction.
const GROUP_MAX: usize = 512;

/// Something to write, and whom to tell.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) done: oneshot::Sender<Result<(), JournalError>>,
}

/// What is written.
pub(super) enum Work {
    Append {
        run: Str,
        expected: u32,
        /// Each with its text: made by whoever appends, so that the writer has less to do.
        records: Vec<(Arc<Record>, String)>,
        answer: Option<Final>,
    },
    Keep {
        run: Str,
        call: NodeId,
        whole: Str,
    },
}

impl Work {
    pub(super) fn append(batch: Batch<'_>) -> Result<Self, JournalError> {
        let written = |record: &Arc<Record>| {
            let text = serde_json::to_string(&**record).map_err(|e| JournalError::Store(format!("event {} cannot be written: {e}", record.seq)))?;
            Ok((record.clone(), text))
        };
        let records = batch.records.iter().map(written).collect::<Result<_, JournalError>>()?;
        Ok(Self::Append { run: batch.run.clone(), expected: batch.expected, records, answer: batch.answer.cloned() })
    }
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) place: Place,
    pub(super) chain: Chain,
    /// Counts transactions, for those who wait for news.
    pub(super) committed: watch::Sender<u64>,
}

impl Writer {
    /// Writes until nobody can hand over anything any more.
    pub(super) fn work(mut self, jobs: &mpsc::Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut group = vec![first];
            while group.len() < GROUP_MAX
                && let Ok(next) = jobs.try_recv()
            {
                group.push(next);
            }
            self.commit(group);
        }
    }

    /// One transaction. Where it fails as a whole, each job gets one of its own: one that does not fit must not
    /// take the others with it.
    fn commit(&mut self, mut group: Vec<Job>) {
        match self.transact(&group) {
            Ok(results) => {
                for (job, result) in group.into_iter().zip(results) {
                    let _ = job.done.send(result);
                }
                self.committed.send_modify(|count| *count += 1);
            }
            Err(why) if group.len() == 1 => {
                for job in group {
                    let _ = job.done.send(Err(why.clone()));
                }
            }
            Err(_) => {
                for job in group.drain(..) {
                    self.commit(vec![job]);
                }
            }
        }
    }

    fn transact(&mut self, group: &[Job]) -> Result<Vec<Result<(), JournalError>>, JournalError> {
        let fault = |e: rusqlite::Error| self.place.fault(&e);
        // At once for writing: the look at where a run stands and the append are one step, for other processes too.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        let mut results = Vec::with_capacity(group.len());
        for job in group {
            let done = match &job.work {
                Work::Append { run, expected, records, answer } => {
                    append(&transaction, &self.chain, run, *expected, records, answer.as_ref()).map_err(fault)?
                }
                Work::Keep { run, call, whole } => {
                    let mut keep =
                        transaction.prepare_cached("INSERT OR REPLACE INTO outputs (run, call, whole) VALUES (?1, ?2, ?3)").map_err(fault)?;
                    keep.execute(params![&**run, call.0, &**whole]).map_err(fault)?;
                    Ok(())
                }
            };
            results.push(done);
        }
        transaction.commit().map_err(fault)?;
        Ok(results)
    }
}

/// Where a run stands: its number, the number of its last event, and that event's link.
struct At {
    no: i64,
    seq: u32,
    head: Link,
}

/// One append. The outer error fails the transaction; the inner one is the caller's own, and has changed nothing.
fn append(
    connection: &Connection,
    chain: &Chain,
    run: &Str,
    expected: u32,
    records: &[(Arc<Record>, String)],
    answer: Option<&Final>,
) -> Result<Result<(), JournalError>, rusqlite::Error> {
    let mut find = connection.prepare_cached("SELECT no, seq, head FROM runs WHERE run = ?1")?;
    let found = find.query_row([&**run], |row| Ok(At { no: row.get(0)?, seq: row.get(1)?, head: row.get(2)? })).optional()?;
    let at = found.as_ref().map_or(0, |at| at.seq);
    if at != expected {
        return Ok(Err(JournalError::Stale { run: run.clone(), expected, at }));
    }
    let Some((last, _)) = records.last() else { return Ok(Ok(())) };
    let mut at = match found {
        Some(at) => at,
        None => match records.first().and_then(|(first, _)| RunSummary::begin(first)) {
            Some(summary) => At { no: begin(connection, &summary)?, seq: 0, head: chain.start(run) },
            None => return Ok(Err(JournalError::Store(format!("the log of run `{run}` does not begin with `run_started`")))),
        },
    };
    let mut add = connection.prepare_cached("INSERT INTO events (run, seq, link, body) VALUES (?1, ?2, ?3, ?4)")?;
    for (record, text) in records {
        if record.seq != at.seq + 1 {
            let why = format!("event {} of run `{run}` does not follow event {}", record.seq, at.seq);
            return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
        }
        (at.seq, at.head) = (record.seq, chain.link(&at.head, text));
        add.execute(params![at.no, at.seq, at.head, text])?;
    }
    stand(connection, &at, last)?;
    tell(connection, at.no, records, answer)?;
    Ok(Ok(()))
}

/// The line of a new run.
fn begin(connection: &Connection, run: &RunSummary) -> Result<i64, rusqlite::Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO runs (run, conversation, message, mode, title, status, started_ms, changed_ms, seq, head)
         VALUES (:run, :conversation, :message, :mode, :title, :status, :at_ms, :at_ms, 0, x'')",
    )?;
    insert.execute(named_params! {
        ":run": &*run.run,
        ":conversation": run.conversation.as_deref(),
        ":message": run.message.as_deref(),
        ":mode": &*run.mode,
        ":title": &*run.title,
        ":status": run.status.name(),
        ":at_ms": run.started_ms,
    })?;
    Ok(connection.last_insert_rowid())
}

/// How the run stands after its newest event.
fn stand(connection: &Connection, at: &At, last: &Record) -> Result<(), rusqlite::Error> {
    let (status, reason) = RunSummary::standing(last);
    let mut update = connection.prepare_cached("UPDATE runs SET seq = ?2, head = ?3, changed_ms = ?4, status = ?5, reason = ?6 WHERE no = ?1")?;
    update.execute(params![at.no, at.seq, at.head, last.at_ms, status.name(), reason.map(|r| r.name())])?;
    Ok(())
}

/// What the run's message holds, where the records change that.
fn tell(connection: &Connection, no: i64, records: &[(Arc<Record>, String)], answer: Option<&Final>) -> Result<(), rusqlite::Error> {
    let concerns = |(record, _): &&(Arc<Record>, String)| matches!(record.event, Event::CandidateMade(_) | Event::Decided { .. });
    if !records.iter().any(|r| concerns(&r)) {
        return Ok(());
    }
    let mut message = super::read::message(connection, no)?.unwrap_or_default();
    let mut changed = false;
    for (record, _) in records.iter().filter(concerns) {
        changed |= message.take(record, answer);
    }
    if changed { write_message(connection, no, &message) } else { Ok(()) }
}

fn write_message(connection: &Connection, no: i64, message: &Message) -> Result<(), rusqlite::Error> {
    let mut write = connection
        .prepare_cached("INSERT OR REPLACE INTO messages (run, content, candidate, finalized, status, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    let (status, reason) = (message.status.map(|s| s.name()), message.reason.map(|r| r.name()));
    write.execute(params![no, message.content.as_deref(), message.candidate.as_deref(), message.finalized, status, reason])?;
    Ok(())
}
