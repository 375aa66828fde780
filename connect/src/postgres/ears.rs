//! Who waits for news of which run, and the connection on which the server tells it.

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

/// Those who wait for news.
#[derive(Default)]
pub(super) struct Ears {
    waiting: Mutex<FxHashMap<String, Vec<oneshot::Sender<()>>>>,
    hears: AtomicBool,
}

impl Ears {
    /// Waits for news of a run, from now on.
    pub(super) fn wait(&self, run: &str) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let those = waiting.entry(mark(run)).or_default();
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

/// Listens, and goes on listening after a lost connection, until it is told to stop.
pub(super) async fn listen(door: Arc<Door>, ears: Arc<Ears>) {
    let mut pause = Pause::default();
    loop {
        if let Some((client, wire)) = begin(&door, &ears).await {
            pause = Pause::default();
            ears.set(true);
            let _ = wire.await;
            ears.set(false);
            drop(client);
        }
        pause.wait().await;
    }
}

async fn begin(door: &Door, ears: &Arc<Ears>) -> Option<(Client, JoinHandle<()>)> {
    let (client, wire) = door.connect(Some(ears.clone())).await.ok()?;
    client.batch_execute(&format!("LISTEN \"{}\"", door.schema)).await.ok()?;
    Some((client, wire))
}
