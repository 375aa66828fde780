//! Calls as fenced blocks, for models of which nothing can be asked but text.

use super::{Meant, described, markup, required};
use crate::model::window::Called;
use countersign::{Agent, ToolCall};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

const OPEN: &str = "```call";
const CLOSE: &str = "```";

/// One call, all of a block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    arguments: Box<RawValue>,
}

pub(super) fn instructions(agent: &Agent) -> String {
    let end = match required(agent) {
        Some(tool) => format!("You end by calling `{}`; other text is not read.", tool.name),
        None => "An answer is text without such a block.".to_owned(),
    };
    format!(
        "{}\n\nYou have these tools:\n{}\nTo call one, write nothing but a block like this, or several:\n{OPEN}\n{{\"name\": \"tool\", \
         \"arguments\": {{}}}}\n{CLOSE}\n{end}",
        agent.instructions,
        described(agent)
    )
}

/// Calls as this protocol writes them.
pub(super) fn written(calls: &[Called]) -> String {
    let block = |call: &Called| {
        // What a model once wrote as arguments need not be JSON.
        let args = serde_json::from_str(&call.args).unwrap_or_else(|_| Value::String(call.args.clone()));
        format!("{OPEN}\n{}\n{CLOSE}", serde_json::json!({"name": call.name, "arguments": args}))
    };
    calls.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// Blocks and nothing else are calls. A block inside prose is neither a call nor an answer.
pub(super) fn read(text: &str) -> Option<Meant> {
    let mut rest = text.trim();
    let mut calls = Vec::new();
    while let Some(block) = rest.strip_prefix(OPEN) {
        let Some((inside, after)) = block.split_once(&format!("\n{CLOSE}")) else { return Some(Meant::Neither) };
        let Ok(said) = serde_json::from_str::<Written>(inside.trim()) else { return Some(Meant::Neither) };
        calls.push(ToolCall { id: None, name: said.name.into(), args: said.arguments.get().into() });
        rest = after.trim_start();
    }
    match (calls.is_empty(), rest.is_empty()) {
        (false, true) => Some(Meant::Calls(calls)),
        (false, false) => Some(Meant::Neither),
        (true, _) => markup::stands_in(text).then_some(Meant::Neither),
    }
}
