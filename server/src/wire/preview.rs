//! Pieces of text that come before a reply is complete: shown as previews, and taken back where they are no answer.

use super::event::WireEvent;
use super::projection::Projection;
use countersign::{Event, NodeId, Str};

/// Whether a preview is open, and whose.
#[derive(Default, Debug)]
pub struct Previews {
    open: Option<NodeId>,
}

impl Previews {
    /// A piece of text. Shown only where it is of an agent who may conclude the run.
    pub fn delta(&mut self, run: &Projection, activation: NodeId, text: &Str) -> Vec<WireEvent> {
        if !run.may_conclude(activation) {
            return Vec::new();
        }
        let begins = self.open.replace(activation) != Some(activation);
        let start = begins.then_some(WireEvent::ResponseStart { preview: true, candidate: None });
        start.into_iter().chain([WireEvent::ResponseDelta { preview: true, text: text.clone() }]).collect()
    }

    /// A record: text that turns out to be no answer is taken back.
    pub fn record(&mut self, event: &Event) -> Option<WireEvent> {
        let gone = match event {
            Event::ModelReplied { activation, calls, .. } => self.open == Some(*activation) && !calls.is_empty(),
            Event::ModelFailed { activation, .. } => self.open == Some(*activation),
            Event::Stopped { .. } => self.open.is_some(),
            // The recorded candidate takes its place.
            Event::CandidateMade(_) => {
                self.open = None;
                false
            }
            _ => false,
        };
        gone.then(|| {
            self.open = None;
            WireEvent::ResponseRetracted { reason: None }
        })
    }

    /// Whether a reader who comes now has missed the beginning of one.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }
}
