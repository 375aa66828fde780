//! Refusals that come beside the text, in a channel of their own.

use countersign::{Finish, ModelReply};
use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde::Deserialize;
use std::sync::{Mutex, PoisonError};

/// Collects what a model says when it refuses.
#[derive(Default)]
pub(super) struct Refusals(Mutex<String>);

#[derive(Deserialize)]
struct Frame {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
}

#[derive(Default, Deserialize)]
struct Delta {
    refusal: Option<String>,
}

impl ChatFrameSink for Refusals {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        // Most frames have none: they are not read twice.
        if !frame.data.contains("\"refusal\":\"") && !frame.data.contains("\"refusal\": \"") {
            return;
        }
        if let Ok(frame) = serde_json::from_str::<Frame>(frame.data) {
            let said = frame.choices.into_iter().filter_map(|c| c.delta.refusal);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(said);
        }
    }
}

impl Refusals {
    /// A reply in which the model refused says so, and with which words.
    pub(super) fn mark(&self, reply: &mut ModelReply) {
        let said = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !said.is_empty() {
            reply.finish = Finish::Refusal;
            reply.text = said.into();
            reply.calls.clear();
        }
    }
}
