//! What may be wrong with what a run came to.

use super::{Case, TEXT_MAX};
use crate::event::{Event, Outcome};
use crate::explain::words::{clean, outcome, quoted};
use crate::ledger::{ResultState, StepState};
use crate::node::{NodeId, Ref};
use serde::Serialize;

/// What sort of risk it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskKind {
    /// The gate misses something.
    Missing,
    /// The answer itself says that this is uncertain.
    Uncertainty,
    /// It failed for good.
    Failed,
    /// A sub-agent did not end well.
    SubAgentUnsound,
    /// A sub-agent gave no claims that could be compared.
    NoClaims,
    /// A result was left unresolved.
    Unresolved,
    /// A step could not be done.
    StepBlocked,
    /// A step was given up.
    StepDropped,
    /// Results disagreed, and somebody settled it.
    ConflictSettled,
}

/// One thing that may be wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Risk {
    /// What sort it is.
    pub kind: RiskKind,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Ref>,
    /// In words.
    pub text: String,
}

/// Every risk: what is missing first, then what is uncertain, then what went wrong and how it was dealt with.
pub(super) fn of(case: &Case<'_>) -> Vec<Risk> {
    let mut found = missing(case);
    found.extend(
        case.delivered().into_iter().flat_map(|(_, made)| &made.uncertainties).map(|u| risk(RiskKind::Uncertainty, None, clean(u, TEXT_MAX))),
    );
    found.extend(failed(case));
    found.extend(case.ledger.results().iter().filter(|r| case.is_here(r.id)).filter_map(|r| unsound(case, r)));
    found.extend(case.history.steps.iter().filter(|n| case.is_here(**n)).filter_map(|n| given_up(case, *n)));
    found.extend(case.history.settled.iter().map(|(key, why, by)| {
        let how = if why.trim().is_empty() { "without saying how".into() } else { clean(why, TEXT_MAX) };
        risk(RiskKind::ConflictSettled, None, format!("results disagreed on {}; {} settled it: {how}", quoted(key), quoted(&case.words.agent(*by))))
    }));
    found
}

fn risk(kind: RiskKind, reference: Option<Ref>, text: String) -> Risk {
    Risk { kind, reference, text }
}

fn missing(case: &Case<'_>) -> Vec<Risk> {
    let said = |f: &crate::decision::Finding| format!("{} ({})", clean(&f.message, TEXT_MAX), clean(&f.check, TEXT_MAX));
    case.decision.missing_checks.iter().map(|f| risk(RiskKind::Missing, None, said(f))).collect()
}

/// Calls that no later call of the same tool made good. Of a delivery the ruling lists them itself.
fn failed(case: &Case<'_>) -> Vec<Risk> {
    let calls: Vec<NodeId> = if case.decision.finalizable {
        case.decision.failed_refs.iter().map(|r| r.node).filter(|n| case.ledger.tool_run(*n).is_some()).collect()
    } else {
        case.ledger.failed_calls().into_iter().filter(|n| case.is_here(*n)).collect()
    };
    calls.into_iter().map(|n| risk(RiskKind::Failed, Some(case.ledger.reference(n)), case.words.standing(n))).collect()
}

/// A result that stands, and of which one should know how it came about.
fn unsound(case: &Case<'_>, result: &ResultState) -> Option<Risk> {
    let stands = case.ledger.activation(result.activation).is_some_and(|a| a.result == Some(result.id));
    if !stands || !case.history.is_sub_agent(case.ledger, result) {
        return None;
    }
    let reference = Some(case.ledger.reference(result.id));
    let agent = quoted(&case.words.agent(result.activation));
    if result.outcome != Outcome::Completed {
        return Some(risk(RiskKind::SubAgentUnsound, reference, format!("sub-agent {agent} did not end well: {}", outcome(result.outcome))));
    }
    if let Some((crate::event::Disposed::Unresolved, why)) = case.history.disposed(result.id) {
        return Some(risk(RiskKind::Unresolved, reference, format!("the result of {agent} was left unresolved: {}", clean(why, TEXT_MAX))));
    }
    let claims = match case.ledger.event(result.seq) {
        Some(Event::ActivationEnded { report: Some(report), .. }) => report.claims.len(),
        _ => 0,
    };
    let text = || format!("sub-agent {agent} gave no claims: nothing of its result could be compared with another");
    (claims == 0).then(|| risk(RiskKind::NoClaims, reference, text()))
}

fn given_up(case: &Case<'_>, step: NodeId) -> Option<Risk> {
    let kind = match case.ledger.step(step)?.state {
        StepState::Blocked => RiskKind::StepBlocked,
        StepState::Dropped => RiskKind::StepDropped,
        StepState::Open | StepState::Done | StepState::CutOff => return None,
    };
    let text = format!("{}, {}", case.words.standing(step), clean(case.history.why(step), TEXT_MAX));
    Some(risk(kind, Some(case.ledger.reference(step)), text))
}
