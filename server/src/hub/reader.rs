//! One reader's own place in a run.

use super::Hub;
use super::catch_up::CatchUp;
use super::ring::Found;
use crate::wire::{BEAT, WireEvent, preview_frame};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a stream is silent at most.
const BEAT_EVERY: Duration = Duration::from_secs(15);

/// How long a reader stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Follow {
    /// Until the run has ended for good. A parked run may be taken up again.
    #[default]
    ToTheEnd,
    /// Until nobody goes on by himself.
    ToRest,
}

/// Where a reader stands.
enum Place {
    /// Behind what is at hand: it reads the journal.
    Behind(Box<CatchUp>),
    /// Among the frames at hand.
    At(u64),
    /// Not yet looked.
    New,
    /// It has been told that this was all.
    Over,
}

/// A reader's own place in a run. Nobody waits for it, and it loses no event.
pub struct Reader {
    hub: Arc<Hub>,
    tip: watch::Receiver<u64>,
    after: u32,
    place: Place,
    follow: Follow,
}

impl Reader {
    pub(super) fn new(hub: Arc<Hub>, after: u32, follow: Follow) -> Self {
        Self { tip: hub.tip.subscribe(), hub, after, place: Place::New, follow }
    }

    /// The next frame, a beat where there is none for a while, and `None` after `done`.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            match &mut self.place {
                Place::Over => return None,
                Place::New => {
                    if let Some(bytes) = self.begin() {
                        return Some(bytes);
                    }
                }
                Place::Behind(catch_up) => match catch_up.next(&self.hub, self.after).await {
                    Ok(Some((seq, bytes))) => {
                        self.after = seq;
                        return Some(bytes);
                    }
                    Ok(None) => self.place = Place::New,
                    Err(why) => return Some(self.over(Some(&why))),
                },
                Place::At(place) => {
                    let place = *place;
                    self.tip.mark_unchanged();
                    match self.look(place) {
                        Step::Send(bytes) => return Some(bytes),
                        Step::Again => {}
                        Step::Wait => {
                            if tokio::time::timeout(BEAT_EVERY, self.tip.changed()).await.is_err() {
                                return Some(BEAT);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Ends it now; `None` where it had ended.
    pub fn leave(&mut self) -> Option<Bytes> {
        (!matches!(self.place, Place::Over)).then(|| self.over(None))
    }

    /// Finds its place. Who comes in the middle of a preview is told that its beginning was missed.
    fn begin(&mut self) -> Option<Bytes> {
        let (place, previewing) = {
            let ring = self.hub.ring();
            (ring.place_after(self.after), ring.previewing)
        };
        self.place = place.map_or_else(|| Place::Behind(Box::new(CatchUp::new(&self.hub))), Place::At);
        previewing.then(|| self.lagged())
    }

    fn look(&mut self, place: u64) -> Step {
        let ring = self.hub.ring();
        match ring.at(place) {
            Found::Frame { bytes, seq, next } => {
                self.place = Place::At(next);
                match seq {
                    // Already read from the journal.
                    Some(seq) if seq <= self.after => Step::Again,
                    Some(seq) => {
                        self.after = seq;
                        Step::Send(bytes)
                    }
                    None => Step::Send(bytes),
                }
            }
            Found::Gone => {
                drop(ring);
                self.place = Place::New;
                Step::Send(self.lagged())
            }
            Found::Nothing => {
                let over = ring.ended || (self.follow == Follow::ToRest && ring.rests);
                let broken = ring.broken.clone();
                drop(ring);
                if over { Step::Send(self.over(broken.as_deref())) } else { Step::Wait }
            }
        }
    }

    fn lagged(&self) -> Bytes {
        preview_frame(&[WireEvent::Lagged { resume_after: self.after }], &self.hub.redactor)
    }

    /// The last frame.
    fn over(&mut self, broken: Option<&str>) -> Bytes {
        if let Some(why) = broken {
            tracing::warn!(run = &*self.hub.run, why, "a run cannot be shown any further");
        }
        self.place = Place::Over;
        preview_frame(&[WireEvent::Done { seq: self.after }], &self.hub.redactor)
    }
}

/// What a reader does next.
enum Step {
    Send(Bytes),
    Again,
    Wait,
}
