//! One hub a run: its records become frames once, and every reader has a place of its own among them.
//!
//! ```text
//! driver of this process ─┐
//! journal (any process) ──┴─▶ pump ──▶ ring of frames ──▶ reader, reader, reader
//!                                        └─ what fell out of it is read from the journal again
//! ```
//!
//! Nobody waits for a reader. A slow one falls out of the ring and catches up from the journal: it loses no event,
//! and is told that it missed previews.

mod catch_up;
mod pump;
mod reader;
mod ring;

pub use reader::{Follow, Reader};

use crate::redact::Redactor;
use crate::wire::Phase;
use countersign::{EventStream, Gate, Journal, Str};
use pump::Pump;
use ring::Ring;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, watch};

/// What a run's readers share.
pub struct Hub {
    pub(crate) run: Str,
    pub(crate) gate: Arc<Gate>,
    pub(crate) journal: Arc<dyn Journal>,
    redactor: Redactor,
    ring: Mutex<Ring>,
    /// How many frames there have been; wakes readers.
    tip: watch::Sender<u64>,
    drivers: mpsc::UnboundedSender<EventStream>,
}

impl Hub {
    /// Begins to follow a run, from its first event.
    pub fn open(run: Str, gate: Arc<Gate>, journal: Arc<dyn Journal>, redactor: Redactor) -> Arc<Self> {
        let (drivers, attached) = mpsc::unbounded_channel();
        let hub = Arc::new(Self { run, gate, journal, redactor, ring: Mutex::default(), tip: watch::channel(0).0, drivers });
        tokio::spawn(Pump::new(&hub, attached).run());
        hub
    }

    /// A driver of this process is at work: its events come from it, and pieces of text with them.
    pub fn attach(&self, events: EventStream) {
        // The pump ends with the run, or when nobody has hold of the hub.
        let _ = self.drivers.send(events);
    }

    /// A reader that has seen everything up to an event; 0 for nothing.
    pub fn reader(self: &Arc<Self>, after: u32, follow: Follow) -> Reader {
        Reader::new(self.clone(), after, follow)
    }

    /// Where the run's card stands, as far as the hub has read.
    pub fn phase(&self) -> Phase {
        self.ring().phase
    }

    /// The newest event that the hub has read.
    pub fn seq(&self) -> u32 {
        self.ring().seq
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the ring, and wakes readers.
    fn change(&self, change: impl FnOnce(&mut Ring)) {
        let next = {
            let mut ring = self.ring();
            change(&mut ring);
            ring.next()
        };
        self.tip.send_replace(next);
    }
}
