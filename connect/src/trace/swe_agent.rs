//! SWE-agent trajectories: steps of action and observation, and how the run left.

use super::document::{Lines, items, text};
use super::{Head, OWNER, Source, SourceError, Tale, Told, Trace};
use countersign_core::{Cause, Declared, Effect, Outcome};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// SWE-agent trajectories.
pub struct SweAgent;

impl Trace for SweAgent {
    fn name(&self) -> &'static str {
        "swe-agent"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.has(&["trajectory", "info"])
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        let document = source.document();
        let outline: BTreeMap<String, &RawValue> = serde_json::from_str(document).map_err(|e| SourceError::broken(&e))?;
        let tale = told.begin("", OWNER)?;
        for step in outline.get("trajectory").map(|list| items(&mut Lines::of(document), list)).unwrap_or_default() {
            tale.at(step.line, Some(step.at));
            tell(&step.value, step.at, tale);
        }
        let info = outline.get("info").and_then(|info| serde_json::from_str(info.get()).ok()).unwrap_or_default();
        left(&info, tale);
        Ok(())
    }
}

/// One step: the action is a call, whatever command it is; the observation is its result.
fn tell(step: &Value, at: u32, tale: &mut Tale) {
    let action = text(step, "action").trim();
    let said = [text(step, "thought"), text(step, "response")].into_iter().find(|s| !s.trim().is_empty()).unwrap_or_default();
    if action.is_empty() {
        return tale.said("thoughts", said);
    }
    let (id, command) = (format!("step {at}"), action.split_whitespace().next().unwrap_or_default());
    let declared = match command {
        "submit" | "exit" | "exit_forfeit" => super::declared("submit"),
        _ => Declared { approval: false, ..Declared::run(Effect::Write) },
    };
    tale.called_as(OWNER, &id, command, action, declared);
    // What a shell prints is no verdict: only that it ran out of time is told.
    let observation = text(step, "observation");
    let late = observation.trim_start().starts_with("EXECUTION TIMED OUT");
    tale.returned(&id, if late { Outcome::TimedOut } else { Outcome::Completed }, observation);
}

/// How the run left, and what it submitted: that, and nothing that was said on the way, is the answer.
fn left(info: &Value, tale: &mut Tale) {
    tale.takes_back();
    let submission = text(info, "submission");
    if !submission.trim().is_empty() {
        tale.said(OWNER, submission);
    }
    let status = text(info, "exit_status").to_ascii_lowercase();
    match () {
        () if status == "submitted" => {}
        () if status.contains("cost") || status.contains("context") || status.contains("limit") => {
            tale.ends(Cause::Budget, "the run was ended by a limit on cost or context");
        }
        () if status.contains("time") => tale.ends(Cause::Timeout, "the run was ended by a limit on time"),
        () if status.contains("format") || status.contains("error") => tale.ends(Cause::Error, "the run was ended by an error"),
        () if !status.is_empty() => tale.ends(Cause::Error, "the run left without submitting"),
        () => tale.takes_back(),
    }
}
