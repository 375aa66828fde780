//! Spans carry the OpenTelemetry names of the GenAI conventions. They are built only where somebody listens, and hold no
//! text of models, tools or people.

use super::act::{Done, Refusal, Todo};
use crate::parts::Parts;
use crate::tool::ToolError;
use countersign_core::NodeId;
use countersign_core::ledger::Ledger;
use tracing::field::Empty;
use tracing::{Level, Span};

/// A run, as long as this process drives it.
pub(super) fn run(ledger: &Ledger) -> Span {
    if !tracing::enabled!(Level::INFO) {
        return Span::none();
    }
    let (talk, mode) = ledger.started().map_or(("", ""), |s| (&**s.conversation.as_ref().unwrap_or(&s.run), &*s.mode));
    tracing::info_span!(
        "invoke_workflow",
        otel.name = format!("invoke_workflow {mode}"),
        gen_ai.operation.name = "invoke_workflow",
        gen_ai.workflow.name = mode,
        gen_ai.conversation.id = talk
    )
}

/// An act.
pub(super) fn act(parts: &Parts, todo: &Todo) -> Span {
    match todo {
        Todo::Model(request, ..) => chat(parts.model.name(), &request.agent.name, request.activation),
        Todo::Tool(name, request) => execute_tool(name, request.call),
    }
}

/// What came of it.
pub(super) fn over(span: &Span, done: &Done) {
    match done {
        Done::Model { reply: Ok(reply), .. } => {
            if let Some(usage) = reply.usage {
                span.record("gen_ai.usage.input_tokens", usage.input_tokens);
                span.record("gen_ai.usage.output_tokens", usage.output_tokens);
            }
        }
        Done::Model { reply: Err(_), .. } => failed(span, "model"),
        Done::Tool { result: Ok(_), .. } => {}
        Done::Tool { result: Err(Refusal::Hook(_)), .. } => failed(span, "refused"),
        Done::Tool { result: Err(Refusal::Tool(ToolError::TimedOut(_))), .. } => failed(span, "timeout"),
        Done::Tool { result: Err(Refusal::Tool(_)), .. } => failed(span, "tool"),
    }
}

fn failed(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn chat(model: &str, agent: &str, activation: NodeId) -> Span {
    let invoked = tracing::info_span!(
        "invoke_agent",
        otel.name = format!("invoke_agent {agent}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent,
        gen_ai.agent.id = display(activation.0)
    );
    tracing::info_span!(
        parent: &invoked,
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.request.model = model,
        gen_ai.agent.name = agent,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.type = Empty
    )
}

fn execute_tool(name: &str, call: NodeId) -> Span {
    tracing::info_span!(
        "execute_tool",
        otel.name = format!("execute_tool {name}"),
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.type = "function",
        gen_ai.tool.call.id = display(call.0),
        error.type = Empty
    )
}
