//! Batches: a queue of tasks, so many at a time, with a decision for each.
//!
//! The queue lives in this process. What it has started lives in the journal like every other run, and goes on after a
//! restart; what it had not started by then has to be handed in again.

use crate::access::{Who, random_name};
use crate::problem::Problem;
use crate::runs::{Order, Runs};
use countersign::Str;
use dashmap::DashMap;
use futures_util::StreamExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most tasks of one batch.
pub const TASKS_MAX: usize = 1_000;

/// Most batches that are remembered. The oldest that are done make room.
const BATCHES_MAX: usize = 1_000;

/// How long a task waits before it is tried again, where too many runs are under way.
const PATIENCE: Duration = Duration::from_millis(200);

/// Where one task of a batch stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// It waits for its turn.
    Queued,
    /// It is this run.
    Started(Str),
    /// It could not be started.
    Refused(String),
}

/// A queue of tasks.
pub struct Batch {
    who: Who,
    items: Mutex<Vec<Item>>,
}

impl Batch {
    /// Where each task stands, in the order in which they were handed in.
    pub fn items(&self) -> Vec<Item> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, at: usize, item: Item) {
        if let Some(place) = self.lock().get_mut(at) {
            *place = item;
        }
    }

    fn is_queued(&self) -> bool {
        self.lock().contains(&Item::Queued)
    }
}

/// Every batch that this process has begun.
#[derive(Default)]
pub struct Batches(DashMap<String, Arc<Batch>>);

impl Batches {
    /// Begins a batch, and says what it is called. Each of its tasks fills the message `BATCH/NUMBER`, from 1.
    pub fn begin(&self, runs: &Arc<Runs>, who: &Who, orders: Vec<Order>, at_a_time: usize) -> Result<String, Problem> {
        if orders.is_empty() || orders.len() > TASKS_MAX {
            return Err(Problem::Refused(format!("`tasks` has {}; a batch has from 1 to {TASKS_MAX}", orders.len())));
        }
        if self.0.len() >= BATCHES_MAX {
            self.0.retain(|_, batch| batch.is_queued());
        }
        if self.0.len() >= BATCHES_MAX {
            return Err(Problem::Busy(format!("{BATCHES_MAX} batches have tasks that wait; try again when one has none")));
        }
        let id = format!("batch-{}", random_name().map_err(Problem::Busy)?);
        let batch = Arc::new(Batch { who: who.clone(), items: Mutex::new(vec![Item::Queued; orders.len()]) });
        self.0.insert(id.clone(), batch.clone());
        tokio::spawn(work_off(runs.clone(), batch, name(&id, orders), at_a_time.max(1)));
        Ok(id)
    }

    /// A batch, for whoever began it. Another's is not there.
    pub fn owned(&self, who: &Who, id: &str) -> Result<Arc<Batch>, Problem> {
        let found = self.0.get(id).map(|batch| batch.clone()).filter(|batch| batch.who == *who);
        found.ok_or_else(|| Problem::Missing {
            what: "batch",
            name: id.to_owned(),
            way_out: "a batch is known until the server is restarted".to_owned(),
        })
    }
}

fn name(id: &str, orders: Vec<Order>) -> Vec<Order> {
    let named = |(at, order): (usize, Order)| Order { message: Some(format!("{id}/{}", at + 1).into()), ..order };
    orders.into_iter().enumerate().map(named).collect()
}

/// Starts each task in its turn, and waits until it ends or parks: a parked run holds nobody up.
async fn work_off(runs: Arc<Runs>, batch: Arc<Batch>, orders: Vec<Order>, at_a_time: usize) {
    let one = |(at, order): (usize, Order)| {
        let (runs, batch) = (runs.clone(), batch.clone());
        async move {
            match begin(&runs, &batch.who, order).await {
                Ok(run) => {
                    batch.set(at, Item::Started(run.clone()));
                    runs.rest(&run).await;
                }
                Err(why) => batch.set(at, Item::Refused(why.to_string())),
            }
        }
    };
    futures_util::stream::iter(orders.into_iter().enumerate()).for_each_concurrent(at_a_time, one).await;
}

async fn begin(runs: &Arc<Runs>, who: &Who, order: Order) -> Result<Str, Problem> {
    loop {
        match runs.start(who, order.clone()).await {
            Err(Problem::Busy(_)) => tokio::time::sleep(PATIENCE).await,
            done => return done.map(|run| run.run),
        }
    }
}
