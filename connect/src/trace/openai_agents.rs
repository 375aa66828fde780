//! OpenAI Agents SDK: the state of a run, as the SDK saves it when it parks or ends, or the items of the Responses
//! API as a bare list.

use super::document::{Lines, content, items, text};
use super::outcome::outcome_of_value;
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace};
use countersign_core::{Cause, Finish};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Run states of the OpenAI Agents SDK.
pub struct OpenAiAgents;

impl Trace for OpenAiAgents {
    fn name(&self) -> &'static str {
        "openai-agents"
    }

    fn recognises(&self, head: &Head) -> bool {
        let state = head.has(&["$schemaVersion", "generatedItems"]) || head.has(&["$schemaVersion", "generated_items"]);
        state || head.element("", |item| matches!(text(item, "type"), "function_call" | "function_call_output") && item.get("call_id").is_some())
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        let document = source.document();
        match serde_json::from_str::<BTreeMap<String, &RawValue>>(document) {
            Ok(outline) => state(&outline, document, told),
            Err(_) => {
                let list: &RawValue = serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?;
                let tale = told.begin("", OWNER)?;
                for element in items(&mut Lines::of(document), list) {
                    tale.at(element.line, Some(element.at));
                    item(&element.value, OWNER, tale);
                }
                Ok(())
            }
        }
    }
}

/// Two ports of the SDK write the same state, one in camel case, one in snake case.
fn either<'a>(outline: &BTreeMap<String, &'a RawValue>, camel: &str, snake: &str) -> Option<&'a RawValue> {
    outline.get(camel).or_else(|| outline.get(snake)).copied()
}

fn state(outline: &BTreeMap<String, &RawValue>, document: &str, told: &mut Told<'_>) -> Result<(), SourceError> {
    let value =
        |camel: &str, snake: &str| -> Value { either(outline, camel, snake).and_then(|v| serde_json::from_str(v.get()).ok()).unwrap_or_default() };
    let current = value("currentAgent", "current_agent");
    let owner = [text(&current, "name"), current.as_str().unwrap_or_default()].into_iter().find(|n| !n.is_empty()).unwrap_or(OWNER).to_owned();
    let tale = told.begin("", &owner)?;
    tale.asked(&content(&value("originalInput", "original_input")));
    for element in either(outline, "generatedItems", "generated_items").map(|l| items(&mut Lines::of(document), l)).unwrap_or_default() {
        tale.at(element.line, Some(element.at));
        generated(&element.value, &owner, tale);
    }
    let (turn, most) = (value("currentTurn", "current_turn").as_u64(), value("maxTurns", "max_turns").as_u64());
    let step = value("currentStep", "current_step");
    let over = turn.zip(most).is_some_and(|(turn, most)| turn > most);
    if over && text(&step, "type") != "next_step_final_output" {
        tale.ends(Cause::TurnLimit, "the run reached its limit of turns");
    }
    Ok(())
}

/// One item that the run made, with the agent who made it.
fn generated(element: &Value, owner: &str, tale: &mut Tale) {
    let raw = element.get("rawItem").or_else(|| element.get("raw_item")).unwrap_or(element);
    let agent = element.get("agent").map(|a| a.as_str().unwrap_or(text(a, "name"))).filter(|n| !n.is_empty()).unwrap_or(owner);
    match text(element, "type") {
        "tool_approval_item" => {
            let id = call_id(raw);
            if tale.witness().known_as(id).is_none() {
                item(raw, agent, tale);
            }
            tale.tell(|w| w.approval_requested(id, id));
        }
        // The agent that takes over speaks for the run from then on: the call is closed by the hand-over.
        "handoff_call_item" => tale.called_as(agent, call_id(raw), text(raw, "name"), "", super::declared("wait")),
        _ => item(raw, agent, tale),
    }
}

fn call_id(raw: &Value) -> &str {
    [text(raw, "callId"), text(raw, "call_id"), text(raw, "id")].into_iter().find(|id| !id.is_empty()).unwrap_or_default()
}

/// One item of the Responses API.
fn item(raw: &Value, agent: &str, tale: &mut Tale) {
    match (text(raw, "type"), text(raw, "role")) {
        ("function_call", _) => tale.called(agent, call_id(raw), text(raw, "name"), text(raw, "arguments")),
        ("function_call_output" | "function_call_result", _) => {
            let output = raw.get("output").unwrap_or(&Value::Null);
            let output = output.get("text").unwrap_or(output);
            tale.returned(call_id(raw), outcome_of_value(output), output.as_str().unwrap_or_default());
        }
        ("message" | "", "assistant") => {
            let cut = text(raw, "status") == "incomplete";
            let said = content(raw.get("content").unwrap_or(&Value::Null));
            tale.said_as(agent, &said, countersign_core::Form::Text, if cut { Finish::Length } else { Finish::Stop });
        }
        ("message" | "", "user") => tale.asked(&content(raw.get("content").unwrap_or(&Value::Null))),
        _ => {}
    }
}
