//! The ruling, written down.

use super::standing::{failed, subjects};
use crate::check::View;
use crate::decision::{Decision, Finding, Next, Reason, Status, Verification};
use crate::node::Str;

/// What a clear run's answer rests on.
pub(super) fn completion(view: &View<'_>) -> Reason {
    let policy = view.policy();
    let asked = policy.require_execution_evidence || policy.require_checks || policy.governance.is_some();
    match () {
        () if !asked => Reason::NotRequired,
        () if !failed(view).is_empty() => Reason::VerifiedPartial,
        () => Reason::Verified,
    }
}

/// Writes the ruling down.
pub(super) fn write(view: &View<'_>, findings: Vec<Finding>, status: Status, reason: Reason, next: Next) -> Decision {
    let finalizable = next == Next::Deliver;
    let of = |check: &str| if findings.is_empty() { Vec::new() } else { subjects(&findings, check).cloned().collect() };
    let started = view.ledger.started();
    let candidate = view.candidate.filter(|_| finalizable);
    let verification = match reason {
        Reason::Verified => Verification::Verified,
        Reason::VerifiedPartial => Verification::VerifiedPartial,
        Reason::NotRequired => Verification::NotRequired,
        Reason::Unverified => Verification::Unverified,
        _ => Verification::None,
    };
    Decision {
        status,
        finalizable,
        finalized: finalizable || reason == Reason::AlreadyFinal,
        completion_reason: reason,
        final_text: candidate.map(|(_, made)| made.text.clone()),
        verification,
        evidence_verified: matches!(reason, Reason::Verified | Reason::VerifiedPartial),
        evidence_refs: candidate.map(|(node, _)| view.refs(view.ledger.evidence(node))).unwrap_or_default(),
        failed_refs: if finalizable { failed(view) } else { Vec::new() },
        pending_tool_runs: of("tools_closed"),
        pending_execution_ids: of("background_done"),
        pending_plan_steps: of("plan_settled"),
        pending_transfers: of("transfers_returned"),
        pending_sub_agents: of("sub_agents_done"),
        pending_approvals: of("approvals_settled"),
        pending_questions: of("questions_answered"),
        unreconciled_results: of("replies_reconciled"),
        conflicts: view.ledger.conflicts().iter().filter(|c| c.results.iter().any(|r| view.is_direct(*r))).map(|c| c.key.clone()).collect(),
        missing_checks: findings,
        next,
        agent_mode: started.map_or_else(|| "".into(), |s| s.mode.clone()),
        run_id: started.map_or_else(|| "".into(), |s| s.run.clone()),
        conversation_id: started.and_then(|s| s.conversation.clone()),
        message_id: started.and_then(|s| s.message.clone()),
        candidate_len: view.candidate.map_or(0, |(_, made)| made.text.len()),
        policy_digest: started.map_or_else(Str::default, |s| s.policy_digest.clone()),
        at_seq: view.ledger.seq(),
    }
}
