//! Signs of progress, each to the call that it belongs to.

use countersign::Line;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Who waits for signs of progress.
#[derive(Clone, Default)]
pub(super) struct Signs {
    listeners: Arc<Mutex<HashMap<ProgressToken, Listener>>>,
}

struct Listener {
    line: Line,
    came: Arc<Notify>,
}

/// One call's signs, for as long as this is kept.
pub(super) struct Listening {
    signs: Signs,
    token: ProgressToken,
    came: Arc<Notify>,
}

impl Signs {
    /// Listens for a call. What comes is shown on its line.
    pub(super) fn listen(&self, token: ProgressToken, line: Line) -> Listening {
        let came = Arc::new(Notify::new());
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.insert(token.clone(), Listener { line, came: came.clone() });
        Listening { signs: self.clone(), token, came }
    }

    /// A sign has come.
    pub(super) fn show(&self, said: &ProgressNotificationParam) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = listeners.get(&said.progress_token) {
            listener.line.progress(&words(said));
            listener.came.notify_one();
        }
    }
}

impl Listening {
    /// Waits for the next sign.
    pub(super) async fn next(&self) {
        self.came.notified().await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.signs.listeners.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

fn words(said: &ProgressNotificationParam) -> String {
    let of = said.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let message = said.message.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    format!("{}{of}{message}", said.progress)
}
