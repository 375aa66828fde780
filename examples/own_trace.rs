//! A format of traces of your own: what an agent wrote down, told as facts, and ruled on by the gate.
//!
//! What to look at: `recognises` tells the format from its content, `read` tells facts with their lines, and neither
//! judges anything. The second diary is refused because a call in it has no result, with the line of that call.

use countersign_connect::trace::document::text;
use countersign_connect::trace::{Audit, Head, OWNER, Source, SourceError, Told, Trace};
use countersign_core::{Outcome, Policy};
use serde_json::Value;
use std::io::Cursor;

/// A diary: one entry a line, `{"diary": "asked" | "called" | "got" | "said", "text"}`.
struct Diary;

impl Trace for Diary {
    fn name(&self) -> &'static str {
        "diary"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.line_has(&["diary", "text"])
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        told.begin("", OWNER)?;
        let faults = source.each_line(|line, entry| {
            let entry: Value = serde_json::from_str(entry)?;
            let words = text(&entry, "text");
            let tale = told.tale().map_err(serde::de::Error::custom)?;
            tale.at(line, None); // what is told from here on stands in this line
            match text(&entry, "diary") {
                "asked" => tale.asked(words),
                "called" => tale.called(OWNER, "only", words, "{}"),
                "got" => tale.returned("only", Outcome::Completed, words),
                "said" => tale.said(OWNER, words),
                _ => {}
            }
            Ok(())
        })?;
        told.faults(faults);
        Ok(())
    }
}

fn main() -> Result<(), SourceError> {
    let audit = Audit::new(Policy::default()).with(Diary);
    let asked = r#"{"diary": "asked", "text": "How warm is it?"}"#;
    let called = r#"{"diary": "called", "text": "read_thermometer"}"#;
    let got = r#"{"diary": "got", "text": "4"}"#;
    let said = r#"{"diary": "said", "text": "4 degrees."}"#;
    for diary in [vec![asked, called, got, said], vec![asked, called, said]] {
        let report = audit.read("diary", Source::of(Cursor::new(diary.join("\n")))?)?;
        for verdict in report.verdicts {
            println!("{}: {}", if verdict.is_final() { "final" } else { "not final" }, verdict.reason().name());
            for (finding, places) in verdict.decision.missing_checks.iter().zip(&verdict.places) {
                println!("  {}: {} {places:?}", finding.check, finding.message);
            }
        }
    }
    Ok(())
}
