//! The two acts: call a model, run a tool. Each ends in a fact; a panic is one too.

use super::{audience, span};
use crate::hooks::ToolGate;
use crate::line::Line;
use crate::live::Shared;
use crate::model::{Deltas, ModelError, ModelReply, ModelRequest, Retry};
use crate::parts::Parts;
use crate::request::Image;
use crate::tool::{ToolError, ToolOutput, ToolRequest};
use countersign_core::event::ReplyExtra;
use countersign_core::ledger::Ledger;
use countersign_core::{Call, Cut, Event, NodeId, Outcome, RunState, Str};
use countersign_modes::{Act, Agent, Agents, tool::unknown_tool};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tracing::{Instrument, Level};

/// An act that is over.
pub(super) enum Done {
    Model { activation: NodeId, saw: u32, reply: Result<ModelReply, ModelError> },
    Tool { call: NodeId, result: Result<ToolOutput, Refusal> },
}

/// Why a tool call came to nothing.
pub(super) enum Refusal {
    /// A hook refused it.
    Hook(String),
    /// The tool failed.
    Tool(ToolError),
}

impl Done {
    pub(super) fn act(&self) -> Act {
        match self {
            Self::Model { activation, .. } => Act::CallModel(*activation),
            Self::Tool { call, .. } => Act::RunTool(*call),
        }
    }

    /// How long to wait before the same act is done again.
    pub(super) fn pause(&self) -> Option<Duration> {
        match self {
            Self::Model { reply: Err(ModelError { retry: Retry::After(pause), .. }), .. } => Some(*pause),
            _ => None,
        }
    }

    /// Whether a tool is likely to be run next.
    pub(super) fn asks_for_tools(&self) -> bool {
        matches!(self, Self::Model { reply: Ok(reply), .. } if !reply.calls.is_empty())
    }

    /// The fact, and the whole of an output that it shows in part. None where the activation is gone.
    pub(super) fn event(self, agents: &Agents, ledger: &Ledger) -> Option<(Event, Option<Str>)> {
        match self {
            Self::Model { activation, saw, reply } => {
                let act = ledger.activation(activation).filter(|a| a.open)?;
                let event = match reply {
                    Ok(reply) => replied(activation, saw, agents.get(&act.agent), reply),
                    Err(error) => {
                        let lasting = error.retry == Retry::Never;
                        Event::ModelFailed { activation, why: error.message.into(), partial: error.partial.map(Str::from), lasting }
                    }
                };
                Some((event, None))
            }
            Self::Tool { call, result } => {
                let (outcome, text) = match result {
                    Ok(output) => (Outcome::Completed, output.text),
                    Err(Refusal::Hook(why)) => (Outcome::Rejected, why.into()),
                    Err(Refusal::Tool(ToolError::Lost(why))) => (lost(ledger, call), why.into()),
                    Err(Refusal::Tool(error @ ToolError::TimedOut(_))) => (Outcome::TimedOut, error.to_string().into()),
                    Err(Refusal::Tool(error)) => (Outcome::Failed, error.to_string().into()),
                };
                Some(settled(ledger, call, outcome, text))
            }
        }
    }
}

fn replied(activation: NodeId, saw: u32, agent: Option<&Arc<Agent>>, reply: ModelReply) -> Event {
    let call = |said: crate::model::ToolCall| {
        let tool = agent.and_then(|a| a.tools.get(&said.name));
        let declared = tool.map_or_else(unknown_tool, |t| t.declared());
        Call { name: tool.map_or(said.name, |t| t.name.clone()), args: said.args, label: said.id, declared, step: None, reads: None }
    };
    let calls: Box<[Call]> = reply.calls.into_iter().map(call).collect();
    let plain = reply.reasoning.is_none() && !reply.markup && reply.usage.is_none();
    let extra = (!plain).then(|| Box::new(ReplyExtra { reasoning: reply.reasoning.map(Str::from), markup: reply.markup, usage: reply.usage }));
    Event::ModelReplied { activation, saw, finish: reply.finish, text: reply.text, calls, extra }
}

/// What came of a tool run: its outcome, its job's, or a result that comes too late. And the whole of an
/// output of which only a part is shown.
fn settled(ledger: &Ledger, call: NodeId, outcome: Outcome, whole: Str) -> (Event, Option<Str>) {
    let run = ledger.tool_run(call);
    if run.is_none_or(|r| matches!(r.state, RunState::Settled(_))) {
        return (Event::LateResult { call, outcome, text: whole }, None);
    }
    let job = run.and_then(|r| r.job);
    let most = ledger.limits().tool_output_bytes as usize;
    if whole.len() <= most {
        return (ended(call, job, outcome, whole, None), None);
    }
    // One limit for every agent of the run. What is cut says so, and the whole is kept.
    let shown = whole.get(..floor(&whole, most)).unwrap_or_default();
    let size = u64::try_from(whole.len()).unwrap_or(u64::MAX);
    let cut = Cut { size, marked: true, of: None, full: Some(format!("output:{call}").into()) };
    let event = match job {
        Some(_) => ended(call, job, outcome, format!("{shown}\n[cut: {size} bytes in all]").into(), None),
        None => ended(call, job, outcome, shown.into(), Some(Box::new(cut))),
    };
    (event, Some(whole))
}

/// What a call comes to whose runner is gone: one that may be run twice has failed.
fn lost(ledger: &Ledger, call: NodeId) -> Outcome {
    if ledger.tool_run(call).is_some_and(|r| r.declared.idempotent) { Outcome::Failed } else { Outcome::Lost }
}

fn ended(call: NodeId, job: Option<NodeId>, outcome: Outcome, text: Str, cut: Option<Box<Cut>>) -> Event {
    match job {
        Some(job) => Event::BackgroundEnded { job, outcome, text },
        None => Event::ToolSettled { call, outcome, text, cut },
    }
}

/// The largest end of a text that is no longer than this and splits no character.
fn floor(text: &str, most: usize) -> usize {
    (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Everything that an act needs. Shared, not copied.
pub(super) fn prepare(parts: &Arc<Parts>, ledger: &Ledger, shared: &Arc<Shared>, images: Option<&Arc<[Image]>>, act: Act, pause: Duration) -> Todo {
    let run = shared.run.clone();
    match act {
        Act::CallModel(activation) => {
            let act = ledger.activation(activation);
            let agent = act.and_then(|a| parts.agents.get(&a.agent)).cloned().unwrap_or_else(|| Arc::new(Agent::new("", "")));
            let transcript = act.map(|a| a.transcript.clone()).unwrap_or_default();
            let sender = shared.deltas.get().filter(|d| d.receiver_count() > 0).cloned();
            let attempt = act.map_or(0, |a| a.failures);
            let (history, images) = audience::shown(ledger, activation, images);
            let deltas = Deltas { sender, activation, after: ledger.seq() };
            Todo::Model(ModelRequest { run, activation, agent, transcript, history, images, attempt }, deltas, pause)
        }
        Act::RunTool(call) => {
            let said = ledger.tool_run(call);
            let name = said.and_then(|r| ledger.call(r)).map(|c| c.name.clone()).unwrap_or_default();
            let args = said.and_then(|r| ledger.args(r)).cloned().unwrap_or_default();
            Todo::Tool(name, ToolRequest { run, call, args, line: Line::new(parts, shared, call) })
        }
    }
}

/// An act that is ready to be carried out.
pub(super) enum Todo {
    /// With a pause before it.
    Model(ModelRequest, Deltas, Duration),
    Tool(Str, ToolRequest),
}

/// Carries an act out, in a span of its own where somebody listens to spans.
pub(super) fn carry_out(parts: &Parts, todo: Todo) -> impl Future<Output = Done> + Send {
    let span = if tracing::enabled!(Level::INFO) { Some(span::act(parts, &todo)) } else { None };
    let work = match todo {
        Todo::Model(request, deltas, pause) => call_model(parts, request, deltas, pause).left_future(),
        Todo::Tool(name, request) => run_tool(parts, name, request).right_future(),
    };
    match span {
        Some(span) => Box::pin(async move {
            let done = work.instrument(span.clone()).await;
            span::over(&span, &done);
            done
        })
        .right_future(),
        None => work.left_future(),
    }
}

async fn call_model(parts: &Parts, request: ModelRequest, deltas: Deltas, pause: Duration) -> Done {
    if !pause.is_zero() {
        // Boxed: a timer is large, and hardly any call has to wait.
        Box::pin(tokio::time::sleep(pause)).await;
    }
    let activation = request.activation;
    let saw = u32::try_from(request.transcript.len()).unwrap_or(u32::MAX);
    let hooks = parts.hooks.as_ref().map(|hooks| (hooks, request.agent.clone()));
    if let Some((hooks, _)) = &hooks {
        hooks.before_model(&request);
    }
    let reply = AssertUnwindSafe(parts.model.reply(request, &deltas)).catch_unwind().await;
    let reply = reply.unwrap_or_else(|panic| Err(ModelError::new(format!("the model panicked: {}", message(&*panic)))));
    if let Some((hooks, agent)) = &hooks {
        hooks.after_model(&agent.name, &reply);
    }
    Done::Model { activation, saw, reply }
}

/// A tool within its time, whose panic is a failure.
async fn run_tool(parts: &Parts, name: Str, mut request: ToolRequest) -> Done {
    let call = request.call;
    if let Some(hooks) = &parts.hooks {
        match hooks.before_tool(&name, &request) {
            ToolGate::Run => {}
            ToolGate::Edit(args) => request.args = args,
            ToolGate::Refuse(why) => return Done::Tool { call, result: Err(Refusal::Hook(why)) },
        }
    }
    let Some(tool) = parts.tools.get(&name) else {
        return Done::Tool { call, result: Err(Refusal::Tool(ToolError::Failed(format!("nothing runs tool `{name}`")))) };
    };
    let work = AssertUnwindSafe(tool.run(request)).catch_unwind();
    let done = match tool.timeout() {
        // Boxed: a timer is large, and most tools have none.
        Some(limit) => Box::pin(tokio::time::timeout(limit, work)).await.unwrap_or(Ok(Err(ToolError::TimedOut(limit)))),
        None => work.await,
    };
    let result = done.unwrap_or_else(|panic| Err(ToolError::Failed(format!("the tool panicked: {}", message(&*panic)))));
    if let Some(hooks) = &parts.hooks {
        hooks.after_tool(&name, &result);
    }
    Done::Tool { call, result: result.map_err(Refusal::Tool) }
}

/// What a panic said.
pub(super) fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}
