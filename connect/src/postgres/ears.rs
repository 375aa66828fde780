//! Who waits for news of which run, and the connection on which the server tells it.

use super::place::Trouble;
use super::session::{Door, Pause};
use countersign::journal::chain::Chain;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

/// What stands for a run in a notification: eight hexadecimal digits. Two runs that share them wake each other.
pub(super) fn mark(run: &str) -> String {
    Chain::plain().start(run).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// What stands for posts in a notification. No run is marked so.
pub(super) const POSTS: &str = "posts";

/// Those who wait for news.
#[derive(Default)]
pub(super) struct Ears {
    waiting: Mutex<FxHashMap<String, Vec<oneshot::Sender<()>>>>,
    hears: AtomicBool,
}

impl Ears {
    /// Waits for news of a run, from now on.
    pub(super) fn wait(&self, run: &str) -> oneshot::Receiver<()> {
        self.wait_for(&mark(run))
    }

    /// Waits until a mark is told, from now on.
    pub(super) fn wait_for(&self, mark: &str) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let those = waiting.entry(mark.to_owned()).or_default();
        those.retain(|other| !other.is_closed());
        those.push(tell);
        told
    }

    /// Whether the server can be heard.
    pub(super) fn hears(&self) -> bool {
        self.hears.load(Ordering::Relaxed)
    }

    /// There is news of the runs with these marks.
    pub(super) fn hear(&self, marks: &str) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        marks.split(' ').filter_map(|mark| waiting.remove(mark)).flatten().for_each(|tell| {
            // Whoever does not wait any more need not be told.
            let _ = tell.send(());
        });
    }

    /// From now on, or no longer. Whoever waits looks for himself what he has missed.
    fn set(&self, hears: bool) {
        self.hears.store(hears, Ordering::Relaxed);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The connection on which the server tells of news. With a driver, it is also what shows others that this process is
/// alive.
pub(super) struct Listener {
    door: Arc<Door>,
    ears: Arc<Ears>,
    driver: Option<i64>,
    open: Option<(Client, JoinHandle<()>)>,
}

impl Listener {
    /// Nothing is heard before [`Listener::listen`].
    pub(super) fn new(door: Arc<Door>, ears: Arc<Ears>, driver: Option<i64>) -> Self {
        Self { door, ears, driver, open: None }
    }

    /// Connects. A driver is known to be alive from here on.
    pub(super) async fn begin(&mut self) -> Result<(), Trouble> {
        let (client, wire) = self.door.connect(Some(self.ears.clone())).await?;
        let trouble = |e: tokio_postgres::Error| self.door.place.trouble(&e);
        client.batch_execute(&format!("LISTEN \"{}\"", self.door.schema)).await.map_err(trouble)?;
        if let Some(driver) = self.driver {
            // Where an older connection of this process is not yet known to be gone, its end is waited for.
            client.execute("SELECT pg_advisory_lock($1::bigint)", &[&driver]).await.map_err(trouble)?;
        }
        self.open = Some((client, wire));
        Ok(())
    }

    /// Listens, and goes on listening after a lost connection, until it is told to stop.
    pub(super) async fn listen(mut self) {
        let mut pause = Pause::default();
        loop {
            if let Some((client, wire)) = self.open.take() {
                pause = Pause::default();
                self.ears.set(true);
                let _ = wire.await;
                self.ears.set(false);
                drop(client);
            }
            pause.wait().await;
            // What cannot be reached is tried again.
            let _ = self.begin().await;
        }
    }
}
