//! A run as a tree: agents, under each its newest calls, and at the end how it stands.

use super::view::ruling;
use countersign::ledger::{Activation, Ledger, ToolRun};
use countersign::{Event, NodeId, Outcome, ROOT, RunState};

/// Most calls that are shown of one agent.
const CALLS_MAX: usize = 5;
/// Longest line, in characters.
const LINE_MAX: usize = 100;

/// The lines of a run's tree.
pub(super) fn drawn(ledger: &Ledger) -> Vec<String> {
    let mut lines = Vec::new();
    agents(ledger, ROOT, 0, &mut lines);
    lines.push(stands(ledger));
    lines
}

fn agents(ledger: &Ledger, parent: NodeId, depth: usize, lines: &mut Vec<String>) {
    for act in ledger.activations().iter().filter(|a| a.parent == Some(parent)) {
        lines.push(line(depth, &format!("{} {}, {} turns", mark(act), act.agent, act.turns)));
        let calls: Vec<&ToolRun> = ledger.tool_runs().iter().filter(|run| run.activation == act.id && run.child.is_none()).collect();
        let hidden = calls.len().saturating_sub(CALLS_MAX);
        if hidden > 0 {
            lines.push(line(depth + 1, &format!("({hidden} calls before)")));
        }
        for run in calls.into_iter().skip(hidden) {
            let call = ledger.call(run);
            let (name, args) = call.map_or(("", ""), |c| (&*c.name, &*c.args));
            lines.push(line(depth + 1, &format!("{} {name} {args}", state(run.state))));
        }
        agents(ledger, act.id, depth + 1, lines);
    }
}

/// How the run stands: the newest ruling, or what it waits for.
fn stands(ledger: &Ledger) -> String {
    let ruled = ledger.log().iter().rev().find_map(|r| match &r.event {
        Event::Decided { scope: ROOT, decision, .. } => Some(ruling(decision)),
        _ => None,
    });
    let open = ledger.open();
    let (tools, approvals) = (open.tools.iter().count(), open.approvals.iter().count());
    let waits = match (tools, approvals) {
        (0, 0) => "no ruling yet".to_owned(),
        (tools, 0) => format!("{tools} calls are under way"),
        (_, approvals) => format!("{approvals} calls wait for a person"),
    };
    line(0, &ruled.unwrap_or(waits))
}

fn line(depth: usize, text: &str) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = text.chars().take(LINE_MAX).collect();
    format!("{}{cut}", "  ".repeat(depth))
}

fn mark(act: &Activation) -> &'static str {
    if act.open { "*" } else { "-" }
}

fn state(state: RunState) -> &'static str {
    match state {
        RunState::Requested | RunState::Running => "running",
        RunState::AwaitingApproval => "waits for approval",
        RunState::AwaitingAnswer => "waits for an answer",
        RunState::Background => "in the background",
        RunState::Lost => "lost",
        RunState::Settled(settled) => outcome(settled),
    }
}

/// An outcome in a word.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Empty => "empty",
        Outcome::CutOff => "cut off",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "timed out",
        Outcome::Cancelled => "cancelled",
        Outcome::Rejected => "rejected",
        Outcome::Lost => "lost",
    }
}
