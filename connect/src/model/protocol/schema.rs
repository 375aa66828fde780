//! Calls as JSON whose schema the provider enforces, for servers that ignore tools and know schemas.
//!
//! An agent that can only end by one tool and has no other writes the arguments of that tool, and nothing else.

use super::{Meant, described, required};
use crate::model::settings::Bounds;
use crate::model::window::Called;
use countersign::{Agent, ToolCall, ToolSpec};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// All of a reply.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    reply: Part,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    call: Option<String>,
    arguments: Option<Box<RawValue>>,
    answer: Option<String>,
}

pub(super) fn instructions(agent: &Agent) -> String {
    let how = match (alone(agent), required(agent)) {
        (Some(tool), _) => return format!("{}\n\n{} Write it as JSON by this schema: {}", agent.instructions, tool.description, tool.schema),
        (None, Some(tool)) => format!("You end by calling `{}`.", tool.name),
        (None, None) => r#"To answer, write {"reply":{"answer":"…"}}."#.to_owned(),
    };
    format!(
        "{}\n\nYou have these tools:\n{}\nTo call one, write {{\"reply\":{{\"call\":\"tool\",\"arguments\":{{…}}}}}}. {how} Write JSON, and nothing else.",
        agent.instructions,
        described(agent)
    )
}

/// The schema of a reply.
pub(super) fn of(agent: &Agent, bounds: Option<Bounds>) -> Value {
    let mut defs = Map::new();
    let mut schema = match alone(agent) {
        Some(tool) => hoisted(tool, "", &mut defs),
        None => {
            let ends = required(agent).is_some();
            let call = |(at, tool): (usize, &ToolSpec)| {
                let arguments = hoisted(tool, &format!("t{at}_"), &mut defs);
                closed(json!({"call": {"type": "string", "const": &*tool.name}, "arguments": arguments}))
            };
            let mut parts: Vec<Value> = agent.tools.values().enumerate().map(call).collect();
            if !ends {
                parts.push(closed(json!({"answer": {"type": "string"}})));
            }
            closed(json!({"reply": {"anyOf": parts}}))
        }
    };
    if let (false, Some(map)) = (defs.is_empty(), schema.as_object_mut()) {
        map.insert("$defs".to_owned(), Value::Object(defs));
    }
    if let Some(bounds) = bounds {
        bound(&mut schema, bounds);
    }
    schema
}

/// Calls as this protocol writes them.
pub(super) fn written(agent: &Agent, calls: &[Called]) -> String {
    let one = |call: &Called| {
        let args: Value = serde_json::from_str(&call.args).unwrap_or_else(|_| Value::String(call.args.clone()));
        if alone(agent).is_some() { args.to_string() } else { json!({"reply": {"call": call.name, "arguments": args}}).to_string() }
    };
    calls.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// All of the text is a call or an answer, or it is neither.
pub(super) fn read(agent: &Agent, text: &str) -> Meant {
    let call = |name: &str, args: &RawValue| Meant::Calls(vec![ToolCall { id: None, name: name.into(), args: args.get().into() }]);
    if let Some(tool) = alone(agent) {
        return serde_json::from_str::<Box<RawValue>>(text.trim()).map_or(Meant::Neither, |args| call(&tool.name, &args));
    }
    match serde_json::from_str::<Whole>(text.trim()).map(|w| w.reply) {
        Ok(Part { call: Some(name), arguments: Some(args), answer: None }) => call(&name, &args),
        Ok(Part { call: None, arguments: None, answer: Some(answer) }) if required(agent).is_none() => Meant::Answer(answer),
        _ => Meant::Neither,
    }
}

/// The only tool of an agent that has to end by it.
fn alone(agent: &Agent) -> Option<&ToolSpec> {
    required(agent).filter(|_| agent.tools.len() == 1)
}

/// An object with these properties, all of them, and no others.
fn closed(properties: Value) -> Value {
    let names: Vec<String> = properties.as_object().map(|p| p.keys().cloned().collect()).unwrap_or_default();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// A tool's schema, with its definitions moved to those of the whole under names of its own.
fn hoisted(tool: &ToolSpec, prefix: &str, defs: &mut Map<String, Value>) -> Value {
    let mut schema = (*tool.schema).clone();
    renamed(&mut schema, prefix);
    if let Some(map) = schema.as_object_mut() {
        map.remove("$schema");
        if let Some(Value::Object(own)) = map.remove("$defs") {
            defs.extend(own.into_iter().map(|(name, def)| (format!("{prefix}{name}"), def)));
        }
    }
    schema
}

fn renamed(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| match value {
            Value::String(to) if key == "$ref" => *to = to.replace("#/$defs/", &format!("#/$defs/{prefix}")),
            value => renamed(value, prefix),
        }),
        Value::Array(list) => list.iter_mut().for_each(|value| renamed(value, prefix)),
        _ => {}
    }
}

/// Puts limits on lists and texts that have none.
fn bound(schema: &mut Value, bounds: Bounds) {
    match schema {
        Value::Object(map) => {
            let is = |map: &Map<String, Value>, kind: &str| match map.get("type") {
                Some(Value::String(one)) => one == kind,
                Some(Value::Array(some)) => some.iter().any(|s| s == kind),
                _ => false,
            };
            if is(map, "array") {
                map.entry("maxItems").or_insert(json!(bounds.items));
            }
            if is(map, "string") && !map.contains_key("const") && !map.contains_key("enum") {
                map.entry("maxLength").or_insert(json!(bounds.chars));
            }
            map.values_mut().for_each(|value| bound(value, bounds));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| bound(value, bounds)),
        _ => {}
    }
}
