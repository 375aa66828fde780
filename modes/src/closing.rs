//! What a cancel, a limit or a failure leaves behind, closed: children first.

use countersign_core::ledger::{Ledger, ToolRun};
use countersign_core::{CallKind, Event, NodeId, Outcome, ROOT, RunState, Str};

/// Events that settle everything open at or below a scope. Lost calls stay lost: nobody knows about them.
pub fn closing(ledger: &Ledger, scope: NodeId, outcome: Outcome, why: &str) -> Vec<Event> {
    let here = |node: &NodeId| ledger.within(ledger.owner(*node), scope);
    let why: Str = why.into();
    let settle = |call: NodeId| Event::ToolSettled { call, outcome, text: why.clone(), cut: None };
    let mut events: Vec<Event> = Vec::new();
    events.extend(ledger.open().jobs.iter().rev().filter(here).map(|job| Event::BackgroundEnded { job, outcome, text: why.clone() }));
    let open_calls = ledger.open().tools.iter().rev().chain(ledger.open().transfers.iter().rev()).filter(here);
    let leaf = |call: &NodeId| ledger.tool_run(*call).is_some_and(|r| r.child.is_none() && r.state != RunState::Lost && r.job.is_none());
    events.extend(open_calls.filter(leaf).map(settle));
    let mut activations: Vec<NodeId> =
        ledger.activations().iter().filter(|a| a.open && a.id != ROOT && a.id != scope && ledger.within(a.id, scope)).map(|a| a.id).collect();
    activations.reverse();
    for id in activations {
        let Some(act) = ledger.activation(id) else { continue };
        let handed_over = act
            .calls
            .clone()
            .map(NodeId)
            .filter(|n| ledger.tool_run(*n).is_some_and(|r| r.child.is_some() && !matches!(r.state, RunState::Settled(_))));
        events.extend(handed_over.map(settle));
        let lost =
            act.calls.clone().filter_map(|n| ledger.tool_run(NodeId(n))).any(|r| r.state == RunState::Lost && r.declared.kind == CallKind::Run);
        let outcome = if lost { Outcome::Lost } else { outcome };
        events.push(Event::ActivationEnded { activation: id, outcome, text: last_words(ledger, id), data: None, report: None });
    }
    events
}

/// How often agents tried to end by an output that did not fit, of those that are meant.
pub(crate) fn misfits(ledger: &Ledger, meant: impl Fn(NodeId) -> bool) -> u32 {
    let failed = |run: &&ToolRun| run.declared.kind == CallKind::Terminal && run.state == RunState::Settled(Outcome::Failed);
    u32::try_from(ledger.tool_runs().iter().filter(failed).filter(|run| meant(run.activation)).count()).unwrap_or(u32::MAX)
}

/// Whether an agent has had its chances to end by an output that fits: as many as a plan has to be revised, and one at
/// least. `more` that are not settled yet are counted, too.
pub(crate) fn had_its_chances(ledger: &Ledger, activation: NodeId, more: u32) -> bool {
    misfits(ledger, |by| by == activation).saturating_add(more) > ledger.limits().replans.max(1)
}

/// What an agent had said by then: partial, kept with its end.
pub(crate) fn last_words(ledger: &Ledger, activation: NodeId) -> Str {
    let reply = ledger.activation(activation).and_then(|a| a.last_reply).and_then(|n| ledger.reply(n));
    reply.map_or_else(|| "".into(), |(text, _, _)| text.clone())
}
