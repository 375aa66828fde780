//! How a tool's result says that it failed, where no field of the format does.

use countersign_core::Outcome;
use serde_json::Value;

/// The longest result that is looked through for a flag. A flag stands at the end or the beginning of longer ones.
const ENDS_BYTES: usize = 2000;

/// How texts of failures begin, whole words in the languages and protocols that tools are written in.
const BEGINNINGS: &[&str] =
    &["Error:", "Error ", "ERROR:", "Exception:", "Traceback (most recent call last)", "<tool_use_error>", "<error>", "fatal:"];

/// What the text of a result says of itself. Completed, unless it says otherwise.
pub(super) fn outcome_of(text: &str) -> Outcome {
    let said = text.trim();
    let flagged = |part: &str| flags_error(part);
    let (head, tail) = (clip_front(said), clip_back(said));
    match () {
        () if timed_out(said) => Outcome::TimedOut,
        () if BEGINNINGS.iter().any(|b| said.starts_with(b)) => Outcome::Failed,
        () if flagged(tail) || flagged(head) => Outcome::Failed,
        () => Outcome::Completed,
    }
}

/// What a result says that is JSON, or else its text.
pub(super) fn outcome_of_value(result: &Value) -> Outcome {
    match result {
        Value::Object(fields) => match fields.get("is_error").or_else(|| fields.get("isError")).or_else(|| fields.get("error")) {
            Some(Value::Bool(true)) => Outcome::Failed,
            Some(Value::String(why)) if !why.trim().is_empty() => Outcome::Failed,
            _ => Outcome::Completed,
        },
        Value::String(text) => outcome_of(text),
        _ => Outcome::Completed,
    }
}

/// Whether a result of the Model Context Protocol, however often it was quoted on its way, carries its error flag.
fn flags_error(part: &str) -> bool {
    let mut rest = part;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), b"isError") {
        let after = rest.get(at + "isError".len()..).unwrap_or_default();
        let value = after.trim_start_matches(['\\', '"', ' ', ':', '=']);
        if value.starts_with("true") || value.starts_with("True") {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether all it says is that the time was up.
fn timed_out(said: &str) -> bool {
    said.len() < 200 && said.trim_end_matches('.').to_ascii_lowercase().ends_with("timed out")
}

fn clip_front(text: &str) -> &str {
    text.get(..text.floor_char_boundary(ENDS_BYTES)).unwrap_or_default()
}

fn clip_back(text: &str) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(ENDS_BYTES))..).unwrap_or_default()
}
