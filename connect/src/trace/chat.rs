//! OpenAI chat messages: a list of `{role, content, tool_calls}`, bare or inside a document, one document a file or
//! a line, or one message a line. Call ids may be missing, or come again.
//!
//! Known of the shapes around the list: `messages`; `traj` with `info`, as tau-bench writes them, where a run that
//! died has no messages and an `info.error`.

mod message;

pub(super) use message::Message;

use super::document::{Lines, elements, text};
use super::lenient::{List, Object, Text};
use super::outcome::outcome_of;
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace, stock};
use countersign_core::{Cause, Finish, Form, Outcome};
use message::Call;
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
                conversation.tell(&serde_json::from_str(text)?, tale);
                Ok(())
            })?;
            told.faults(faults);
            return Ok(());
        }
        if source.head().is_lines() {
            let faults = source.each_line(|line, text| {
                let whole: Whole<'_> = serde_json::from_str(text)?;
                let died = whole.died();
                let list = if whole.messages.0.is_empty() { whole.traj } else { whole.messages };
                tell(list.0.into_iter().map(|message| (line, message)), died, told).map_err(serde::de::Error::custom)
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
        let info: Object<Info<'_>> = outline.get("info").and_then(|info| serde_json::from_str(info.get()).ok()).unwrap_or_default();
        let mut lines = Lines::of(document);
        let messages = list.map(|list| elements(list)).unwrap_or_default();
        tell(messages.into_iter().map(|raw| (lines.of_part(raw.get()), serde_json::from_str(raw.get()).unwrap_or_default())), Info::died(&info), told)
    }
}

/// A conversation that stands in one line: read at once, as no part of it has another place.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole<'a> {
    #[serde(borrow)]
    messages: List<Message<'a>>,
    #[serde(borrow)]
    traj: List<Message<'a>>,
    #[serde(borrow)]
    info: Object<Info<'a>>,
}

/// What a harness says of a conversation.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    error: Text<'a>,
}

impl Whole<'_> {
    fn died(&self) -> bool {
        Info::died(&self.info)
    }
}

impl Info<'_> {
    fn died(info: &Object<Self>) -> bool {
        info.0.as_ref().is_some_and(|info| !info.error.is_empty())
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

/// One conversation: its messages, each with its line, and whether the harness recorded an error.
fn tell<'a>(messages: impl Iterator<Item = (u32, Object<Message<'a>>)>, died: bool, told: &mut Told<'_>) -> Result<(), SourceError> {
    let tale = told.begin("", OWNER)?;
    let mut conversation = Conversation::default();
    for (at, (line, message)) in (0..).zip(messages) {
        tale.at(line, Some(at));
        conversation.tell(&message.0.unwrap_or_default(), tale);
    }
    if died {
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
    pub(super) fn tell(&mut self, message: &Message<'_>, tale: &mut Tale) {
        let said = &*message.content;
        match &*message.role {
            "user" if ends_the_talk(said) => {}
            "user" => tale.asked(said),
            "assistant" => self.assistant(message, said, tale),
            "tool" | "function" => {
                let id = self.answered(&message.tool_call_id, &message.name);
                let outcome = if &*message.error == "true" { Outcome::Failed } else { outcome_of(said) };
                tale.returned(&id, outcome, said);
            }
            _ => {}
        }
    }

    fn assistant(&mut self, message: &Message<'_>, said: &str, tale: &mut Tale) {
        let calls = || message.tool_calls.0.iter().filter_map(|call| call.0.as_ref());
        let legacy = message.function_call.0.as_ref();
        match () {
            () if stock::is_error(said) => tale.failed(OWNER, said),
            () if stock::is_limit(said) => {
                tale.takes_back();
                tale.ends(Cause::TurnLimit, "a framework said in the agent's place that a limit was reached");
            }
            () if !said.trim().is_empty() => tale.said_as(OWNER, said, Form::Text, finish(message)),
            () if calls().next().is_none() && legacy.is_none() => {
                let thought = !message.reasoning_content.is_empty();
                tale.said_as(OWNER, &message.refusal, if thought { Form::ReasoningOnly } else { Form::Text }, finish(message));
            }
            () => {}
        }
        calls().for_each(|call| self.call(&call.id, call, tale));
        if let Some(call) = legacy {
            self.call("", call, tale);
        }
    }

    fn call(&mut self, id: &str, call: &Call<'_>, tale: &mut Tale) {
        self.calls += 1;
        let id = if id.trim().is_empty() { format!("call {} of the conversation", self.calls) } else { id.to_owned() };
        tale.called(OWNER, &id, call.name(), call.arguments());
        self.open.push((id, call.name().to_owned()));
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

fn finish(message: &Message<'_>) -> Finish {
    match &*message.finish_reason {
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
