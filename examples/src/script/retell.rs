//! Case files as scenarios. What the gate must say is copied from the case, never asked of our gate: the
//! test then proves that the two agree.

use super::line::write;
use crate::cases::{CaseError, parse};
use countersign::check::built_in;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Retells a case.
pub fn retell(json: &str) -> Result<String, CaseError> {
    let case = parse(json)?;
    let raw: Value = serde_json::from_str(json)?;
    let events = raw.get("events").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut out = format!("# {}: {}\n", case.id, case.title);
    let _ = writeln!(out, "# source: {}", case.source);
    if let Some(finals) = case.expect.finals {
        let _ = writeln!(out, "# finals: {finals}");
    }
    for (key, ids) in [("must", &case.expect.must), ("must_not", &case.expect.must_not)] {
        if !ids.is_empty() {
            let _ = writeln!(out, "# {key}: {}", ids.join(" "));
        }
    }
    out.push('\n');
    for (told, event) in case.events.iter().zip(events) {
        out.push_str(&fact(event.as_object()));
        for decision in case.expect.decisions.iter().filter(|d| d.after == told.n) {
            let _ = write!(out, "---\n{} {} {}", decision.status, decision.reason, decision.next);
            let missing = in_order(&decision.missing);
            if !missing.is_empty() {
                let _ = write!(out, " | {}", missing.join(" "));
            }
            out.push_str("\n\n");
        }
    }
    Ok(format!("{}\n", out.trim_end()))
}

fn fact(event: Option<&Map<String, Value>>) -> String {
    let line = event.and_then(write).unwrap_or_else(|| "# an event that has no verb".into());
    let raw = event.and_then(|e| e.get("raw")).map(|raw| format!("  # raw: {raw}")).unwrap_or_default();
    format!("{line}{raw}\n")
}

/// In the order in which the gate lists its findings.
fn in_order(missing: &[String]) -> Vec<&str> {
    let order: Vec<String> = built_in().iter().map(|c| c.name().to_owned()).collect();
    let mut listed: Vec<&str> = missing.iter().map(String::as_str).collect();
    listed.sort_by_key(|name| order.iter().position(|o| o == name));
    listed
}
