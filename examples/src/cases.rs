//! Case files: bug reports retold as event sequences, in JSON. Translated by vocabulary, never by case.

mod normal;
mod player;
pub mod vocab;
mod words;

pub use player::{Player, rules, translate};
pub use vocab::{CasePolicy, CaseStep, Dropped, Told, What};

use countersign::Decision;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// One case.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// The mode.
    #[serde(default)]
    pub mode: String,
    /// What it is about.
    #[serde(default)]
    pub title: String,
    /// Where the report stands.
    #[serde(default)]
    pub source: String,
    /// What happened.
    pub events: Vec<Told>,
    /// What the gate must say.
    pub expect: Expect,
}

/// What the gate must say.
#[derive(Debug, Deserialize)]
pub struct Expect {
    /// Decisions, each after a prefix of the events.
    #[serde(default)]
    pub decisions: Vec<Expected>,
    /// Finals delivered in the whole.
    #[serde(default)]
    pub finals: Option<usize>,
    /// Duties of the orchestrator, the store or the stream.
    #[serde(default)]
    pub must: Vec<String>,
    /// What they must not do.
    #[serde(default)]
    pub must_not: Vec<String>,
}

/// One decision that the gate must make.
#[derive(Debug, Deserialize)]
pub struct Expected {
    /// The number of the last event given.
    pub after: u32,
    /// Status.
    pub status: String,
    /// Reason.
    pub reason: String,
    /// What is done next.
    pub next: String,
    /// Every check that objects.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// A case that cannot be run, and why.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file is not a case, or it tells of an event that the vocabulary does not have.
    #[error("not a case file: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The first event is not `run_started`, or there is none.
    #[error("a case begins with `run_started`")]
    NoStart,
    /// The run could not begin.
    #[error("the run could not begin: {0}")]
    Append(#[from] countersign::AppendError),
}

/// Reads one case.
pub fn parse(text: &str) -> Result<Case, CaseError> {
    Ok(serde_json::from_value(normal::case(serde_json::from_str(text)?))?)
}

/// Reads one event.
pub fn event(mut fields: Map<String, Value>) -> Result<What, CaseError> {
    normal::event(&mut fields);
    Ok(serde_json::from_value(Value::Object(fields))?)
}

/// What differs from what a case expects; empty where it passes.
pub fn differences(case: &Case) -> Result<Vec<String>, CaseError> {
    let mut found = Vec::new();
    for expected in &case.expect.decisions {
        let prefix: Vec<&Told> = case.events.iter().filter(|e| e.n <= expected.after).collect();
        let (decision, _) = play(&prefix)?;
        found.extend(compare(expected, &decision));
    }
    if let Some(finals) = case.expect.finals {
        let all: Vec<&Told> = case.events.iter().collect();
        let (_, delivered) = play(&all)?;
        if delivered != finals {
            found.push(format!("finals: {delivered}, not {finals}"));
        }
    }
    Ok(found)
}

fn compare(expected: &Expected, decision: &Decision) -> Vec<String> {
    let wire = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let status = wire(serde_json::to_value(decision.status).unwrap_or_default());
    let next = wire(serde_json::to_value(decision.next).unwrap_or_default());
    let mut found = Vec::new();
    let mut differ = |what: &str, is: &str, wanted: &str| {
        if is != wanted {
            found.push(format!("after {}: {what} {is}, not {wanted}", expected.after));
        }
    };
    differ("status", &status, &expected.status);
    differ("reason", decision.completion_reason.name(), &expected.reason);
    differ("next", &next, &expected.next);
    let compared = !matches!(&*expected.reason, "user_cancelled" | "already_final");
    let missing: BTreeSet<&str> = decision.missing().collect();
    let wanted: BTreeSet<&str> = expected.missing.iter().map(String::as_str).collect();
    if compared && missing != wanted {
        let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(" ");
        differ("missing", &list(&missing), &list(&wanted));
    }
    found
}

/// Tells a prefix to a witness and asks the gate: what it says at the end, and how many finals there were.
pub fn play(events: &[&Told]) -> Result<(Decision, usize), CaseError> {
    let Some(What::RunStarted { mode, policy }) = events.first().map(|t| &t.what) else { return Err(CaseError::NoStart) };
    let mut player = Player::start(mode, rules(mode), translate(policy))?;
    let whats: Vec<&What> = events.iter().map(|t| &t.what).collect();
    let mut finals = 0;
    for (at, told) in events.iter().enumerate().skip(1) {
        player.tell(told.n, &told.what);
        if at + 1 < events.len() && is_ruled_on(&whats, at) && player.witness.decide().finalizable {
            finals += usize::from(player.witness.rule()?.final_text.is_some());
        }
    }
    let decision = player.witness.decide();
    finals += usize::from(decision.finalizable);
    Ok((decision, finals))
}

/// Whether the gate is asked for good after this event: a candidate, once those who judge it have spoken.
pub fn is_ruled_on(events: &[&What], at: usize) -> bool {
    let judged_later = || {
        let rest = events.iter().skip(at + 1);
        rest.take_while(|w| !matches!(w, What::Candidate { .. } | What::Nudge { .. })).any(|w| matches!(w, What::GuardVerdict { .. }))
    };
    matches!(events.get(at), Some(What::Candidate { .. } | What::GuardVerdict { .. })) && !judged_later()
}
