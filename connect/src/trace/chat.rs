//! OpenAI chat messages: a list of `{role, content, tool_calls}`, bare or inside a document, one document a file or
//! a line, or one message a line. Call ids may be missing, or come again.
//!
//! Known of the shapes around the list: `messages`; `traj` with `info`, as tau-bench writes them, where a run that
//! died has no messages and an `info.error`.

use super::document::{Item, Lines, content, items, text};
use super::outcome::outcome_of;
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace, stock};
use countersign_core::{Cause, Finish, Form, Outcome};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Where the list stands in a document.
const LISTS: &[&str] = &["messages", "traj"];

/// OpenAI chat messages.
pub struct Chat;

impl Trace for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn recognises(&self, head: &Head) -> bool {
        let prose = LISTS.iter().chain(&[""]).any(|list| head.element(list, returns_in_prose));
        let died = head.has(&["traj", "info"]);
        let line = |record: &Value| is_message(record) || LISTS.iter().any(|list| record.get(list).and_then(|l| l.get(0)).is_some_and(is_message));
        !prose && (died || head.element("", is_message) || LISTS.iter().any(|list| head.element(list, is_message)) || head.line(line))
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        if source.head().line(is_message) {
            let mut conversation = Conversation::default();
            told.begin("", OWNER)?;
            let faults = source.each_line(|line, text| {
                let tale = told.tale().map_err(serde::de::Error::custom)?;
                tale.at(line, None);
                conversation.tell(&Item { line, at: 0, value: serde_json::from_str(text)? }, tale);
                Ok(())
            })?;
            told.faults(faults);
            return Ok(());
        }
        if source.head().is_lines() {
            let faults = source.each_line(|line, text| {
                let mut whole: Whole = serde_json::from_str(text)?;
                tell(whole.items(line), &whole.info, told).map_err(serde::de::Error::custom)
            })?;
            told.faults(faults);
            return Ok(());
        }
        let document = source.document();
        let outline = match serde_json::from_str::<BTreeMap<String, &RawValue>>(document) {
            Ok(outline) => outline,
            Err(_) => BTreeMap::from([("messages".to_owned(), serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?)]),
        };
        let list = LISTS.iter().find_map(|list| outline.get(*list));
        let info: Value = outline.get("info").and_then(|info| serde_json::from_str(info.get()).ok()).unwrap_or_default();
        tell(list.map(|list| items(&mut Lines::of(document), list)).unwrap_or_default(), &info, told)
    }
}

/// A conversation that stands in one line: read at once, as no part of it has another place.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole {
    messages: Value,
    traj: Value,
    info: Value,
}

impl Whole {
    fn items(&mut self, line: u32) -> Vec<Item> {
        let list = if self.messages.is_null() { &mut self.traj } else { &mut self.messages };
        let Value::Array(list) = list.take() else { return Vec::new() };
        list.into_iter().zip(0..).map(|(value, at)| Item { line, at, value }).collect()
    }
}

/// What a mini-swe-agent tells its model of a command: in such a chat calls stand in prose, and it is not read.
pub(super) fn returns_in_prose(value: &Value) -> bool {
    text(value, "role") == "user" && text(value, "content").starts_with("<returncode>")
}

fn is_message(value: &Value) -> bool {
    let known = matches!(text(value, "role"), "system" | "developer" | "user" | "assistant" | "tool" | "function");
    known && (value.get("content").is_some() || value.get("tool_calls").is_some())
}

/// One conversation.
fn tell(items: Vec<Item>, info: &Value, told: &mut Told<'_>) -> Result<(), SourceError> {
    let tale = told.begin("", OWNER)?;
    let mut conversation = Conversation::default();
    for item in items {
        tale.at(item.line, Some(item.at));
        conversation.tell(&item, tale);
    }
    if !text(info, "error").is_empty() {
        tale.ends(Cause::Error, "the harness recorded an error");
    }
    Ok(())
}

/// The calls of one conversation that have no result yet, so that one without an id can be placed.
#[derive(Default)]
pub(super) struct Conversation {
    calls: u32,
    open: Vec<(String, String)>,
}

impl Conversation {
    /// One message.
    pub(super) fn tell(&mut self, item: &Item, tale: &mut Tale) {
        let message = &item.value;
        let said = content(message.get("content").unwrap_or(&Value::Null));
        match text(message, "role") {
            "user" if ends_the_talk(&said) => {}
            "user" => tale.asked(&said),
            "assistant" => self.assistant(message, &said, tale),
            "tool" | "function" => {
                let id = self.answered(text(message, "tool_call_id"), text(message, "name"));
                let flagged = message.get("error").and_then(Value::as_bool).unwrap_or_default();
                let outcome = if flagged { Outcome::Failed } else { outcome_of(&said) };
                tale.returned(&id, outcome, &said);
            }
            _ => {}
        }
    }

    fn assistant(&mut self, message: &Value, said: &str, tale: &mut Tale) {
        let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let legacy = message.get("function_call").filter(|call| call.is_object());
        match () {
            () if stock::is_error(said) => tale.failed(OWNER, said),
            () if stock::is_limit(said) => {
                tale.takes_back();
                tale.ends(Cause::TurnLimit, "a framework said in the agent's place that a limit was reached");
            }
            () if !said.trim().is_empty() => tale.said_as(OWNER, said, Form::Text, finish(message)),
            () if calls.is_empty() && legacy.is_none() => {
                let thought = !text(message, "reasoning_content").is_empty();
                let refusal = text(message, "refusal");
                tale.said_as(OWNER, refusal, if thought { Form::ReasoningOnly } else { Form::Text }, finish(message));
            }
            () => {}
        }
        for call in calls {
            // The name and the arguments stand in `function`, or beside the id.
            self.call(text(call, "id"), call.get("function").unwrap_or(call), tale);
        }
        if let Some(call) = legacy {
            self.call("", call, tale);
        }
    }

    fn call(&mut self, id: &str, function: &Value, tale: &mut Tale) {
        self.calls += 1;
        let id = if id.trim().is_empty() { format!("call {} of the conversation", self.calls) } else { id.to_owned() };
        let name = text(function, "name");
        let args = function.get("arguments").map(super::tale::args_text).unwrap_or_default();
        self.open.push((id.clone(), name.to_owned()));
        tale.called(OWNER, &id, name, &args);
    }

    /// The call that a result answers: by its id, else the oldest open one by its tool, else the oldest open one.
    fn answered(&mut self, id: &str, name: &str) -> String {
        let by_id = self.open.iter().position(|(open, _)| !id.is_empty() && open == id);
        let by_name = || self.open.iter().position(|(_, of)| id.is_empty() && of == name);
        let oldest = || (id.is_empty() && name.is_empty() && !self.open.is_empty()).then_some(0);
        match by_id.or_else(by_name).or_else(oldest) {
            Some(at) => self.open.remove(at).0,
            None => id.to_owned(),
        }
    }
}

fn finish(message: &Value) -> Finish {
    match text(message, "finish_reason") {
        "length" | "max_tokens" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        _ => Finish::Stop,
    }
}

/// Whether a simulated user ends the conversation: `###`, a word in capitals, `###`. It is no request.
fn ends_the_talk(said: &str) -> bool {
    let mut parts = said.split("###");
    parts.next();
    parts.any(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '-' | '_')))
}
