//! The model port.

use crate::live::Preview;
use crate::request::Image;
use async_trait::async_trait;
use countersign_core::event::History;
use countersign_core::ledger::Entry;
use countersign_core::{Finish, NodeId, Str, Usage};
use countersign_modes::Agent;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;

/// Answers one turn of one agent.
#[async_trait]
pub trait Model: Send + Sync {
    /// The reply to what the agent was shown. Text may be handed to `deltas` as it comes; it is a preview and
    /// never the answer. An error is never an answer either, whatever text came with it.
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError>;

    /// Its name, for traces.
    fn name(&self) -> &str {
        "model"
    }
}

/// One turn. Everything in it is shared: a request costs no copy of the history.
#[derive(Clone)]
pub struct ModelRequest {
    /// The run.
    pub run: Str,
    /// Whose turn it is.
    pub activation: NodeId,
    /// The agent, with its instructions and tools.
    pub agent: Arc<Agent>,
    /// What it was shown and said; [`countersign_modes::transcript::message`] reads an entry.
    pub transcript: Arc<Vec<Entry>>,
    /// What was said before in the conversation, for an agent that speaks with the user: it owns the answer, or was
    /// asked in the user's own words. [`countersign_modes::transcript::earlier`] reads it.
    pub history: Option<Arc<History>>,
    /// Images that came with the task, for the same agents: they belong to the first message of the transcript.
    pub images: Option<Arc<[Image]>>,
    /// How many calls of this turn have failed before.
    pub attempt: u32,
}

/// One reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// The text.
    pub text: Str,
    /// The reasoning channel; kept apart, never an answer.
    pub reasoning: Option<String>,
    /// Calls, in order.
    pub calls: Vec<ToolCall>,
    /// Why the provider stopped.
    pub finish: Finish,
    /// Set where the text is a tool call written out as prose.
    pub markup: bool,
    /// Tokens and cost, where the provider says.
    pub usage: Option<Usage>,
}

/// One call, as the model wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id; may be missing or repeated.
    pub id: Option<Str>,
    /// The tool.
    pub name: Str,
    /// Arguments: JSON text.
    pub args: Str,
}

impl ModelReply {
    /// A plain answer.
    pub fn text(text: impl Into<Str>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// One call.
    pub fn call(name: &str, args: impl Into<Str>) -> Self {
        Self::default().and_call(name, args)
    }

    /// One call more.
    #[must_use]
    pub fn and_call(mut self, name: &str, args: impl Into<Str>) -> Self {
        self.calls.push(ToolCall { id: None, name: name.into(), args: args.into() });
        self.finish = Finish::ToolCalls;
        self
    }
}

/// A model call that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What the provider said.
    pub message: String,
    /// Text that had come by then. Partial, never an answer.
    pub partial: Option<String>,
    /// Whether asking again can help, and when. How often it is done is the policy's to say.
    pub retry: Retry,
}

/// Whether asking again can help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// At once.
    #[default]
    AtOnce,
    /// Once this long has passed.
    After(Duration),
    /// Never: the provider will not accept this request.
    Never,
}

impl ModelError {
    /// A failure without text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), partial: None, retry: Retry::AtOnce }
    }
}

/// Where text goes while it comes. Costs nothing while nobody listens.
#[derive(Clone)]
pub struct Deltas {
    pub(crate) sender: Option<broadcast::Sender<Preview>>,
    pub(crate) activation: NodeId,
    /// The last event when the model was called.
    pub(crate) after: u32,
}

impl Deltas {
    /// Nobody listens.
    pub fn none() -> Self {
        Self { sender: None, activation: countersign_core::ROOT, after: 0 }
    }

    /// Hands on a piece of text.
    pub fn send(&self, text: &str) {
        if let Some(sender) = self.sender.as_ref().filter(|s| s.receiver_count() > 0) {
            // A listener that has just left is no error.
            let _ = sender.send(Preview::Text { activation: self.activation, text: text.into(), after: self.after });
        }
    }
}
