//! For tests: models that follow a script, play recorded replies back or fail on purpose, and a journal that fails.

mod journal;

pub use journal::{FaultyJournal, JournalFault};

use crate::model::{Deltas, Model, ModelError, ModelReply, ModelRequest};
use async_trait::async_trait;
use countersign_core::{Event, Record, Str};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A model that is a function of what it is shown. Deterministic as long as the function is.
pub struct ScriptedModel<F>(pub F);

#[async_trait]
impl<F> Model for ScriptedModel<F>
where
    F: Fn(&ModelRequest) -> ModelReply + Send + Sync,
{
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError> {
        let reply = (self.0)(&request);
        deltas.send(&reply.text);
        Ok(reply)
    }

    fn name(&self) -> &str {
        "scripted"
    }
}

/// A model that gives the replies of a recorded log again, each agent's in order.
pub struct PlaybackModel {
    replies: Mutex<FxHashMap<Str, std::collections::VecDeque<ModelReply>>>,
}

impl PlaybackModel {
    /// Reads the replies of a log.
    pub fn of(log: &[Arc<Record>]) -> Self {
        let mut agents = FxHashMap::default();
        let mut replies: FxHashMap<Str, std::collections::VecDeque<ModelReply>> = FxHashMap::default();
        let mut nodes = 0;
        for record in log {
            match &record.event {
                Event::ActivationStarted { agent, .. } => {
                    agents.insert(countersign_core::NodeId(nodes), agent.clone());
                }
                Event::ModelReplied { activation, text, calls, finish, extra, .. } => {
                    let call =
                        |c: &countersign_core::Call| crate::model::ToolCall { id: c.label.clone(), name: c.name.clone(), args: c.args.clone() };
                    let reply = ModelReply {
                        text: text.clone(),
                        reasoning: extra.as_ref().and_then(|e| e.reasoning.as_deref()).map(str::to_owned),
                        calls: calls.iter().map(call).collect(),
                        finish: *finish,
                        markup: extra.as_ref().is_some_and(|e| e.markup),
                        usage: extra.as_ref().and_then(|e| e.usage),
                    };
                    let agent = agents.get(activation).cloned().unwrap_or_default();
                    replies.entry(agent).or_default().push_back(reply);
                }
                _ => {}
            }
            nodes += made(&record.event);
        }
        Self { replies: Mutex::new(replies) }
    }
}

/// How many nodes an event makes.
fn made(event: &Event) -> u32 {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    match event {
        Event::RunStarted(_)
        | Event::ActivationStarted { .. }
        | Event::ApprovalRequested { .. }
        | Event::QuestionAsked { .. }
        | Event::BackgroundStarted { .. }
        | Event::ActivationEnded { .. }
        | Event::CandidateMade(_)
        | Event::Decided { .. }
        | Event::Attested { .. }
        | Event::Note { .. } => 1,
        Event::ModelReplied { calls, .. } => 1 + count(calls.len()),
        Event::PlanMade { steps, .. } => 1 + count(steps.len()),
        _ => 0,
    }
}

#[async_trait]
impl Model for PlaybackModel {
    async fn reply(&self, request: ModelRequest, _: &Deltas) -> Result<ModelReply, ModelError> {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let next = replies.get_mut(&request.agent.name).and_then(std::collections::VecDeque::pop_front);
        next.ok_or_else(|| ModelError::new(format!("the recording has no further reply of `{}`", request.agent.name)))
    }

    fn name(&self) -> &str {
        "playback"
    }
}

/// What goes wrong with a model call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The provider fails, with text that had come by then.
    Error(Option<String>),
    /// The reply is cut short by the output limit.
    Length,
    /// The reply is blank.
    Blank,
    /// The reply holds only reasoning.
    ReasoningOnly,
    /// The content filter takes the text away.
    Filtered,
    /// The model panics.
    Panic,
}

/// A model that fails at chosen calls, counted over the whole run from 1.
pub struct FaultyModel<M> {
    inner: M,
    faults: FxHashMap<u32, Fault>,
    calls: AtomicU32,
}

impl<M: Model> FaultyModel<M> {
    /// Wraps a model.
    pub fn new(inner: M, faults: impl IntoIterator<Item = (u32, Fault)>) -> Self {
        Self { inner, faults: faults.into_iter().collect(), calls: AtomicU32::new(0) }
    }
}

#[async_trait]
impl<M: Model> Model for FaultyModel<M> {
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let reply = |reply: ModelReply| Ok(reply);
        match self.faults.get(&call) {
            None => self.inner.reply(request, deltas).await,
            Some(Fault::Error(partial)) => Err(ModelError { partial: partial.clone(), ..ModelError::new("the provider failed, on purpose") }),
            Some(Fault::Blank) => reply(ModelReply::default()),
            Some(Fault::ReasoningOnly) => reply(ModelReply { reasoning: Some("thinking about it".into()), ..ModelReply::default() }),
            Some(Fault::Filtered) => reply(ModelReply { finish: countersign_core::Finish::ContentFilter, ..ModelReply::default() }),
            Some(Fault::Panic) => fault_panic(),
            Some(Fault::Length) => {
                let whole = self.inner.reply(request, deltas).await?;
                let half: String = whole.text.chars().take(whole.text.chars().count() / 2).collect();
                reply(ModelReply { text: half.into(), calls: Vec::new(), finish: countersign_core::Finish::Length, ..whole })
            }
        }
    }

    fn name(&self) -> &str {
        "faulty"
    }
}

/// The panic of [`Fault::Panic`]: what a driver has to live with.
#[allow(clippy::panic, reason = "panicking is what this fault is for")]
fn fault_panic() -> ! {
    panic!("the model panicked, on purpose")
}
