//! Every rule of the governance profile has a valid attestation.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::event::{Event, Outcome};
use crate::governance::{RefsRule, Rule};
use crate::ledger::{Ledger, RunState};
use crate::node::{NodeId, NodeKind};

pub(super) struct GovernanceMet;

impl Check for GovernanceMet {
    fn name(&self) -> &str {
        "governance_met"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some(profile) = view.policy().governance.as_ref().filter(|_| view.is_root()) else { return Ok(None) };
        let unmet: Vec<String> = profile.rules.iter().filter_map(|rule| why_unmet(view.ledger, rule)).collect();
        if unmet.is_empty() {
            return Ok(None);
        }
        let subject = vec![view.ledger.reference(view.scope)];
        Ok(Some(finding(self.name(), subject, &unmet.join("; "), "attest each rule, pointing at completed evidence")))
    }
}

/// Why a rule is not met; `None` where its newest attestation holds.
pub fn why_unmet(ledger: &Ledger, rule: &Rule) -> Option<String> {
    let newest = ledger.attestations().iter().rev().find_map(|n| match ledger.made_by(*n) {
        Some(Event::Attested { rule: id, statement, refs, waived, .. }) if *id == rule.id => Some((statement, refs, waived)),
        _ => None,
    });
    let Some((statement, refs, waived)) = newest else {
        return Some(format!("`{}` is not attested: {}", rule.id, rule.text));
    };
    if let Some(why) = waived {
        let valid = rule.waivable && !why.trim().is_empty();
        return (!valid).then(|| format!("`{}` cannot be waived{}", rule.id, if rule.waivable { " without a reason" } else { "" }));
    }
    if statement.trim().is_empty() {
        return Some(format!("`{}` is attested without a statement: {}", rule.id, rule.text));
    }
    refs_short(ledger, rule, refs)
}

fn refs_short(ledger: &Ledger, rule: &Rule, refs: &[NodeId]) -> Option<String> {
    let good = match rule.refs {
        RefsRule::None => return None,
        RefsRule::Completed => !refs.is_empty() && refs.iter().all(|n| is_completed(ledger, *n)),
        RefsRule::Executed => refs.iter().any(|n| ledger.is_evidence(*n)),
        RefsRule::Recorded => refs.iter().any(|n| ledger.is_evidence(*n) || is_recorded(ledger, *n)),
    };
    (!good).then(|| format!("`{}` does not point at {}: {}", rule.id, wanted(rule.refs), rule.text))
}

fn wanted(refs: RefsRule) -> &'static str {
    match refs {
        RefsRule::None => "anything",
        RefsRule::Completed => "completed evidence",
        RefsRule::Executed => "something that was executed and completed",
        RefsRule::Recorded => "a record",
    }
}

fn is_recorded(ledger: &Ledger, node: NodeId) -> bool {
    ledger.data(node).is_some_and(|d| matches!(d.kind, NodeKind::Note | NodeKind::Attestation))
}

fn is_completed(ledger: &Ledger, node: NodeId) -> bool {
    let run = ledger.tool_run(node).map(|r| r.state == RunState::Settled(Outcome::Completed));
    let result = || ledger.result(node).map(|r| r.outcome == Outcome::Completed);
    let job = || ledger.job(node).map(|j| j.outcome == Some(Outcome::Completed));
    run.or_else(result).or_else(job).unwrap_or_else(|| is_recorded(ledger, node))
}
