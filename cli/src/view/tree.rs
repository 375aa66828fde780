//! A run as a tree: agents, under each its newest calls, and at the end how it stands.

use super::ruling;
use countersign::ledger::{Activation, Ledger, ToolRun};
use countersign::{Event, NodeId, ROOT, RunState};
use std::collections::BTreeMap;

/// Most calls that are shown of one agent.
const CALLS_MAX: usize = 5;

/// The lines of a run's tree, none longer than this many characters.
pub(super) fn drawn(ledger: &Ledger, progress: &BTreeMap<NodeId, String>, columns: usize) -> Vec<String> {
    let mut tree = Tree { ledger, progress, columns, lines: Vec::new() };
    tree.agents(ROOT, 0);
    tree.line(0, &stands(ledger));
    tree.lines
}

/// A tree that is being drawn.
struct Tree<'a> {
    ledger: &'a Ledger,
    progress: &'a BTreeMap<NodeId, String>,
    columns: usize,
    lines: Vec<String>,
}

impl Tree<'_> {
    fn agents(&mut self, parent: NodeId, depth: usize) {
        let ledger = self.ledger;
        for act in ledger.activations().iter().filter(|a| a.parent == Some(parent)) {
            self.line(depth, &format!("{} {}, {} turns", mark(act), act.agent, act.turns));
            let calls: Vec<&ToolRun> = ledger.tool_runs().iter().filter(|run| run.activation == act.id && run.child.is_none()).collect();
            let hidden = calls.len().saturating_sub(CALLS_MAX);
            if hidden > 0 {
                self.line(depth + 1, &format!("({hidden} calls before)"));
            }
            calls.into_iter().skip(hidden).for_each(|run| self.call(run, depth + 1));
            self.agents(act.id, depth + 1);
        }
    }

    fn call(&mut self, run: &ToolRun, depth: usize) {
        let (name, args) = self.ledger.call(run).map_or(("", ""), |c| (&*c.name, &*c.args));
        let said = self.progress.get(&run.id).map(|text| format!(" ({text})")).unwrap_or_default();
        self.line(depth, &format!("{}{said} {name} {args}", state(run.state)));
    }

    fn line(&mut self, depth: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.lines.push(format!("{}{text}", "  ".repeat(depth)).chars().take(self.columns).collect());
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
    ruled.unwrap_or(waits)
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
        RunState::Settled(outcome) => outcome.words(),
    }
}
