//! Questions that the precedence asks of the ledger.

use crate::check::View;
use crate::decision::{Finding, Next};
use crate::event::Finish;
use crate::ledger::{Activation, StepState, target};
use crate::node::{NodeId, NodeKind, Ref};
use crate::policy::OnCapSpent;

/// Whether the approval that is open is for one of the calls that share an id.
pub(super) fn ambiguous_approval(view: &View<'_>) -> bool {
    let shared = view.ledger.ambiguous_calls();
    view.ledger.open().approvals.iter().filter_map(|n| view.ledger.approval(n)).any(|a| shared.contains(&a.on))
}

/// Whether the provider's filter left nothing, or the model refused: of the candidate, or of the last reply where
/// there is none.
pub(super) fn filtered(view: &View<'_>) -> bool {
    let nothing = |finish, text: &str| finish == Finish::Refusal || finish == Finish::ContentFilter && text.trim().is_empty();
    match view.candidate {
        Some((_, made)) => nothing(made.finish, &made.text),
        None => {
            let replies = view.ledger.activations().iter().filter_map(|a| a.last_reply);
            let newest = replies.max().filter(|_| view.is_root()).and_then(|n| view.ledger.reply(n));
            newest.is_some_and(|(text, finish, _)| nothing(finish, text))
        }
    }
}

/// Whether somebody other than the producer is still at work.
pub(super) fn others_run(view: &View<'_>, findings: &[Finding]) -> bool {
    let by = view.candidate.map(|(_, made)| made.by);
    let producer = by.and_then(|n| view.ledger.activation(n));
    let same_agent = |r: &&Ref| view.ledger.activation(r.node).zip(producer).is_some_and(|(a, p)| a.id == p.id || a.agent == p.agent);
    subjects(findings, "tools_closed").next().is_some()
        || subjects(findings, "background_done").next().is_some()
        || subjects(findings, "sub_agents_done").any(|r| !same_agent(&r))
        || subjects(findings, "transfers_returned").any(|r| !reply_is_in(view, r.node) && !goes_to(view, r.node, producer))
}

/// Whether nothing is under way but control that a specialist, who has replied, did not give back.
pub(super) fn only_control_is_out(view: &View<'_>, findings: &[Finding]) -> bool {
    let open = |f: &&Finding| matches!(&*f.check, "tools_closed" | "background_done" | "sub_agents_done" | "transfers_returned");
    let mut subjects = findings.iter().filter(open).flat_map(|f| &f.subjects).peekable();
    subjects.peek().is_some() && subjects.all(|r| r.kind == NodeKind::Transfer && reply_is_in(view, r.node))
}

pub(super) fn reply_is_in(view: &View<'_>, transfer: NodeId) -> bool {
    let child = view.ledger.tool_run(transfer).and_then(|r| r.child).and_then(|c| view.ledger.activation(c));
    child.is_some_and(|c| !c.open && c.result.is_some())
}

/// Whether the allowance for continuations is used up.
pub(super) fn spent(view: &View<'_>) -> bool {
    view.ledger.totals().continuations >= view.ledger.limits().continuations
}

/// Whether all that is missing is of the kind that a policy may let go: never an open obligation, an
/// unreconciled result or an invalid candidate.
pub(super) fn deliverable_unverified(view: &View<'_>, findings: &[Finding]) -> bool {
    let may_go = |f: &Finding| matches!(&*f.check, "evidence_ok" | "checks_pass" | "evidence_fresh" | "governance_met" | "guard_ok");
    view.policy().on_cap_spent == OnCapSpent::Deliver && view.candidate.is_some() && findings.iter().all(may_go)
}

/// Whether the agent was told what is missing and came back with the same words on the same evidence.
pub(super) fn no_progress(view: &View<'_>, findings: &[Finding]) -> bool {
    let Some((seq, _, evidence)) = view.ledger.totals().ruled else { return false };
    let Some(last) = view.ledger.last_decision(view.scope) else { return false };
    let before = match view.ledger.event(seq) {
        Some(crate::Event::Decided { candidate: Some(node), .. }) => view.ledger.candidate(*node),
        _ => None,
    };
    let same_words = before.zip(view.candidate).is_some_and(|(old, (_, new))| !std::ptr::eq(old, new) && old.text.trim() == new.text.trim());
    let same_lack = last.missing().eq(findings.iter().map(|f| &*f.check));
    matches!(last.next, Next::Nudge | Next::Continue | Next::ResumeRun) && same_words && same_lack && evidence == view.ledger.totals().evidence
}

pub(super) fn subjects<'a>(findings: &'a [Finding], check: &'a str) -> impl Iterator<Item = &'a Ref> {
    findings.iter().filter(move |f| &*f.check == check).flat_map(|f| &f.subjects)
}

/// What failed for good: calls that no later call of the same tool made good, direct sub-agents that did
/// not end well, and blocked steps.
pub(super) fn failed(view: &View<'_>) -> Vec<Ref> {
    let ledger = view.ledger;
    if ledger.is_spotless() {
        return Vec::new();
    }
    let calls = view.refs(ledger.failed_calls().into_iter().filter(|n| ledger.within(ledger.owner(*n), view.scope)));
    let children = view.direct(&ledger.open().unsound);
    let in_plan = |n: &NodeId| ledger.step(*n).is_some_and(|s| s.state == StepState::Blocked && ledger.within(s.scope, view.scope));
    let steps = view.refs(ledger.open().blocked.iter().filter(in_plan));
    calls.into_iter().chain(children).chain(steps).collect()
}

/// Whether a transfer put this very agent to work: its words are then all that is to come of it.
pub(super) fn goes_to(view: &View<'_>, transfer: NodeId, agent: Option<&Activation>) -> bool {
    let call = view.ledger.tool_run(transfer).and_then(|r| view.ledger.call(r));
    call.zip(agent).is_some_and(|(call, agent)| target(&call.name) == &*agent.agent)
}
