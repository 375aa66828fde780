//! The one task that writes. Everything that waits goes into one statement, so that one trip to the server, and one of
//! the server to its disk, acknowledges all of it.

use super::append::{Append, Columns};
use super::place::Trouble;
use super::session::{Line, Patience, Query};
use super::text::{stored, told};
use countersign::journal::chain::{Chain, Link};
use countersign::{JournalError, Str};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Row;

/// Most appends in one statement, and most that wait for their turn before whoever appends has to wait as well.
pub(super) const GROUP_MAX: usize = 512;

/// Most runs of which the writer remembers where they stand.
const HEADS_MAX: usize = 10_000;

/// Something to write, and whom to tell.
pub(super) struct Job {
    pub(super) append: Append,
    pub(super) done: oneshot::Sender<Result<(), JournalError>>,
}

impl Job {
    fn answer(self, answer: Result<(), JournalError>) {
        // Whoever does not wait any more need not be told.
        let _ = self.done.send(answer);
    }

    fn stale(self, at: u32) {
        let why = JournalError::Stale { run: self.append.run.clone(), expected: self.append.expected, at };
        self.answer(Err(why));
    }
}

pub(super) struct Writer {
    line: Line,
    chain: Chain,
    /// Who writes, to others that share the journal.
    driver: i64,
    /// How far runs were when this writer last saw them, and the link there. The statement checks both.
    heads: FxHashMap<Str, (u32, Link)>,
}

impl Writer {
    pub(super) fn new(line: Line, chain: Chain, driver: i64) -> Self {
        Self { line, chain, driver, heads: FxHashMap::default() }
    }

    /// Writes until nobody can hand over anything any more.
    pub(super) async fn work(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                let Some(job) = jobs.recv().await else { return };
                waiting.push_back(job);
            }
            while waiting.len() < GROUP_MAX
                && let Ok(job) = jobs.try_recv()
            {
                waiting.push_back(job);
            }
            let group = one_each(&mut waiting);
            self.settle(group).await;
        }
    }

    /// Sees to it that each is kept, or told why not.
    async fn settle(&mut self, group: Vec<Job>) {
        if self.heads.len() > HEADS_MAX {
            self.heads.clear();
        }
        let mut patience = Patience::new(self.line.door.patience);
        let (mut open, mut seen) = (group, false);
        while !open.is_empty() {
            let step = tokio::time::timeout_at(patience.until, self.step(&mut open, seen)).await;
            // From the second step on it is not known what the server has of them: it is looked at first.
            seen = true;
            let why = match step {
                Ok(Ok(())) => continue,
                Ok(Err(Trouble::Lost(why))) if !patience.pause().await => why,
                Ok(Err(Trouble::Lost(_))) => continue,
                Ok(Err(Trouble::Refused(why))) if open.len() > 1 && matches!(why, JournalError::Store(_)) => return self.one_by_one(open).await,
                Ok(Err(Trouble::Refused(why))) => why,
                Err(_) => self.line.silent().await,
            };
            open.drain(..).for_each(|job| job.answer(Err(why.clone())));
        }
    }

    /// One that does not fit must not take the others with it.
    async fn one_by_one(&mut self, group: Vec<Job>) {
        for job in group {
            Box::pin(self.settle(vec![job])).await;
        }
    }

    /// One look where one is needed, and one statement. What is settled by them is taken out of `open` and told.
    async fn step(&mut self, open: &mut Vec<Job>, look: bool) -> Result<(), Trouble> {
        let unknown: Vec<Str> = open.iter().filter(|job| look || self.unknown(&job.append)).map(|job| job.append.run.clone()).collect();
        if !unknown.is_empty() {
            let stands = self.look(&unknown).await?;
            *open = self.sort_out(std::mem::take(open), &unknown, &stands);
        }
        if open.is_empty() {
            return Ok(());
        }
        let mut columns = Columns::by(self.driver);
        let heads: Vec<Link> = open.iter().map(|job| columns.push(&job.append, &self.chain, self.before(&job.append))).collect();
        let rows = self.line.try_ask(Query::Append, &columns.values()).await?;
        let kept = rows.iter().map(|row| row.try_get(0)).collect::<Result<FxHashSet<i64>, _>>().map_err(|e| self.strange(&e))?;
        drop(columns);
        for (at, (job, head)) in (1..).zip(std::mem::take(open).into_iter().zip(heads)) {
            if kept.contains(&at) {
                self.heads.insert(job.append.run.clone(), (job.append.last(), head));
                job.answer(Ok(()));
            } else {
                open.push(job);
            }
        }
        Ok(())
    }

    /// Whether it has to be looked where the run is before anything can be said or written.
    fn unknown(&self, append: &Append) -> bool {
        let known = self.heads.get(&append.run).is_some_and(|(seq, _)| *seq == append.expected);
        append.is_empty() || append.flaw.is_some() || append.expected > 0 && !known
    }

    /// The link after which an append goes on.
    fn before(&self, append: &Append) -> Link {
        match self.heads.get(&append.run) {
            Some((seq, head)) if append.expected > 0 && *seq == append.expected => *head,
            _ => self.chain.start(&append.run),
        }
    }

    /// Where runs are, with the token of the append that brought them there.
    async fn look(&mut self, runs: &[Str]) -> Result<FxHashMap<Str, (u32, i64)>, Trouble> {
        let names: Vec<_> = runs.iter().map(|run| stored(run)).collect();
        let mut stands = FxHashMap::default();
        for row in self.line.try_ask(Query::Stand, &[&names]).await? {
            let (run, seq, head, token) = stand(&row).map_err(|e| self.strange(&e))?;
            self.heads.insert(run.clone(), (seq, head));
            stands.insert(run, (seq, token));
        }
        Ok(stands)
    }

    fn strange(&self, error: &tokio_postgres::Error) -> Trouble {
        Trouble::Refused(self.line.door.place.unreadable(error.to_string()))
    }

    /// Tells those of which the look has shown what becomes of them, and returns the others.
    fn sort_out(&self, open: Vec<Job>, looked: &[Str], stands: &FxHashMap<Str, (u32, i64)>) -> Vec<Job> {
        let mut left = Vec::new();
        for job in open {
            let (at, token) = stands.get(&job.append.run).copied().map_or((0, None), |(at, token)| (at, Some(token)));
            match job.append.flaw.clone() {
                _ if !looked.contains(&job.append.run) => left.push(job),
                _ if token == Some(job.append.token) => job.answer(Ok(())),
                _ if at != job.append.expected => job.stale(at),
                Some(flaw) => job.answer(Err(flaw)),
                None if job.append.is_empty() => job.answer(Ok(())),
                None => left.push(job),
            }
        }
        left
    }
}

/// A row of `STAND`.
fn stand(row: &Row) -> Result<(Str, u32, Link, i64), tokio_postgres::Error> {
    let seq = u32::try_from(row.try_get::<_, i64>(1)?).unwrap_or(u32::MAX);
    let head = Link::try_from(row.try_get::<_, &[u8]>(2)?).unwrap_or_default();
    Ok((told(row.try_get(0)?), seq, head, row.try_get(3)?))
}

/// Takes the first append of each run. The others follow it, or find that it came first.
fn one_each(waiting: &mut VecDeque<Job>) -> Vec<Job> {
    let mut runs = FxHashSet::default();
    let (group, rest) = waiting.drain(..).partition::<Vec<_>, _>(|job| runs.insert(job.append.run.clone()));
    waiting.extend(rest);
    group
}
