//! Cursor transcripts: a line for each message, with blocks of text and of calls. Results are not in them: what came
//! of a call is not known, and a call is not held to be open.

use super::document::{content, text};
use super::{Head, OWNER, Source, SourceError, Told, Trace, stock};
use serde_json::Value;

/// Cursor transcripts.
pub struct Cursor;

impl Trace for Cursor {
    fn name(&self) -> &'static str {
        "cursor"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.line(|r| matches!(text(r, "role"), "user" | "assistant") && r.pointer("/message/content").is_some() && r.get("sessionId").is_none())
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        told.begin("", OWNER)?;
        let faults = source.each_line(|line, said| {
            let record: Value = serde_json::from_str(said)?;
            let tale = told.tale().map_err(serde::de::Error::custom)?;
            tale.at(line, None);
            let said = content(record.pointer("/message/content").unwrap_or(&Value::Null));
            match text(&record, "role") {
                "user" => tale.asked(&said),
                "assistant" if stock::is_error(&said) => tale.failed(OWNER, &said),
                "assistant" => tale.said(OWNER, &said),
                _ => {}
            }
            Ok(())
        })?;
        told.faults(faults);
        Ok(())
    }
}
