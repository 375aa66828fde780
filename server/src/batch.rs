//! Batches: a queue of tasks, so many at a time, with a decision for each.
//!
//! What was accepted is kept beside the runs, where the journal can do that, before it is said to be. Each task is a run
//! whose name says which, so that what has begun is known from the runs alone: whoever comes after a process that is
//! gone, this server or another, goes on with the rest.

use crate::access::{Who, random_name};
use crate::hub::Follow;
use crate::problem::Problem;
use crate::runs::{LOOK, Order, Runs};
use countersign::journal::projection::RunSummary;
use countersign::{JournalError, Status, Str};
use dashmap::DashMap;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most tasks of one batch.
pub const TASKS_MAX: usize = 1_000;

/// Most batches that are remembered. The oldest that are done make room.
const BATCHES_MAX: usize = 1_000;

/// How long a task waits before it is tried again, where too many runs are under way.
const PATIENCE: Duration = Duration::from_millis(200);

/// Where one task of a batch stands.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// It waits for its turn.
    Queued,
    /// It is this run.
    Started(Box<RunSummary>),
    /// It could not be started.
    Refused(String),
}

/// What was accepted. It never changes.
#[derive(Serialize, Deserialize)]
struct Accepted {
    who: Who,
    at_a_time: usize,
    orders: Vec<Order>,
}

/// A queue of tasks.
pub struct Batch {
    id: String,
    accepted: Accepted,
    /// Why tasks could not be started, as far as this process has tried.
    refused: Mutex<BTreeMap<usize, String>>,
    /// Whether this process has tried each of them.
    done: AtomicBool,
}

impl Batch {
    fn new(id: &str, accepted: Accepted) -> Arc<Self> {
        Arc::new(Self { id: id.to_owned(), accepted, refused: Mutex::default(), done: AtomicBool::new(false) })
    }

    /// What its runs are called, from 1.
    fn run(&self, at: usize) -> String {
        format!("{}-{}", self.id, at + 1)
    }

    /// Where each task stands, in the order in which they were handed in.
    pub async fn items(&self, runs: &Runs) -> Result<Vec<Item>, Problem> {
        let mut items = Vec::new();
        for at in 0..self.accepted.orders.len() {
            let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
            items.push(match (refused, runs.journal().summary(&self.run(at)).await?) {
                (_, Some(run)) => Item::Started(Box::new(run)),
                (Some(why), None) => Item::Refused(why),
                (None, None) => Item::Queued,
            });
        }
        Ok(items)
    }

    fn refuse(&self, at: usize, why: &Problem) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(at, why.to_string());
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::SeqCst)
    }
}

/// The batches that this process works off, or has worked off.
#[derive(Clone, Default)]
pub struct Batches(Arc<DashMap<String, Arc<Batch>>>);

impl Batches {
    /// Accepts a batch, and says what it is called. Each of its tasks fills the message `BATCH/NUMBER`, from 1.
    pub async fn begin(&self, runs: &Arc<Runs>, who: &Who, orders: Vec<Order>, at_a_time: usize) -> Result<String, Problem> {
        if orders.is_empty() || orders.len() > TASKS_MAX {
            return Err(Problem::Refused(format!("`tasks` has {}; a batch has from 1 to {TASKS_MAX}", orders.len())));
        }
        if runs.is_leaving() {
            return Err(Problem::Leaving);
        }
        if self.0.len() >= BATCHES_MAX {
            self.0.retain(|_, batch| !batch.is_done());
        }
        if self.0.len() >= BATCHES_MAX {
            return Err(Problem::Busy(format!("{BATCHES_MAX} batches have tasks that wait; try again when one has none")));
        }
        let id = format!("batch-{}", random_name().map_err(Problem::Busy)?);
        let accepted = Accepted { who: who.clone(), at_a_time: at_a_time.max(1), orders: name(&id, orders) };
        if let Some(queues) = runs.journal().queues() {
            let text = serde_json::to_string(&accepted).map_err(|why| JournalError::Store(why.to_string()))?;
            queues.keep(&id, &text).await?;
        }
        self.work(runs, Batch::new(&id, accepted));
        Ok(id)
    }

    /// A batch, for whoever began it. Another's is not there.
    pub async fn owned(&self, runs: &Runs, who: &Who, id: &str) -> Result<Arc<Batch>, Problem> {
        let here = self.0.get(id).map(|batch| batch.clone());
        let batch = match (here, runs.journal().queues()) {
            (None, Some(queues)) => queues.text(id).await?.map(|text| read(id, &text)).transpose()?,
            (here, _) => here,
        };
        batch.filter(|batch| batch.accepted.who == *who).ok_or_else(|| Problem::Missing {
            what: "batch",
            name: id.to_owned(),
            way_out: "`POST /api/batches` says what a batch is called".to_owned(),
        })
    }

    /// Goes on with what processes that are gone have accepted: now, and, where others share the journal, from now on.
    pub(crate) async fn recover(&self, runs: &Arc<Runs>) -> Result<(), Problem> {
        self.inherit(runs).await?;
        if runs.journal().peers().is_some() {
            let (batches, runs) = (self.clone(), runs.clone());
            tokio::spawn(async move {
                while !runs.is_leaving() {
                    tokio::time::sleep(LOOK).await;
                    batches.inherit(&runs).await.unwrap_or_else(|why| tracing::warn!(%why, "batches of others cannot be looked for"));
                }
            });
        }
        Ok(())
    }

    async fn inherit(&self, runs: &Arc<Runs>) -> Result<(), Problem> {
        let Some(queues) = runs.journal().queues() else { return Ok(()) };
        for (id, text) in queues.take().await? {
            match read(&id, &text) {
                Ok(batch) => self.work(runs, batch),
                Err(why) => tracing::error!(batch = &*id, %why, "a batch cannot be gone on with"),
            }
        }
        Ok(())
    }

    fn work(&self, runs: &Arc<Runs>, batch: Arc<Batch>) {
        self.0.insert(batch.id.clone(), batch.clone());
        tokio::spawn(work_off(runs.clone(), batch));
    }
}

fn read(id: &str, text: &str) -> Result<Arc<Batch>, Problem> {
    let accepted = serde_json::from_str(text).map_err(|why| JournalError::Store(format!("batch `{id}` cannot be read: {why}")))?;
    Ok(Batch::new(id, accepted))
}

fn name(id: &str, orders: Vec<Order>) -> Vec<Order> {
    let named = |(at, order): (usize, Order)| Order { message: Some(format!("{id}/{}", at + 1).into()), ..order };
    orders.into_iter().enumerate().map(named).collect()
}

/// Starts each task in its turn, and waits until it ends or parks: a parked run holds nobody up.
async fn work_off(runs: Arc<Runs>, batch: Arc<Batch>) {
    let (all, left) = (0..batch.accepted.orders.len(), &AtomicBool::new(false));
    let one = |at: usize| {
        let (runs, batch) = (runs.clone(), batch.clone());
        async move {
            match turn(&runs, &batch, at).await {
                Ok(()) => {}
                // Whoever comes next goes on with it.
                Err(Problem::Leaving | Problem::Journal(_) | Problem::Drive(_)) => left.store(true, Ordering::SeqCst),
                Err(why) => batch.refuse(at, &why),
            }
        }
    };
    futures_util::stream::iter(all).for_each_concurrent(batch.accepted.at_a_time, one).await;
    batch.done.store(true, Ordering::SeqCst);
    if let Some(queues) = runs.journal().queues().filter(|_| !left.load(Ordering::SeqCst))
        && let Err(why) = queues.done(&batch.id).await
    {
        tracing::warn!(batch = batch.id, %why, "a batch that is done will be looked at again");
    }
}

/// One task, until its run ends or parks. One that had begun before may be under way anywhere.
async fn turn(runs: &Arc<Runs>, batch: &Batch, at: usize) -> Result<(), Problem> {
    let id = batch.run(at);
    if let Some(run) = runs.journal().summary(&id).await? {
        if run.status == Status::InProgress {
            let mut reader = runs.follow(&run, run.seq, Follow::ToRest).await?;
            while !runs.is_leaving() && reader.next().await.is_some() {}
        }
        return Ok(());
    }
    let Some(order) = batch.accepted.orders.get(at) else { return Ok(()) };
    let run = begin(runs, &batch.accepted.who, &id, order).await?;
    runs.rest(&run).await;
    Ok(())
}

async fn begin(runs: &Arc<Runs>, who: &Who, id: &str, order: &Order) -> Result<Str, Problem> {
    loop {
        match runs.start_as(id, who, order.clone()).await {
            Err(Problem::Busy(_)) => tokio::time::sleep(PATIENCE).await,
            done => return done.map(|run| run.run),
        }
    }
}
