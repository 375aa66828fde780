//! The Agent Trajectory Interchange Format, 1.2 to 1.7: steps of a user, an agent or the system, with calls and
//! what was observed.

use super::document::{Lines, content, items, text};
use super::outcome::outcome_of;
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace, stock};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// ATIF trajectories.
pub struct Atif;

impl Trace for Atif {
    fn name(&self) -> &'static str {
        "atif"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.has(&["schema_version", "steps"]) && head.element("steps", |step| step.get("step_id").is_some() && step.get("source").is_some())
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        let document = source.document();
        let outline: BTreeMap<String, &RawValue> = serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?;
        let tale = told.begin("", OWNER)?;
        for step in outline.get("steps").map(|list| items(&mut Lines::of(document), list)).unwrap_or_default() {
            tale.at(step.line, Some(step.at));
            match text(&step.value, "source") {
                "user" => tale.asked(&content(step.value.get("message").unwrap_or(&Value::Null))),
                "agent" => agent(&step.value, step.at, tale),
                _ => {}
            }
        }
        Ok(())
    }
}

fn agent(step: &Value, at: u32, tale: &mut Tale) {
    let said = content(step.get("message").unwrap_or(&Value::Null));
    let calls = step.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let results = step.pointer("/observation/results").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if calls.is_empty() {
        return in_prose(&said, results, at, tale);
    }
    if !said.trim().is_empty() {
        tale.said(OWNER, &said);
    }
    for (place, call) in calls.iter().enumerate() {
        let args = call.get("arguments").map(super::tale::args_text).unwrap_or_default();
        tale.called(OWNER, &call_id(call, "tool_call_id", at, place), text(call, "function_name"), &args);
    }
    for (place, result) in results.iter().enumerate() {
        let said = content(result.get("content").unwrap_or(&Value::Null));
        tale.returned(&call_id(result, "source_call_id", at, place), outcome_of(&said), &said);
    }
}

/// The id of a call, or of the call that a result answers: where neither has one, they pair by their places.
fn call_id(value: &Value, field: &str, at: u32, place: usize) -> String {
    match text(value, field) {
        "" => format!("step {at}, call {place}"),
        id => id.to_owned(),
    }
}

/// A step without calls. What it observed belongs to commands that stand in its text: a call written out, where
/// there is one, else whatever the harness reads out of it.
fn in_prose(said: &str, results: &[Value], at: u32, tale: &mut Tale) {
    if stock::is_error(said) {
        return tale.failed(OWNER, said);
    }
    let id = format!("step {at}");
    let observed: Vec<_> = results.iter().map(|r| content(r.get("content").unwrap_or(&Value::Null))).collect();
    match written_call(said) {
        Some((name, args)) => tale.called(OWNER, &id, name, &args.to_string()),
        None if observed.is_empty() => return tale.said(OWNER, said),
        None => tale.called(OWNER, &id, "commands", ""),
    }
    if !observed.is_empty() {
        tale.returned(&id, outcome_of(&observed.join("\n")), &observed.join("\n"));
    }
    if written_call(said).is_none() {
        tale.said(OWNER, said);
    }
}

/// A call written out as `<function=name><parameter=key>value</parameter></function>`.
fn written_call(said: &str) -> Option<(&str, Value)> {
    let (_, rest) = said.split_once("<function=")?;
    let (name, mut rest) = rest.split_once('>')?;
    let mut args = serde_json::Map::new();
    while let Some((_, after)) = rest.split_once("<parameter=") {
        let (key, after) = after.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        args.insert(key.into(), value.trim().into());
        rest = after;
    }
    Some((name, args.into()))
}
