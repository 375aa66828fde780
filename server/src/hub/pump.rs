//! Reads a run's records, from a driver of this process or from the journal, and renders each once.

use super::Hub;
use super::ring::Entry;
use crate::wire::{Previews, Projection, WireEvent, clipped, frame, preview_frame};
use countersign::journal::tail::Tail;
use countersign::{EventStream, NodeId, Record, Str, Streamed};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;

/// Where records come from at the moment.
enum Source {
    /// A driver of this process.
    Driver(Box<EventStream>),
    /// The journal: whoever writes to it.
    Journal(Box<Tail>),
    /// The journal of a run that waits for people: looked at now and then, since another process may take it up.
    Parked {
        /// How long until the next look.
        wait: Duration,
    },
}

/// How long a parked run is not looked at, at most. What this process does to it is told at once.
const LOOK_MAX: Duration = Duration::from_secs(10);

/// What comes next.
enum Came {
    Event(Arc<Record>),
    Delta(NodeId, Str),
    /// How far a tool says that it is.
    Told(Str),
    Lagged,
    Broken(String),
    /// Nothing more from this source.
    Over,
    Attached(EventStream),
    /// So far a parked run has come.
    Looked(u32),
    /// Nobody has hold of the hub any more.
    Forsaken,
}

/// Keeps a hub's ring full.
pub(super) struct Pump {
    hub: Weak<Hub>,
    source: Source,
    attached: mpsc::UnboundedReceiver<EventStream>,
    projection: Projection,
    previews: Previews,
}

impl Pump {
    pub(super) fn new(hub: &Arc<Hub>, attached: mpsc::UnboundedReceiver<EventStream>) -> Self {
        let source = Source::journal(hub, 0);
        Self { hub: Arc::downgrade(hub), source, attached, projection: Projection::new(hub.gate.clone()), previews: Previews::default() }
    }

    /// Until the run has ended, or nobody has hold of the hub.
    pub(super) async fn run(mut self) {
        loop {
            let came = self.next().await;
            let Some(hub) = self.hub.upgrade() else { return };
            match came {
                Came::Event(record) => self.event(&hub, &record),
                Came::Delta(activation, text) => {
                    let events = self.previews.delta(&self.projection, activation, &text);
                    self.preview(&hub, &events);
                }
                Came::Told(text) => {
                    let (phase, note) = (self.projection.phase(), clipped(&text));
                    self.preview(&hub, &[WireEvent::Progress { phase, note, agent: None }]);
                }
                Came::Lagged => self.preview(&hub, &[WireEvent::Lagged { resume_after: self.projection.seq() }]),
                Came::Attached(events) => {
                    self.source = Source::Driver(Box::new(events));
                    hub.change(|ring| ring.rests = false);
                }
                Came::Over if self.projection.rests() => self.source = Source::Parked { wait: Duration::ZERO },
                Came::Over => self.source = Source::journal(&hub, self.projection.seq()),
                Came::Looked(seq) => self.looked(&hub, seq),
                Came::Broken(why) => {
                    hub.change(|ring| (ring.broken, ring.ended) = (Some(why), true));
                    return;
                }
                Came::Forsaken => return,
            }
            if self.projection.has_ended() {
                return;
            }
        }
    }

    async fn next(&mut self) -> Came {
        tokio::select! {
            biased;
            attached = self.attached.recv() => attached.map_or(Came::Forsaken, Came::Attached),
            came = self.source.next(&self.hub) => came,
        }
    }

    /// A parked run was looked at: it is still parked, or somebody else has taken it up.
    fn looked(&mut self, hub: &Hub, seq: u32) {
        let Source::Parked { wait } = &mut self.source else { return };
        if seq > self.projection.seq() {
            self.source = Source::journal(hub, self.projection.seq());
            return;
        }
        let first = wait.is_zero();
        *wait = (*wait * 2).clamp(LOOK_MAX / 40, LOOK_MAX);
        if first {
            hub.change(|ring| ring.rests = true);
        }
    }

    fn event(&mut self, hub: &Hub, record: &Arc<Record>) {
        if record.seq <= self.projection.seq() {
            // A driver tells its whole run, of which the journal may have told a part.
            return;
        }
        if let Some(taken_back) = self.previews.record(&record.event) {
            self.preview(hub, &[taken_back]);
        }
        match self.projection.take(record) {
            Ok(events) => {
                if self.projection.rests() && matches!(self.source, Source::Journal(_)) {
                    self.source = Source::Parked { wait: Duration::ZERO };
                }
                hub.change(|ring| {
                    if let Some(bytes) = frame(record.seq, &events, &hub.redactor) {
                        ring.push(Entry { seq: Some(record.seq), bytes });
                    }
                    (ring.seq, ring.phase, ring.rests) = (record.seq, self.projection.phase(), false);
                    (ring.previewing, ring.ended) = (self.previews.is_open(), self.projection.has_ended());
                });
            }
            Err(why) => hub.change(|ring| (ring.broken, ring.ended) = (Some(why.to_string()), true)),
        }
    }

    fn preview(&self, hub: &Hub, events: &[WireEvent]) {
        if !events.is_empty() {
            hub.change(|ring| {
                ring.push(Entry { seq: None, bytes: preview_frame(events, &hub.redactor) });
                ring.previewing = self.previews.is_open();
            });
        }
    }
}

impl Source {
    /// The journal, after an event.
    fn journal(hub: &Hub, after: u32) -> Self {
        Self::Journal(Box::new(Tail::new(hub.journal.clone(), hub.run.clone(), after)))
    }

    async fn next(&mut self, hub: &Weak<Hub>) -> Came {
        match self {
            Self::Parked { wait } => {
                let Some((journal, run)) = hub.upgrade().map(|hub| (hub.journal.clone(), hub.run.clone())) else { return Came::Forsaken };
                // Told at once, where other processes can tell.
                let _ = tokio::time::timeout(*wait, async {
                    match journal.peers() {
                        Some(others) => others.news(&run).await,
                        None => std::future::pending().await,
                    }
                })
                .await;
                let Some(hub) = hub.upgrade() else { return Came::Forsaken };
                match hub.journal.summary(&hub.run).await {
                    Ok(summary) => Came::Looked(summary.map_or(0, |run| run.seq)),
                    Err(why) => Came::Broken(why.to_string()),
                }
            }
            Self::Driver(events) => match events.next().await {
                Some(Ok(Streamed::Event(record))) => Came::Event(record),
                Some(Ok(Streamed::Delta { activation, text })) => Came::Delta(activation, text),
                Some(Ok(Streamed::Progress { text, .. })) => Came::Told(text),
                Some(Ok(Streamed::Lagged { .. })) => Came::Lagged,
                Some(Err(why)) => Came::Broken(why.to_string()),
                None => Came::Over,
            },
            Self::Journal(tail) => match tail.next().await {
                Some(Ok(record)) => Came::Event(record),
                Some(Err(why)) => Came::Broken(why.to_string()),
                // The run ended before the event with which this tail began.
                None => std::future::pending().await,
            },
        }
    }
}
