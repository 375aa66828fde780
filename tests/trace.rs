//! Traces of other people's agents: formats are told from their content, and the gate rules on what they tell.
//! Every trace here is written for the test; none is anybody's.

mod broken;
mod chats;
mod claude_code;
mod commands;
mod formats;
mod rules;
mod words;

use countersign_connect::trace::{Audit, Report, Source, SourceError, Verdict};
use countersign_core::Policy;
use serde_json::{Value, json};

/// Reads a trace under the default policy.
fn read(text: &str) -> Result<Report, SourceError> {
    let source = Source::of(std::io::Cursor::new(text.to_owned())).expect("memory can be read");
    Audit::new(Policy::default()).read("test", source)
}

/// Reads a trace that is of this format and whole, and returns its only verdict.
fn verdict(format: &str, text: &str) -> Verdict {
    let mut report = read(text).unwrap_or_else(|e| panic!("{format}: {e}"));
    assert_eq!(report.format, format);
    assert!(report.faults.is_empty(), "{format}: {:?}", report.faults);
    assert_eq!(report.verdicts.len(), 1, "{format}");
    report.verdicts.remove(0)
}

/// A trace whose answer would be final.
fn accepted(format: &str, text: &str) {
    let verdict = verdict(format, text);
    assert!(verdict.is_final(), "{format}: {:?}", verdict.decision.missing_checks);
    assert!(verdict.unplaced.is_empty(), "{format}: {:?}", verdict.unplaced);
}

/// A trace that is refused, with what the gate finds missing: the names of the checks, in their order.
fn refused(format: &str, text: &str, checks: &[&str]) -> Verdict {
    let verdict = verdict(format, text);
    assert!(!verdict.is_final(), "{format} is final");
    assert_eq!(verdict.decision.missing().collect::<Vec<_>>(), checks, "{format}: {:?}", verdict.decision.missing_checks);
    verdict
}

/// Records, one a line.
fn lines(records: &[Value]) -> String {
    records.iter().map(|r| format!("{r}\n")).collect()
}

/// A chat of one agent.
fn chat(messages: Value) -> String {
    json!({ "messages": messages }).to_string()
}
