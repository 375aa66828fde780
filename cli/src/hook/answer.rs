//! The answer, in the contract of each host.

use super::Host;
use super::payload::{Event, Payload};
use super::ruling::Missing;
use crate::GOOD;
use serde_json::{Value, json};
use std::io::Write;

/// The status by which Claude Code is told that a task is not done; what stands on the standard error is the reason.
const TASK_NOT_DONE: u8 = 2;

/// What is written where, and the exit status.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// For the host: one JSON object, or nothing.
    pub stdout: Option<Value>,
    /// For the user, or for the agent where the contract says so.
    pub stderr: Option<String>,
    /// The exit status.
    pub status: u8,
}

impl Answer {
    /// The agent may stop, and nothing is said.
    pub(super) fn silent(payload: &Payload) -> Self {
        // Cursor wants an object; the others take silence.
        let stdout = (payload.host == Host::Cursor).then(|| json!({}));
        Self { stdout, stderr: None, status: GOOD }
    }

    /// The agent may stop, and the user is told why nothing was ruled.
    pub(super) fn through(host: Option<Host>, why: impl Into<String>) -> Self {
        let said = format!("countersign let this stop through: {}", why.into());
        match host {
            Some(Host::Cursor) => Self { stdout: Some(json!({})), stderr: Some(said), status: GOOD },
            Some(Host::ClaudeCode | Host::Codex) | None => Self { stdout: Some(json!({ "systemMessage": said })), stderr: None, status: GOOD },
        }
    }

    /// The agent has to go on, and is told what is missing.
    pub(super) fn block(payload: &Payload, missing: &[Missing]) -> Self {
        let reason = reason(missing);
        match (payload.host, payload.event) {
            (Host::Cursor, _) => Self { stdout: Some(json!({ "followup_message": reason })), stderr: None, status: GOOD },
            (_, Event::TaskCompleted) => Self { stdout: None, stderr: Some(reason), status: TASK_NOT_DONE },
            (_, Event::Stop | Event::SubagentStop) => {
                Self { stdout: Some(json!({ "decision": "block", "reason": reason })), stderr: None, status: GOOD }
            }
        }
    }

    /// Writes it. Returns the exit status.
    pub(super) fn write(&self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
        if let Some(said) = &self.stdout {
            writeln!(out, "{said}")?;
        }
        if let Some(said) = &self.stderr {
            writeln!(err, "{said}")?;
        }
        Ok(self.status)
    }
}

/// What is missing, a line each: where it stands, which check found it, and what to do.
fn reason(missing: &[Missing]) -> String {
    let lines: Vec<String> = missing.iter().map(|m| format!("- {} ({}{})", sentence(&m.check), m.check, at(&m.lines))).collect();
    format!("This is not final yet:\n{}\nDo what is missing, then stop again. If it cannot be done, say so and why.", lines.join("\n"))
}

fn at(lines: &[u32]) -> String {
    match lines {
        [] => String::new(),
        [line] => format!(", line {line} of the transcript"),
        [first, ..] => format!(", line {first} of the transcript and {} more", lines.len() - 1),
    }
}

/// What to do about a finding: fixed words, so that nothing from the transcript speaks with the hook's voice.
fn sentence(check: &str) -> &'static str {
    match check {
        "background_done" => "a background shell was started and its output never read: read it, or stop the shell",
        "candidate_text" => "there is no answer: say what was done",
        "candidate_last" => "results came in after the last words: read them, then answer",
        "candidate_whole" => "the answer was cut short: give it whole, in parts if need be",
        "last_work_ok" => "the newest change failed and nothing was done after it: try again or another way",
        "work_done" => "work was tried and none of it was done: every call failed or did not run",
        "replies_reconciled" => "a sub-agent's result was not read: read it, and say what became of it",
        "plan_settled" => "the plan has open steps: do them, or give them up with a reason",
        _ => "something is missing",
    }
}
