//! The one thread that writes. Everything that waits goes into one transaction, so that one trip to the disk
//! acknowledges all of it.

use super::Shared;
use super::places::{self, NEWEST, TAIL};
use super::recent::Recent;
use super::room::Room;
use super::slip::{Teller, answer_all};
use crate::journal::chain::{Chain, Link};
use crate::journal::projection::{Message, RunSummary};
use crate::journal::{Batch, JournalError};
use countersign_core::{Event, Final, NodeId, Reason, Record, Status, Str};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, TransactionBehavior, named_params, params};
use rustc_hash::FxHashMap;
use std::sync::{Arc, mpsc};
use tokio::sync::watch;

/// Most jobs in one transaction.
const GROUP_MAX: usize = 512;

/// Most runs of which the writer remembers where they stand.
const STANDS_MAX: usize = 10_000;

/// Something to write, and whom to tell.
pub(super) struct Job {
    pub(super) append: Append,
    pub(super) done: Teller,
}

/// What is written: records to append, and what comes with them.
pub(super) struct Append {
    run: Str,
    expected: u32,
    /// Each with its text: made by whoever appends, so that the writer has less to do.
    records: Vec<(Arc<Record>, String)>,
    outputs: Vec<(NodeId, Str)>,
    answer: Option<Final>,
}

impl Append {
    pub(super) fn new(batch: Batch<'_>) -> Result<Self, JournalError> {
        let written = |record: &Arc<Record>| {
            let text = serde_json::to_string(&**record).map_err(|e| JournalError::Store(format!("event {} cannot be written: {e}", record.seq)))?;
            Ok((record.clone(), text))
        };
        let records = batch.records.iter().map(written).collect::<Result<_, JournalError>>()?;
        let (run, outputs) = (batch.run.clone(), batch.outputs.to_vec());
        Ok(Self { run, expected: batch.expected, records, outputs, answer: batch.answer.cloned() })
    }
}

pub(super) struct Writer {
    connection: Connection,
    shared: Arc<Shared>,
    /// Counts transactions, for those who wait for news.
    committed: watch::Sender<u64>,
    // INVARIANT: as the file has it, while `version` is the file's `data_version`.
    known: Known,
    version: Option<i64>,
    room: Room,
}

/// What the writer remembers of the file.
#[derive(Default)]
struct Known {
    stands: FxHashMap<Str, At>,
    /// Events outside the index by run.
    outside: usize,
}

/// Where a run stands: its number, its newest event and that event's link, and what its line says of it.
#[derive(Clone)]
struct At {
    no: i64,
    seq: u32,
    head: Link,
    standing: (Status, Option<Reason>),
}

impl Writer {
    pub(super) fn new(connection: Connection, shared: Arc<Shared>, committed: watch::Sender<u64>) -> Self {
        let room = Room::new(&shared.place.0);
        Self { connection, shared, committed, known: Known::default(), version: None, room }
    }

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
        // A file that is closed has all of it in its index. Where that fails, the next writer does it.
        let _ = self.connection.transaction().and_then(|all| places::enter_all(&all).and_then(|()| all.commit()));
    }

    /// One transaction. Where it fails as a whole, each job gets one of its own: one that does not fit must not
    /// take the others with it.
    fn commit(&mut self, mut group: Vec<Job>) {
        let done = self.transact(&group);
        if done.is_err() {
            self.version = None;
        }
        match done {
            Ok(results) => {
                for (job, _) in group.iter().zip(&results).filter(|(_, done)| done.is_ok()) {
                    job.append.hand_on(&self.shared.recent);
                }
                self.committed.send_modify(|count| *count += 1);
                answer_all(group.into_iter().map(|job| job.done).zip(results));
            }
            // A file that is busy for so long is busy for each of them.
            Err(why) if group.len() == 1 || why == JournalError::Busy { place: self.shared.place.name() } => {
                answer_all(group.into_iter().map(|job| (job.done, Err(why.clone()))));
            }
            Err(_) => {
                for job in group.drain(..) {
                    self.commit(vec![job]);
                }
            }
        }
    }

    fn transact(&mut self, group: &[Job]) -> Result<Vec<Result<(), JournalError>>, JournalError> {
        let fault = |e: rusqlite::Error| self.shared.place.fault(&e);
        // At once for writing: the look at where a run stands and the append are one step, for other processes too.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        self.room.keep();
        let version = transaction.prepare_cached("PRAGMA data_version").and_then(|mut p| p.query_row([], |row| row.get(0))).map_err(fault)?;
        if self.version != Some(version) || self.known.stands.len() > STANDS_MAX {
            // Another process has written since, or too many runs are remembered.
            self.known = Known { outside: places::outside(&transaction).map_err(fault)?, ..Known::default() };
            self.version = Some(version);
        }
        let mut results = Vec::with_capacity(group.len());
        let mut add = transaction.prepare_cached("INSERT INTO events (run, seq, link, body) VALUES (?1, ?2, ?3, ?4)").map_err(fault)?;
        for job in group {
            let done = job.append.carry_out(&transaction, &mut add, &self.shared.chain, &mut self.known.stands).map_err(fault)?;
            results.push(done);
        }
        drop(add);
        let added = group.iter().zip(&results).filter(|(_, done)| done.is_ok()).map(|(job, _)| job.append.records.len()).sum::<usize>();
        transaction.prepare_cached("UPDATE seal SET events = events + ?1").and_then(|mut count| count.execute([added])).map_err(fault)?;
        self.known.outside += added;
        places::enter(&transaction, &mut self.known.outside).map_err(fault)?;
        transaction.commit().map_err(fault)?;
        Ok(results)
    }
}

impl Append {
    /// Tells those who follow the run.
    fn hand_on(&self, recent: &Recent) {
        let ends = self.records.last().is_some_and(|(last, _)| RunSummary::standing(last).is_some_and(|(status, _)| status.is_terminal()));
        recent.add(&self.run, self.records.iter().map(|(record, _)| record.clone()), ends);
    }

    /// The outer error fails the transaction; the inner one is the caller's own, and has changed nothing.
    fn carry_out(
        &self,
        connection: &Connection,
        add: &mut CachedStatement<'_>,
        chain: &Chain,
        stands: &mut FxHashMap<Str, At>,
    ) -> Result<Result<(), JournalError>, rusqlite::Error> {
        let Self { run, expected, records, outputs, answer } = self;
        let found = match stands.get(run) {
            Some(at) => Some(at.clone()),
            None => find(connection, run)?,
        };
        let seq = found.as_ref().map_or(0, |at| at.seq);
        if seq != *expected {
            return Ok(Err(JournalError::Stale { run: run.clone(), expected: *expected, at: seq }));
        }
        if records.is_empty() {
            return Ok(Ok(()));
        }
        if let Some((gap, _)) = records.iter().zip(seq + 1..).map(|((r, _), next)| (r.seq, next)).find(|(is, next)| is != next) {
            return Ok(Err(JournalError::Store(format!("event {gap} of run `{run}` stands where another belongs"))));
        }
        let mut at = match found {
            Some(at) => at,
            None => match records.first().and_then(|(first, _)| RunSummary::begin(first)).filter(|summary| summary.run == *run) {
                Some(summary) => {
                    let head = chain.start(run);
                    At { no: begin(connection, &summary, &head)?, seq: 0, head, standing: (summary.status, None) }
                }
                None => return Ok(Err(JournalError::Store(format!("the log of run `{run}` does not begin with its `run_started`")))),
            },
        };
        for (record, text) in records {
            (at.seq, at.head) = (record.seq, chain.link(&at.head, text));
            add.execute(params![at.no, at.seq, at.head, text])?;
        }
        let standing = records.iter().rev().find_map(|(record, _)| RunSummary::standing(record)).unwrap_or(at.standing);
        if standing != at.standing {
            at.standing = standing;
            stand(connection, &at)?;
        }
        for (call, whole) in outputs {
            let mut keep = connection.prepare_cached("INSERT OR REPLACE INTO outputs (run, call, whole) VALUES (?1, ?2, ?3)")?;
            keep.execute(params![&**run, call.0, &**whole])?;
        }
        tell(connection, at.no, records, answer.as_ref())?;
        stands.insert(run.clone(), at);
        Ok(Ok(()))
    }
}

/// Where a run stands, as the file has it.
fn find(connection: &Connection, run: &Str) -> Result<Option<At>, rusqlite::Error> {
    let newest = format!("{TAIL} SELECT runs.no, events.seq, link, status, reason FROM runs {NEWEST} WHERE runs.run = ?1");
    let mut find = connection.prepare_cached(&newest)?;
    let at = |row: &Row<'_>| {
        let status = super::read::named(row, 3, Status::named)?.unwrap_or(Status::InProgress);
        Ok(At { no: row.get(0)?, seq: row.get(1)?, head: row.get(2)?, standing: (status, super::read::named(row, 4, Reason::named)?) })
    };
    find.query_row([&**run], at).optional()
}

/// The line of a new run.
fn begin(connection: &Connection, run: &RunSummary, head: &Link) -> Result<i64, rusqlite::Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO runs (run, conversation, message, owner, profile, mode, title, status, started_ms, seq, head)
         VALUES (:run, :conversation, :message, :owner, :profile, :mode, :title, :status, :at_ms, 0, :head)",
    )?;
    insert.execute(named_params! {
        ":run": &*run.run,
        ":conversation": run.conversation.as_deref(),
        ":message": run.message.as_deref(),
        ":owner": run.owner.as_deref(),
        ":profile": run.profile.as_deref(),
        ":mode": &*run.mode,
        ":title": &*run.title,
        ":status": run.status.name(),
        ":at_ms": run.started_ms,
        ":head": head,
    })?;
    Ok(connection.last_insert_rowid())
}

/// How the run stands after its newest event, and how far its log goes by then. Written when that changes, which is
/// at a ruling and at the first event after one: in between, a line costs nothing.
fn stand(connection: &Connection, at: &At) -> Result<(), rusqlite::Error> {
    let (status, reason) = at.standing;
    let mut update = connection.prepare_cached("UPDATE runs SET seq = ?2, head = ?3, status = ?4, reason = ?5 WHERE no = ?1")?;
    update.execute(params![at.no, at.seq, at.head, status.name(), reason.map(|r| r.name())])?;
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
