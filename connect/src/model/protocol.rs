//! How tools are written out to a model, and how its calls are read back.
//!
//! | protocol | a call is | an answer is |
//! |---|---|---|
//! | native | a call of the provider | text without calls |
//! | schema | `{"reply":{"call":"tool","arguments":{…}}}`, all of the text | `{"reply":{"answer":"…"}}` |
//! | fenced | blocks fenced as `call`, all of the text | text without such a block |
//!
//! What is neither is marked as markup: it is no call, and the gate does not take it for an answer.

mod fenced;
mod markup;
mod schema;

use super::settings::{Protocol, Settings};
use super::turns::as_text;
use super::window::Turn;
use countersign::{Agent, Finish, ModelReply, ModelRequest, ToolCall, ToolKind, ToolSpec};
use serde_json::Value;

/// All that a model is given for one turn.
pub(super) struct Said {
    pub(super) system: String,
    pub(super) turns: Vec<Turn>,
    /// Tools, where they are the provider's own.
    pub(super) tools: Vec<ToolSpec>,
    /// The schema of the reply, where there is one.
    pub(super) shape: Option<Value>,
    /// Whether the reply has to call a tool.
    pub(super) must_call: bool,
}

/// Writes a request out, in these turns.
pub(super) fn write(request: &ModelRequest, settings: &Settings, turns: Vec<Turn>) -> Said {
    let agent = &*request.agent;
    let native = Said { system: agent.instructions.to_string(), turns, tools: Vec::new(), shape: None, must_call: false };
    if agent.tools.is_empty() {
        return native;
    }
    match settings.protocol {
        Protocol::Native => Said { tools: agent.tools.values().cloned().collect(), must_call: required(agent).is_some(), ..native },
        Protocol::Schema => Said {
            system: schema::instructions(agent),
            turns: as_text(native.turns, |calls| schema::written(agent, calls)),
            shape: Some(schema::of(agent, settings.bounds)),
            ..native
        },
        Protocol::Fenced => Said { system: fenced::instructions(agent), turns: as_text(native.turns, fenced::written), ..native },
    }
}

/// Reads a reply. Native calls are as they are; the other protocols have their calls in the text.
pub(super) fn read(request: &ModelRequest, settings: &Settings, reply: ModelReply) -> ModelReply {
    let agent = &*request.agent;
    // What was cut or taken away is not read as anything.
    if agent.tools.is_empty() || !reply.calls.is_empty() || !matches!(reply.finish, Finish::Stop | Finish::ToolCalls) {
        let cut = settings.protocol != Protocol::Native && !agent.tools.is_empty() && reply.finish == Finish::Length;
        return ModelReply { markup: cut, ..reply };
    }
    let meant = match settings.protocol {
        Protocol::Native => None,
        Protocol::Schema => Some(schema::read(agent, &reply.text)),
        Protocol::Fenced => fenced::read(&reply.text),
    };
    match meant {
        Some(Meant::Answer(text)) => ModelReply { text: text.into(), ..reply },
        Some(Meant::Calls(calls)) => ModelReply { text: "".into(), calls, finish: Finish::ToolCalls, ..reply },
        Some(Meant::Neither) => ModelReply { markup: true, ..reply },
        None => ModelReply { markup: markup::stands_in(&reply.text), ..reply },
    }
}

/// What a text means in a protocol.
enum Meant {
    Answer(String),
    Calls(Vec<ToolCall>),
    Neither,
}

/// The tool by which an agent has to end, if there is one.
fn required(agent: &Agent) -> Option<&ToolSpec> {
    agent.tools.values().find(|t| matches!(t.kind, ToolKind::Terminal { required: true, .. }))
}

/// The tools in words.
fn described(agent: &Agent) -> String {
    agent.tools.values().map(|t| format!("- `{}`: {} Arguments, as a JSON schema: {}\n", t.name, t.description, t.schema)).collect()
}
