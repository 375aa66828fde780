//! Codex rollouts: a line for each item of the conversation and each event of the session. Words of the commentary
//! phase are no answer. Sessions of commands that go on in the background are jobs.

use super::document::text;
use super::outcome::outcome_of;
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace};
use countersign_core::{Cause, Finish, Form, Outcome};
use serde_json::Value;
use serde_json::value::RawValue;

/// Codex rollouts.
pub struct Codex;

impl Trace for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn recognises(&self, head: &Head) -> bool {
        let wrapped =
            |r: &Value| matches!(text(r, "type"), "session_meta" | "response_item" | "event_msg" | "turn_context") && r.get("payload").is_some();
        // Before items were wrapped, the first line named the session and said what the repository was.
        let bare = |r: &Value| r.get("instructions").is_some() && r.get("timestamp").is_some() && r.get("id").is_some();
        head.line(wrapped) || head.line(bare)
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        told.begin("", OWNER)?;
        let mut rollout = Rollout::default();
        let faults = source.each_line(|line, said| {
            let record: Line<'_> = serde_json::from_str(said)?;
            let tale = told.tale().map_err(serde::de::Error::custom)?;
            tale.at(line, None);
            match record.kind {
                "session_meta" | "turn_context" | "compacted" => {}
                "event_msg" => event(&value(record.payload, said)?, tale),
                _ => rollout.item(&value(record.payload, said)?, tale),
            }
            Ok(())
        })?;
        told.faults(faults);
        Ok(())
    }
}

/// A line: what it is, and the item or the event in it. Before items were wrapped, the line was the item.
#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", default)]
    kind: &'a str,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// Events and items that tell nothing, by how they begin: they are not parsed further.
const SILENT: [&str; 4] = ["{\"type\":\"token_count\"", "{\"type\":\"agent_reasoning\"", "{\"type\":\"reasoning\"", "{\"type\":\"agent_message\""];

fn value(payload: Option<&RawValue>, line: &str) -> Result<Value, serde_json::Error> {
    match payload.map_or(line, RawValue::get) {
        silent if SILENT.iter().any(|s| silent.starts_with(s)) => Ok(Value::Null),
        told => serde_json::from_str(told),
    }
}

/// Sessions of commands that go on, by the number that Codex gave them.
#[derive(Default)]
struct Rollout {
    sessions: Vec<(String, String)>,
}

impl Rollout {
    fn item(&mut self, item: &Value, tale: &mut Tale) {
        let id = [text(item, "call_id"), text(item, "id")].into_iter().find(|id| !id.is_empty()).unwrap_or_default();
        match text(item, "type") {
            "message" => message(item, tale),
            "function_call" => self.called(id, text(item, "name"), text(item, "arguments"), tale),
            "custom_tool_call" => self.called(id, text(item, "name"), text(item, "input"), tale),
            "local_shell_call" => self.called(id, "shell", &item.get("action").unwrap_or(&Value::Null).to_string(), tale),
            "web_search_call" => {
                tale.called(OWNER, id, "web_search", "");
                let failed = text(item, "status") == "failed";
                tale.returned(id, if failed { Outcome::Failed } else { Outcome::Completed }, "");
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => self.returned(id, item, tale),
            _ => {}
        }
    }

    fn called(&mut self, id: &str, name: &str, args: &str, tale: &mut Tale) {
        let asks = matches!(name, "request_user_input" | "ask_user");
        tale.called(OWNER, id, name, args);
        if asks {
            tale.tell(|w| w.asked_user(id, ""));
        }
        let named: Value = serde_json::from_str(args).unwrap_or_default();
        if name == "update_plan" {
            let steps = named.get("plan").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            tale.todos(steps.iter().filter(|step| text(step, "status") != "completed").count());
        }
        // Whoever writes to a session, or reads from it, has seen what it printed.
        let session = named.get("session_id").map(ToString::to_string).unwrap_or_default();
        for (_, job) in self.sessions.extract_if(.., |(number, _)| !session.is_empty() && *number == session) {
            tale.tell(|w| w.job_ended(&job, Outcome::Completed, ""));
        }
    }

    fn returned(&mut self, id: &str, item: &Value, tale: &mut Tale) {
        let output = item.get("output").unwrap_or(&Value::Null);
        let said = super::document::content(output);
        let parsed: Value = serde_json::from_str(&said).unwrap_or_default();
        let status = parsed.pointer("/metadata/exit_code").and_then(Value::as_i64).or_else(|| status_in(&said));
        if let Some(number) = number_after(&said, "Process running with session ID ").filter(|_| status.is_none()) {
            tale.goes_on(id, &number.to_string());
            self.sessions.push((number.to_string(), id.to_owned()));
            return;
        }
        match status {
            Some(_) => tale.exited(id, status, &said),
            None if said.starts_with("aborted by user") => tale.returned(id, Outcome::Cancelled, &said),
            None if said.starts_with("unsupported call: ") => tale.returned(id, Outcome::Failed, &said),
            None => tale.returned(id, outcome_of(&said), &said),
        }
        if tale.witness().asks_user(id) {
            tale.tell(|w| w.user_answered(id, ""));
        }
    }
}

fn message(item: &Value, tale: &mut Tale) {
    let said = super::document::content(item.get("content").unwrap_or(&Value::Null));
    match text(item, "role") {
        // What the program puts before the conversation stands in tags, or under a heading of its own.
        "user" if said.trim_start().starts_with('<') || said.starts_with("# AGENTS.md") => {}
        "user" => tale.asked(&said),
        "assistant" if text(item, "phase") == "commentary" => tale.said("commentary", &said),
        "assistant" => tale.said_as(OWNER, &said, Form::Text, Finish::Stop),
        _ => {}
    }
}

fn event(event: &Value, tale: &mut Tale) {
    match text(event, "type") {
        "turn_aborted" => tale.ends(Cause::UserCancelled, "the turn was aborted"),
        "error" | "stream_error" => tale.ends(Cause::ProviderError, "the session recorded an error"),
        _ => {}
    }
}

/// The status in the heading of what a command printed.
fn status_in(said: &str) -> Option<i64> {
    let heading = said.get(..said.floor_char_boundary(400)).unwrap_or_default();
    number_after(heading, "Process exited with code ").or_else(|| number_after(heading, "Exit code: "))
}

fn number_after(said: &str, lead: &str) -> Option<i64> {
    let (_, rest) = said.split_once(lead)?;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().ok()
}
