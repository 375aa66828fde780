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
use super::window::{Called, Came, Turn};
use countersign::transcript::{Message, message};
use countersign::{Agent, Finish, ModelReply, ModelRequest, NodeId, Outcome, ToolCall, ToolKind, ToolSpec};
use serde_json::Value;
use std::collections::BTreeMap;

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
            turns: told(native.turns, |calls| schema::written(agent, calls)),
            shape: Some(schema::of(agent, settings.bounds)),
            ..native
        },
        Protocol::Fenced => Said { system: fenced::instructions(agent), turns: told(native.turns, fenced::written), ..native },
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

/// The transcript as messages: the results of a reply's calls directly after it, and what was said to the agent
/// meanwhile after those. A call whose result is not there yet says so.
pub(super) fn turns(request: &ModelRequest) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut placed: BTreeMap<NodeId, (usize, usize)> = BTreeMap::new();
    for said in request.transcript.iter().filter_map(message) {
        match said {
            Message::User(text) => match turns.last_mut() {
                Some(Turn::User(before)) => {
                    before.push_str("\n\n");
                    before.push_str(&text);
                }
                _ => turns.push(Turn::User(text.into_owned())),
            },
            Message::Assistant { text, calls } => {
                // By position: a provider's own ids may be missing or repeated.
                let id = |node: NodeId| format!("call_{node}");
                let called =
                    |(node, call): &(NodeId, &countersign::Call)| Called { id: id(*node), name: call.name.to_string(), args: call.args.to_string() };
                let made = calls.iter().map(called).collect();
                turns.push(Turn::Assistant { text: text.to_owned(), calls: made });
                if !calls.is_empty() {
                    let pending = |(node, call): &(NodeId, &countersign::Call)| Came {
                        id: id(*node),
                        name: call.name.to_string(),
                        text: "[no result yet]".to_owned(),
                    };
                    placed.extend(calls.iter().enumerate().map(|(at, (node, _))| (*node, (turns.len(), at))));
                    turns.push(Turn::Results(calls.iter().map(pending).collect()));
                }
            }
            Message::Result { call, outcome, text } => {
                let place = placed.get(&call).and_then(|(turn, at)| match turns.get_mut(*turn)? {
                    Turn::Results(results) => results.get_mut(*at),
                    _ => None,
                });
                if let Some(came) = place {
                    came.text = if outcome == Outcome::Completed { text } else { format!("[{}] {text}", outcome_name(outcome)) };
                }
            }
        }
    }
    turns
}

fn outcome_name(outcome: Outcome) -> String {
    serde_json::to_value(outcome).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Calls and results as text, for a model that has no tools of its own.
fn told(turns: Vec<Turn>, written: impl Fn(&[Called]) -> String) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::new();
    for turn in turns {
        let turn = match turn {
            Turn::Assistant { text, calls } if !calls.is_empty() => {
                let calls = written(&calls);
                Turn::Assistant { text: if text.trim().is_empty() { calls } else { format!("{text}\n{calls}") }, calls: Vec::new() }
            }
            Turn::Results(results) => {
                let shown: Vec<String> = results.iter().map(|came| format!("Result of `{}`:\n{}", came.name, came.text)).collect();
                Turn::User(shown.join("\n\n"))
            }
            turn => turn,
        };
        match (out.last_mut(), turn) {
            (Some(Turn::User(before)), Turn::User(text)) => *before = format!("{before}\n\n{text}"),
            (_, turn) => out.push(turn),
        }
    }
    out
}

/// The tools in words.
fn described(agent: &Agent) -> String {
    agent.tools.values().map(|t| format!("- `{}`: {} Arguments, as a JSON schema: {}\n", t.name, t.description, t.schema)).collect()
}
