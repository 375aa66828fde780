//! Candidates and rulings: the only place where a message may be filled.

use super::View;
use crate::wire::event::WireEvent;
use crate::wire::phase::Phase;
use crate::wire::shown::shown;
use countersign::explain::in_words;
use countersign::{CandidateMade, Decision, Final, NodeId, Status};

/// A candidate: its text as a preview, and that it is looked at.
pub(super) fn candidate(view: &View<'_>, made: &CandidateMade, node: Option<NodeId>) -> Vec<WireEvent> {
    vec![
        WireEvent::ResponseStart { preview: true, candidate: node },
        WireEvent::ResponseDelta { preview: true, text: made.text.clone() },
        WireEvent::FinalizationCheck { phase: view.phase, candidate: node, decision: None },
    ]
}

/// A ruling on the run. `previewed` says whether a candidate is on show, which a refusal takes back.
pub(super) fn ruled(view: &View<'_>, decision: &Decision, candidate: Option<NodeId>, answer: Option<&Final>, previewed: bool) -> Vec<WireEvent> {
    let answer = answer.filter(|_| decision.status == Status::Completed);
    // A passing ruling comes before the answer that it lets through.
    let phase = if answer.is_some() { Phase::Finalising } else { view.phase };
    let check = WireEvent::FinalizationCheck { phase, candidate, decision: Some(Box::new(shown(decision))) };
    let retracted = (previewed && answer.is_none()).then_some(WireEvent::ResponseRetracted { reason: Some(decision.completion_reason) });
    retracted.into_iter().chain([check]).chain(outcome(decision, answer)).collect()
}

/// What the ruling means for the message.
fn outcome(decision: &Decision, answer: Option<&Final>) -> Option<WireEvent> {
    let reason = decision.completion_reason;
    match decision.status {
        Status::Completed | Status::Blocked => Some(response(decision, answer)),
        Status::Failed => Some(WireEvent::Error { reason, message: failure(decision) }),
        Status::Cancelled => Some(WireEvent::Cancelled { reason, when: None }),
        Status::InProgress | Status::AwaitingApproval => None,
    }
}

/// The answer, where the gate let one through here; else why there is none. A log that was ruled on by another gate
/// has no answer that could be shown as one.
fn response(decision: &Decision, answer: Option<&Final>) -> WireEvent {
    WireEvent::Response {
        finalized: answer.is_some(),
        content: answer.map(|answer| answer.text().clone()),
        message: answer.is_none().then(|| why_not(decision)),
        status: decision.status,
        reason: decision.completion_reason,
        verification: decision.verification,
        evidence_refs: decision.evidence_refs.clone(),
    }
}

/// Why there is no answer. Made of names alone: what a check says may quote what it refused.
fn why_not(decision: &Decision) -> String {
    if decision.finalized {
        return "another version of the gate, or one with other checks, let an answer through; it is in the log".to_owned();
    }
    let checks: Vec<&str> = decision.missing().collect();
    let missing = if checks.is_empty() { String::new() } else { format!("; missing: {}", checks.join(", ")) };
    format!("not final: {} ({}){missing}", in_words(decision.completion_reason), decision.completion_reason.name())
}

fn failure(decision: &Decision) -> String {
    let said = decision.finding("normal_stop").map(|finding| format!(": {}", finding.message));
    format!("{}{}", in_words(decision.completion_reason), said.unwrap_or_default())
}
