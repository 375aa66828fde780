//! Claude Code sessions: a line for each block of each message, in a file of the session or on the program's
//! standard output (`stream-json`).
//!
//! Lines of a sidechain belong to sub-agents: their work is told under another name, and their words are no answer.
//! A file that holds nothing but a sidechain is a sub-agent's own transcript; where its session stands beside it, it
//! is part of the session's run.

mod beside;
mod jobs;
mod line;
mod session;

use super::document::{Lines, text};
use super::{Fault, Head, Source, SourceError, Told, Trace};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

pub use beside::session_of;

/// Claude Code sessions.
pub struct ClaudeCode;

impl Trace for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn recognises(&self, head: &Head) -> bool {
        let stored = |r: &Value| r.get("uuid").is_some() && r.get("sessionId").is_some();
        let summary = |r: &Value| text(r, "type") == "summary" && r.get("leafUuid").is_some();
        let streamed = |r: &Value| r.get("session_id").is_some() && matches!(text(r, "type"), "system" | "assistant" | "user" | "result");
        let noted = |r: &Value| matches!(text(r, "type"), "file-history-snapshot" | "queue-operation");
        head.line(|r| stored(r) || summary(r) || streamed(r) || noted(r)) || head.element("", streamed)
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        let mut session = session::Session::new(source.head());
        told.begin("", super::OWNER)?;
        if !source.head().is_lines() {
            // The stream as one list, which is what the program prints where it is asked for plain JSON.
            let (document, mut lines) = (source.document(), Lines::of(source.document()));
            let records: Vec<&RawValue> = serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?;
            for record in records {
                let line = lines.of_part(record.get());
                if let Err(why) = session.line(line, record.get(), told.tale()?) {
                    told.fault(Fault { line, why: why.to_string() });
                }
            }
            return Ok(());
        }
        let faults = source.each_line(|number, said| {
            let tale = told.tale().map_err(serde::de::Error::custom)?;
            session.line(number, said, tale)
        })?;
        told.faults(faults);
        Ok(())
    }

    fn sub_agents(&self, trace: &Path) -> Vec<PathBuf> {
        beside::transcripts(trace)
    }
}
