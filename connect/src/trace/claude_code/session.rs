//! A session, line by line.

use super::jobs::Jobs;
use super::line::{Block, Line, of};
use crate::trace::sub_agents::SUB_AGENT;
use crate::trace::{Head, OWNER, Tale, stock};
use countersign_core::{Cause, Finish, Form, Outcome};
use serde_json::value::RawValue;
use serde_json::{Error, Value};

/// Kinds of line that tell nothing: the most, and the longest, of a session. Looked for before a line is parsed.
const SILENT: [&[u8]; 3] = [b"\"type\":\"progress\"", b"\"type\":\"file-history-snapshot\"", b"\"type\":\"attachment\""];

/// What the program writes where a model said nothing.
const SILENCE: [&str; 2] = ["(no content)", "No response requested."];

/// Tools that run a command: that it failed is what the command said.
const SHELLS: [&str; 2] = ["Bash", "PowerShell"];

/// What a session is told from, beside its lines.
pub(super) struct Session {
    /// Whether all of the file is a sub-agent's own transcript.
    of_sub_agent: bool,
    jobs: Jobs,
    /// Questions to the user that are open, by their call.
    questions: Vec<String>,
    /// Commands that have no result yet, by their call.
    commands: Vec<String>,
}

impl Session {
    /// Begins, with a look at the first lines.
    pub(super) fn new(head: &Head) -> Self {
        let side = |r: &Value| r.get("isSidechain").and_then(Value::as_bool) == Some(true);
        let main = |r: &Value| r.get("message").is_some() && !side(r);
        Self { of_sub_agent: head.line(side) && !head.line(main), jobs: Jobs::default(), questions: Vec::new(), commands: Vec::new() }
    }

    /// One line.
    pub(super) fn line(&mut self, number: u32, said: &str, tale: &mut Tale) -> Result<(), Error> {
        let front = said.as_bytes().get(..said.len().min(700)).unwrap_or_default();
        if SILENT.iter().any(|silent| memchr::memmem::find(front, silent).is_some()) {
            return Ok(());
        }
        let line: Line<'_> = serde_json::from_str(said)?;
        tale.at(number, None);
        match &*line.kind.0 {
            "assistant" => self.assistant(&line, tale),
            "user" => self.user(&line, tale),
            "result" => {
                result(&line, said, tale);
                Ok(())
            }
            "queue-operation" => {
                self.jobs.notified(&raw_text(line.content), tale);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn agent(&self, line: &Line<'_>) -> &'static str {
        let side = line.is_sidechain && !self.of_sub_agent || !of(&line.parent_call).is_empty();
        if side { SUB_AGENT } else { OWNER }
    }

    fn assistant(&mut self, line: &Line<'_>, tale: &mut Tale) -> Result<(), Error> {
        let Some(message) = &line.message else { return Ok(()) };
        let agent = self.agent(line);
        let finish = match of(&message.stop_reason) {
            "max_tokens" => Finish::Length,
            "refusal" => Finish::ContentFilter,
            _ => Finish::Stop,
        };
        // An error, a limit: the program says it in the model's place.
        let made_up = line.is_api_error_message || of(&message.model) == "<synthetic>";
        for block in message.blocks()? {
            match &*block.kind.0 {
                // Models put blank lines before their thoughts, and the program a word of its own where there is none.
                "text" if is_silence(of(&block.text)) && (tale.has_words() || agent == SUB_AGENT) => {}
                "text" if is_silence(of(&block.text)) => tale.said_as(agent, "", Form::Text, finish),
                "text" if made_up || stock::is_error(of(&block.text)) => tale.failed(agent, of(&block.text)),
                "text" => tale.said_as(agent, of(&block.text), Form::Text, finish),
                "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(agent, &block, tale),
                // Tools that run at the provider's have their results in the same message.
                kind if kind.ends_with("tool_result") => self.returned(line, &block, tale),
                _ => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, agent: &str, block: &Block<'_>, tale: &mut Tale) {
        let (id, name) = (of(&block.id), of(&block.name));
        let args = block.input.map_or("", RawValue::get);
        tale.called(agent, id, name, args);
        self.jobs.looked_at(args, tale);
        if SHELLS.contains(&name) {
            self.commands.push(id.to_owned());
        }
        if name == "TodoWrite" && agent == OWNER {
            tale.todos(open_todos(args));
        }
        if name == "AskUserQuestion" {
            tale.tell(|w| w.asked_user(id, ""));
            self.questions.push(id.to_owned());
        }
    }

    fn user(&mut self, line: &Line<'_>, tale: &mut Tale) -> Result<(), Error> {
        let Some(message) = &line.message else { return Ok(()) };
        for block in message.blocks()? {
            match &*block.kind.0 {
                kind if kind.ends_with("tool_result") => self.returned(line, &block, tale),
                "text" => self.spoken(line, of(&block.text), tale),
                _ => {}
            }
        }
        Ok(())
    }

    fn returned(&mut self, line: &Line<'_>, block: &Block<'_>, tale: &mut Tale) {
        let id = of(&block.answers);
        let kept = line.tool_use_result.map_or("", RawValue::get);
        let command = self.commands.iter().position(|c| c == id).map(|at| self.commands.swap_remove(at)).is_some();
        if self.jobs.begins(id, kept, tale) {
            return;
        }
        // What a good result says is read by nobody here.
        let said = if block.is_error == Some(true) { raw_text(block.content) } else { String::new() };
        let outcome = if block.is_error == Some(true) { failure(&said) } else { Outcome::Completed };
        if sub_agent(kept).is_some_and(|agent| tale.sub_agent_returned(id, &agent, outcome)) {
            return;
        }
        match outcome {
            _ if block.is_error != Some(true) => tale.returned(id, Outcome::Completed, ""),
            Outcome::Failed | Outcome::TimedOut if command && !said.starts_with("<tool_use_error>") => tale.exited(id, exit_status(&said), &said),
            outcome => tale.returned(id, outcome, &said),
        }
        if let Some(at) = self.questions.iter().position(|q| q == id) {
            self.questions.swap_remove(at);
            tale.tell(|w| w.user_answered(id, ""));
        }
    }

    /// What stands in a user's message. Much of it no user wrote.
    fn spoken(&mut self, line: &Line<'_>, said: &str, tale: &mut Tale) {
        self.jobs.notified(said, tale);
        let front = said.trim_start();
        match () {
            () if front.starts_with("[Request interrupted") => tale.ends(Cause::UserCancelled, "the user interrupted it"),
            // Commands of the program, their output, and what it puts there for the model.
            () if line.is_meta || line.is_compact_summary || front.starts_with('<') || front.starts_with("Caveat:") => {}
            () if self.agent(line) == SUB_AGENT => {}
            () if front.is_empty() => {}
            () => tale.asked(said),
        }
    }
}

/// Items of a todo list that are not done.
fn open_todos(args: &str) -> usize {
    let list: Value = serde_json::from_str(args).unwrap_or_default();
    let items = list.get("todos").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter(|item| item.get("status").is_none_or(|status| status != "completed")).count()
}

/// The id of the sub-agent whose words a result is, where the program kept one.
fn sub_agent(kept: &str) -> Option<String> {
    memchr::memmem::find(kept.as_bytes(), b"\"agentId\"")?;
    let kept: Value = serde_json::from_str(kept).ok()?;
    Some(kept.get("agentId")?.as_str()?.to_owned())
}

/// The last line of `stream-json`: how the run ended.
fn result(line: &Line<'_>, said: &str, tale: &mut Tale) {
    match of(&line.subtype) {
        "error_max_turns" => return tale.ends(Cause::TurnLimit, "the run reached its limit of turns"),
        "error_max_budget_usd" => return tale.ends(Cause::Budget, "the run reached its budget"),
        subtype if subtype.starts_with("error") => return tale.ends(Cause::Error, "the run ended by an error"),
        _ => {}
    }
    let result: Value = serde_json::from_str(said).unwrap_or_default();
    if result.get("is_error").and_then(Value::as_bool).unwrap_or_default() {
        tale.ends(Cause::ProviderError, "the run ended by an error");
    }
}

/// How results begin of calls that a person, or the rules that a person set, did not let run.
const REJECTED: [&str; 4] = ["The user doesn't want to", "Permission to use", "Claude requested permissions", "This command requires approval"];

/// How a call ended that was not a good one.
fn failure(said: &str) -> Outcome {
    match () {
        () if REJECTED.iter().any(|rejected| said.starts_with(rejected)) => Outcome::Rejected,
        () if said.starts_with("[Request interrupted") || said.contains("Sibling tool call errored") => Outcome::Cancelled,
        () if said.contains("timed out") && said.len() < 300 => Outcome::TimedOut,
        () => Outcome::Failed,
    }
}

/// The status with which a command exited, where that is what failed.
fn exit_status(said: &str) -> Option<i64> {
    let rest = said.strip_prefix("Exit code ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A text, or the texts of its parts.
fn raw_text(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw.map(RawValue::get) else { return String::new() };
    if raw.starts_with('"') {
        return serde_json::from_str(raw).unwrap_or_default();
    }
    let parts: Vec<Block<'_>> = serde_json::from_str(raw).unwrap_or_default();
    parts.iter().map(|p| of(&p.text)).collect::<Vec<_>>().join("\n")
}

fn is_silence(said: &str) -> bool {
    said.trim().is_empty() || SILENCE.contains(&said.trim())
}
