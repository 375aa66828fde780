//! tau2-bench: a simulation with its messages and how it was ended, or the runtime's event log of one.
//!
//! Rewards and what the evaluation says stand in the same files. They are labels, and are not read.

use super::chat::{Conversation, Message};
use super::document::{Lines, items, text};
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace};
use countersign_core::Cause;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// tau2-bench simulations and runtime events.
pub struct Tau2;

impl Trace for Tau2 {
    fn name(&self) -> &'static str {
        "tau2"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.has(&["messages", "termination_reason"]) || head.line_has(&["event_id", "event_type", "parent_event_id"])
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        if source.head().is_lines() { events(source, told) } else { simulation(source.document(), told) }
    }
}

fn simulation(document: &str, told: &mut Told<'_>) -> Result<(), SourceError> {
    let outline: BTreeMap<String, &RawValue> = serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?;
    let tale = told.begin("", OWNER)?;
    let mut lines = Lines::of(document);
    let mut conversation = Conversation::default();
    for item in outline.get("messages").map(|list| items(&mut lines, list)).unwrap_or_default() {
        tale.at(item.line, Some(item.at));
        message(&item.value, &mut conversation, tale);
    }
    let reason = outline.get("termination_reason").and_then(|r| serde_json::from_str::<String>(r.get()).ok());
    ended(&reason.unwrap_or_default(), tale);
    Ok(())
}

/// An event of the runtime; most of them say nothing of the conversation, and their payload is passed over.
#[derive(serde::Deserialize)]
struct Event<'a> {
    event_type: &'a str,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

fn events(source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
    let mut conversation = Conversation::default();
    told.begin("", OWNER)?;
    let faults = source.each_line(|line, said| {
        let event: Event<'_> = serde_json::from_str(said)?;
        let tale = told.tale().map_err(serde::de::Error::custom)?;
        tale.at(line, None);
        match (event.event_type, event.payload) {
            ("agent_response" | "user_response" | "message_observed", Some(payload)) => {
                let facts: Value = serde_json::from_str(payload.get())?;
                if let Some(raw) = facts.pointer("/runtime_trace/message/raw") {
                    message(raw, &mut conversation, tale);
                }
            }
            ("simulation_end", Some(payload)) => {
                let facts: Value = serde_json::from_str(payload.get())?;
                ended(facts.pointer("/runtime_trace/termination_reason").and_then(Value::as_str).unwrap_or_default(), tale);
            }
            _ => {}
        }
        Ok(())
    })?;
    told.faults(faults);
    Ok(())
}

/// One message; the simulated user's own calls and their results are no work of the agent's.
fn message(value: &Value, conversation: &mut Conversation, tale: &mut Tale) {
    let users = |m: &Value| text(m, "requestor") == "user" || text(m, "role") == "user" && m.get("tool_calls").is_some_and(Value::is_array);
    let several = value.get("tool_messages").and_then(Value::as_array);
    for one in several.map_or(std::slice::from_ref(value), Vec::as_slice).iter().filter(|m| !users(m)) {
        conversation.tell(&Message::deserialize(one).unwrap_or_default(), tale);
    }
}

fn ended(reason: &str, tale: &mut Tale) {
    match reason {
        "max_steps" => tale.ends(Cause::TurnLimit, "the simulation reached its limit of steps"),
        "too_many_errors" => tale.ends(Cause::Budget, "the simulation reached its limit of errors"),
        "timeout" => tale.ends(Cause::Timeout, "the simulation ran out of time"),
        reason if reason.ends_with("_error") => tale.ends(Cause::Error, "the simulation ended by an error"),
        _ => {}
    }
}
