//! OpenHands events: a list of actions and observations, bare or as the `history` of one evaluated instance, one
//! instance a document or a line.

use super::document::{Lines, items, text};
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace};
use countersign_core::{Cause, Outcome};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// OpenHands events.
pub struct OpenHands;

impl Trace for OpenHands {
    fn name(&self) -> &'static str {
        "openhands"
    }

    fn recognises(&self, head: &Head) -> bool {
        let line = |record: &Value| record.get("history").and_then(|h| h.get(0)).is_some_and(is_event);
        head.element("", is_event) || head.element("history", is_event) || head.line(line)
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        if source.head().is_lines() {
            let faults = source.each_line(|line, said| {
                let outline: BTreeMap<String, &RawValue> = serde_json::from_str(said)?;
                tell(&outline, said, line, told).map_err(serde::de::Error::custom)
            })?;
            told.faults(faults);
            return Ok(());
        }
        let document = source.document();
        let outline = match serde_json::from_str::<BTreeMap<String, &RawValue>>(document) {
            Ok(outline) => outline,
            Err(_) => BTreeMap::from([("history".to_owned(), serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?)]),
        };
        tell(&outline, document, 1, told)
    }
}

fn is_event(value: &Value) -> bool {
    let event = value.get(0).unwrap_or(value);
    let kind = |field: &str| event.get(field).is_some_and(Value::is_string);
    let particulars = ["args", "content", "thought", "source"].iter().any(|field| event.get(*field).is_some());
    (kind("action") || kind("observation")) && particulars && event.get("role").is_none()
}

fn tell(outline: &BTreeMap<String, &RawValue>, document: &str, first_line: u32, told: &mut Told<'_>) -> Result<(), SourceError> {
    let field = |name: &str| outline.get(name).and_then(|v| serde_json::from_str::<Value>(v.get()).ok()).unwrap_or_default();
    let id = field("instance_id");
    let tale = told.begin(id.as_str().unwrap_or_default(), OWNER)?;
    let mut events = Events { asked: false, open: None };
    for item in outline.get("history").map(|list| items(&mut Lines::of(document), list)).unwrap_or_default() {
        tale.at(first_line + item.line - 1, Some(item.at));
        match item.value.as_array() {
            // Older logs hold pairs of an action and what came of it.
            Some(pair) => pair.iter().for_each(|event| events.tell(event, item.at, tale)),
            None => events.tell(&item.value, item.at, tale),
        }
    }
    match field("error").as_str() {
        Some(why) if why.contains("maximum iteration") => tale.ends(Cause::TurnLimit, "the agent reached its limit of iterations"),
        Some(why) if why.contains("budget") => tale.ends(Cause::Budget, "the agent reached its budget"),
        Some(_) => tale.ends(Cause::Error, "the harness recorded an error"),
        None => {}
    }
    Ok(())
}

struct Events {
    /// Whether the task was given: where an event names no source, the first message is the user's.
    asked: bool,
    /// The action whose observation has not come.
    open: Option<String>,
}

impl Events {
    fn tell(&mut self, event: &Value, at: u32, tale: &mut Tale) {
        let args = event.get("args").unwrap_or(event);
        match text(event, "action") {
            "" => self.observed(event, at, tale),
            "message" if text(event, "source") == "user" || text(event, "source").is_empty() && !self.asked => {
                self.asked = true;
                tale.asked(text(args, "content"));
            }
            "message" => tale.said(OWNER, text(args, "content")),
            "finish" | "reject" => {
                let outputs = args.get("outputs").unwrap_or(&Value::Null);
                let answers = [text(args, "final_thought"), text(args, "thought"), text(outputs, "content"), text(event, "message")];
                tale.said(OWNER, answers.into_iter().find(|a| !a.trim().is_empty()).unwrap_or_default());
            }
            "system" | "recall" | "change_agent_state" | "condensation" | "null" => {}
            action => {
                let id = call_id(event, at);
                tale.called(OWNER, &id, action, text(args, "command"));
                self.open = Some(id);
            }
        }
    }

    fn observed(&mut self, event: &Value, at: u32, tale: &mut Tale) {
        let said = text(event, "content");
        let extras = event.get("extras").unwrap_or(event);
        let id = event.get("tool_call_metadata").map(|_| call_id(event, at)).filter(|_| self.open.is_some()).or_else(|| self.open.clone());
        match text(event, "observation") {
            "agent_state_changed" => state(text(extras, "agent_state"), tale),
            "" | "null" | "recall" | "system" => {}
            kind => {
                let Some(id) = id else { return };
                self.open = None;
                let status = extras.pointer("/metadata/exit_code").or_else(|| extras.get("exit_code")).and_then(Value::as_i64);
                match (kind, status) {
                    ("error", _) => tale.returned(&id, Outcome::Failed, said),
                    ("user_rejected", _) => tale.returned(&id, Outcome::Rejected, said),
                    // -1 is a command that has not ended: its output so far was read.
                    (_, Some(exit)) if exit > 0 => tale.exited(&id, status, said),
                    _ => tale.returned(&id, Outcome::Completed, said),
                }
            }
        }
    }
}

/// The action's call: the provider's id where it has one, else the event's place.
fn call_id(event: &Value, at: u32) -> String {
    let id = event.pointer("/tool_call_metadata/tool_call_id").and_then(Value::as_str);
    id.map_or_else(|| format!("event {at}"), str::to_owned)
}

fn state(state: &str, tale: &mut Tale) {
    match state {
        "error" => tale.ends(Cause::Error, "the agent's state was an error"),
        "rate_limited" => tale.ends(Cause::ProviderError, "the agent was held by the provider's rate limit"),
        "stopped" => tale.ends(Cause::UserCancelled, "the agent was stopped"),
        "awaiting_user_confirmation" => tale.ends(Cause::AwaitingHuman, "the agent waits for a confirmation"),
        _ => {}
    }
}
