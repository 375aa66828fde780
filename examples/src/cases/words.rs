//! The words of the cases, in the project's own.

use super::vocab::CaseStep;
use countersign::event::Claim;
use countersign::{Cause, Effect, Finish, Outcome, StepSpec, Str, Verdict};
use serde_json::Value;

pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

pub(super) fn effect_of(effect: Option<&str>) -> Effect {
    match effect {
        Some("write") => Effect::Write,
        Some("destructive") => Effect::Destructive,
        Some("check") => Effect::Check,
        Some("control") => Effect::Control,
        _ => Effect::Read,
    }
}

/// What is not known to be good is not good.
pub(super) fn outcome_of(outcome: &str) -> Outcome {
    match outcome {
        "ok" | "done" | "completed" => Outcome::Completed,
        "limited" => Outcome::CutOff,
        "timeout" => Outcome::TimedOut,
        "cancelled" | "killed" => Outcome::Cancelled,
        "aborted" | "lost" => Outcome::Lost,
        "refused" | "rejected" | "denied" => Outcome::Rejected,
        _ => Outcome::Failed,
    }
}

/// A text that ended in an error is cut short, whoever offers it.
pub(super) fn finish_of(finish: Option<&str>) -> Finish {
    match finish {
        Some("tool_calls") => Finish::ToolCalls,
        Some("length" | "error") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        _ => Finish::Stop,
    }
}

pub(super) fn cause_of(cause: &str) -> Cause {
    match cause {
        "natural" => Cause::Natural,
        "pause" => Cause::Pause,
        "awaiting_human" => Cause::AwaitingHuman,
        "turn_limit" => Cause::TurnLimit,
        "budget" => Cause::Budget,
        "timeout" => Cause::Timeout,
        "user_cancelled" => Cause::UserCancelled,
        "idle_exit" => Cause::IdleExit,
        "replan_limit" => Cause::ReplanLimit,
        "transfer_limit" => Cause::TransferLimit,
        _ => Cause::ProviderError,
    }
}

pub(super) fn verdict_of(verdict: &str) -> Option<Verdict> {
    match verdict.to_lowercase().as_str() {
        "approved" | "approve" | "accept" | "accepted" | "pass" | "passed" | "ok" => Some(Verdict::Approved),
        "rejected" | "reject" | "fail" | "failed" | "changes_requested" => Some(Verdict::Rejected),
        _ => None,
    }
}

/// Claims come as a map, or as a list of records with key and value.
pub(super) fn claims_of(claims: &Value) -> Vec<Claim> {
    let claim = |key: &str, value: &Value| Claim { key: key.into(), value: plain(value).into(), confidence: None };
    match claims {
        Value::Object(fields) => fields.iter().map(|(key, value)| claim(key, value)).collect(),
        Value::Array(items) => {
            let parts = |item: &Value| Some(claim(&plain(item.get("key")?), item.get("value")?));
            items.iter().filter_map(parts).collect()
        }
        _ => Vec::new(),
    }
}

/// Criteria come as a map, a list of records, a list of words, or as lists or counts of what is met and unmet.
pub(super) fn criteria_of(criteria: &Value) -> Vec<(Str, bool)> {
    match criteria {
        Value::Object(fields) if fields.contains_key("unmet") || fields.contains_key("met") => {
            let met = (0..amount(fields.get("met"))).map(|n| (format!("met {n}").into(), true));
            let total = fields.get("total").map(|t| amount(Some(t)).saturating_sub(amount(fields.get("met"))));
            let unmet = (0..total.unwrap_or_else(|| amount(fields.get("unmet")))).map(|n| (format!("unmet {n}").into(), false));
            met.chain(unmet).collect()
        }
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.as_str().into(), is_met(value))).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string().into(), is_met(value))).collect(),
        _ => Vec::new(),
    }
}

fn amount(value: Option<&Value>) -> usize {
    match value {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(fields)) => fields.len(),
        Some(Value::Number(number)) => number.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0).min(100),
        Some(Value::Bool(true)) => 1,
        _ => 0,
    }
}

fn is_met(value: &Value) -> bool {
    match value {
        Value::Bool(met) => *met,
        Value::Number(number) => number.as_f64().is_some_and(|n| n > 0.0),
        Value::String(text) => {
            let word = text.rsplit([':', '=']).next().unwrap_or_default().trim().to_lowercase();
            matches!(word.as_str(), "met" | "ok" | "pass" | "passed" | "yes" | "true" | "satisfied" | "fulfilled" | "done")
        }
        Value::Object(fields) => {
            let told = ["met", "ok", "pass", "passed", "satisfied", "status", "state", "result", "value", "outcome"];
            told.iter().find_map(|k| fields.get(*k)).is_some_and(is_met)
        }
        Value::Null | Value::Array(_) => false,
    }
}

pub(super) fn steps_of(steps: &[CaseStep]) -> Vec<StepSpec> {
    let need = |s: &String| Str::from(s.trim());
    steps.iter().map(|s| StepSpec { id: s.id.trim().into(), text: "".into(), needs: s.needs.iter().map(need).collect() }).collect()
}
