//! Chats of named speakers, as AG2 and Magentic-One write them: a list of `{name or role, content}`.
//!
//! Two kinds. In a *team* an orchestrator hands work to specialists, reads what they say and keeps a ledger. In a
//! *group* everybody speaks in turn, one of them may be an executor that runs code, and a word ends the chat.

mod group;
mod team;

use super::document::{Item, Lines, content, items, text};
use super::{Head, Source, SourceError, Told, Trace};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Where the list stands in a document.
const LISTS: &[&str] = &["history", "messages", "chat_history"];

/// Chats of named speakers.
pub struct Speakers;

impl Trace for Speakers {
    fn name(&self) -> &'static str {
        "speakers"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.element("", is_spoken) || LISTS.iter().any(|list| head.element(list, is_spoken))
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        let document = source.document();
        let outline: BTreeMap<String, &RawValue> = serde_json::from_str(document).unwrap_or_default();
        let list = match LISTS.iter().find_map(|list| outline.get(*list)) {
            Some(list) => *list,
            None => serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?,
        };
        let spoken: Vec<Spoken> = items(&mut Lines::of(document), list).into_iter().map(Spoken::of).collect();
        match spoken.iter().find(|s| s.to.is_some()).map(|s| s.speaker.clone()) {
            Some(orchestrator) => team::tell(&spoken, &orchestrator, told),
            None => group::tell(&spoken, told),
        }
    }
}

/// One message.
struct Spoken {
    line: u32,
    at: u32,
    speaker: String,
    /// The specialist to whom it hands the work.
    to: Option<String>,
    /// What kind of message it is, where its label says so: a thought, a condition.
    aside: Option<String>,
    said: String,
}

impl Spoken {
    /// Takes a label apart: `Orchestrator (-> WebSurfer)`, `Orchestrator (thought)`, `Chess_Expert`.
    fn of(item: Item) -> Self {
        let label = speaker(&item.value);
        let (name, aside) = match label.split_once('(') {
            Some((name, aside)) => (name.trim(), Some(aside.trim_end().trim_end_matches(')').trim())),
            None => (label, None),
        };
        let to = aside.and_then(|a| a.strip_prefix("->")).map(|to| to.trim().to_owned());
        let said = content(item.value.get("content").unwrap_or(&Value::Null)).into_owned();
        let aside = aside.filter(|_| to.is_none()).map(str::to_owned);
        Self { line: item.line, at: item.at, speaker: name.to_owned(), to, aside, said }
    }
}

/// Who speaks: by name, or by a role that is none of the usual ones.
fn speaker(message: &Value) -> &str {
    [text(message, "name"), text(message, "source"), text(message, "role")].into_iter().find(|s| !s.is_empty()).unwrap_or_default()
}

fn is_spoken(message: &Value) -> bool {
    let role = text(message, "role");
    let usual = matches!(role, "system" | "developer" | "user" | "assistant" | "tool" | "function");
    let named = !text(message, "name").is_empty() && matches!(role, "user" | "assistant");
    let calls = message.get("tool_calls").is_some() || message.get("tool_call_id").is_some();
    message.get("content").is_some_and(Value::is_string) && !calls && (named || !usual && !speaker(message).is_empty())
}
