//! Formats that are known and not read: named, with what can be done, so that they are never misread.

use super::{Head, SourceError};
use serde_json::Value;

/// What a source is that no importer reads.
pub(super) fn named(head: &Head) -> SourceError {
    let (what, hint) = match head {
        Head::Bytes(bytes) if bytes.starts_with(b"PK") => (
            "a zip archive, such as an Inspect `.eval` log",
            "convert it with `inspect log convert --to json`, and audit the messages of its samples",
        ),
        Head::Bytes(bytes) if bytes.is_empty() => ("empty", "there is nothing in it to rule on"),
        _ if head.has(&["eval", "plan", "samples"]) => ("an Inspect evaluation log", "audit the `messages` of its samples as chat messages"),
        _ if head.has(&["sessionId", "projectHash", "messages"]) => ("a Gemini CLI session", "export it as chat messages"),
        _ if head.has(&["trace", "observations"]) => ("a Langfuse export", "export the same trace as OTLP JSON"),
        _ if head.has(&["metadata", "steps"]) => ("a TapeAgents tape", "export it as chat messages"),
        _ if head.line_has(&["type", "provider", "modelId"]) => ("a pi session", "export it as chat messages"),
        _ if prose(head) => ("a mini-swe-agent trajectory, whose calls stand in prose", "export it as chat messages with tool calls"),
        _ if operations(head) => ("spans sorted by operation, as the AI SDK's tests write them", "export them as OTLP JSON (`resourceSpans`)"),
        _ if head.element("", |e| e.get("trajectory_id").is_some()) => ("a list of labels", "it holds no trace"),
        Head::Lines(_) => ("line JSON of an unknown kind", "`countersign audit --formats` lists what is read; a format of your own is a `Trace`"),
        _ => ("of an unknown format", "`countersign audit --formats` lists what is read; a format of your own is a `Trace`"),
    };
    SourceError::Unknown { what, hint }
}

fn prose(head: &Head) -> bool {
    ["", "messages"].iter().any(|list| head.element(list, super::chat::returns_in_prose))
}

/// Whether a document holds nothing but lists of spans, by operation.
fn operations(head: &Head) -> bool {
    let span = |value: &Value| value.get("spanContext").is_some() && value.get("attributes").is_some();
    matches!(head, Head::Document { lists, .. } if lists.values().any(|list| list.iter().any(span)))
}
