//! What every route shares.

use crate::access::{Sessions, Tokens, Who, bearer};
use crate::batch::Batches;
use crate::pace::{Pace, Rates};
use crate::redact::Redactor;
use crate::runs::Runs;
use axum::http::HeaderMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How much at a time. Each has a default, and none is infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Bytes of a body that starts a run, and may hold images.
    pub upload_bytes: usize,
    /// Bytes of the headers of a request, its first line among them.
    pub header_bytes: usize,
    /// Connections at the same time.
    pub connections: usize,
    /// Runs under way at the same time.
    pub runs: usize,
    /// How often somebody may ask.
    pub rates: Rates,
    /// How long a connection may take to send its headers.
    pub header_patience: Duration,
    /// How long runs may go on once the server is to go down. What is not done by then goes on when it is back.
    pub drain: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            upload_bytes: 16 << 20,
            header_bytes: 16 << 10,
            connections: 10_000,
            runs: 1_000,
            rates: Rates::default(),
            header_patience: Duration::from_secs(10),
            drain: Duration::from_secs(10),
        }
    }
}

/// What every route shares. Cheap to clone.
#[derive(Clone)]
pub struct AppState {
    parts: Arc<Parts>,
}

struct Parts {
    runs: Arc<Runs>,
    tokens: Tokens,
    sessions: Sessions,
    batches: Batches,
    hosts: Vec<String>,
    bounds: Bounds,
    pace: Pace,
    leaving: watch::Sender<bool>,
}

impl AppState {
    pub(crate) fn new(runs: Arc<Runs>, tokens: Tokens, hosts: Vec<String>, bounds: Bounds) -> Self {
        let (leaving, pace) = (watch::channel(false).0, Pace::new(&bounds.rates));
        Self { parts: Arc::new(Parts { pace, runs, tokens, sessions: Sessions::default(), batches: Batches::default(), hosts, bounds, leaving }) }
    }

    /// The runs.
    pub fn runs(&self) -> &Arc<Runs> {
        &self.parts.runs
    }

    /// Tokens that open the door.
    pub fn tokens(&self) -> &Tokens {
        &self.parts.tokens
    }

    /// Sessions of the page.
    pub fn sessions(&self) -> &Sessions {
        &self.parts.sessions
    }

    /// Batches.
    pub fn batches(&self) -> &Batches {
        &self.parts.batches
    }

    /// Names under which the server may be asked, beside `localhost` and addresses.
    pub fn hosts(&self) -> &[String] {
        &self.parts.hosts
    }

    /// How much at a time.
    pub fn bounds(&self) -> &Bounds {
        &self.parts.bounds
    }

    /// How often somebody may ask.
    pub fn pace(&self) -> &Pace {
        &self.parts.pace
    }

    /// What is struck out of everything that leaves.
    pub fn redactor(&self) -> &Redactor {
        self.runs().redactor()
    }

    /// Who sent a request: by its token, or by the session of the page.
    pub fn who(&self, headers: &HeaderMap) -> Option<Who> {
        match bearer(headers) {
            Some(secret) => self.tokens().who(secret),
            None => self.sessions().who(headers),
        }
    }

    /// Ends every stream, and lets nothing new begin.
    pub fn leave(&self) {
        self.parts.leaving.send_replace(true);
    }

    /// Whether the server is going down; changes once.
    pub fn leaving(&self) -> watch::Receiver<bool> {
        self.parts.leaving.subscribe()
    }
}
