//! The evidence graph as a picture and as data: DOT, Mermaid, SVG, JSON.
//!
//! ```text
//! ledger (+ decision) ──▶ GraphView ──▶ to_json   every node and edge
//!                                   └─▶ to_dot, to_mermaid, to_svg   what fits in a picture
//! ```
//!
//! A picture leaves out edges that others imply: it shows the same "rests on", with fewer lines. Time runs
//! downwards, or to the right where the graph is wide, and arrows point back, to what a node rests on.

mod dot;
mod drawn;
mod label;
mod mermaid;
mod svg;
#[cfg(test)]
mod tests;

use crate::decision::Decision;
use crate::event::{Outcome, Via};
use crate::explain::words::Words;
use crate::explain::{is_open, ruled_on};
use crate::ledger::{Ledger, RunState, StepState};
use crate::node::{NodeId, NodeKind, Ref, Str};
use drawn::Drawn;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// Most nodes of a picture. JSON has them all.
pub const DRAWN_MAX: usize = 400;

/// How a node stands in the picture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Nothing in particular.
    Plain,
    /// It stands between the run and a final.
    Open,
    /// Completed evidence on which the answer rests.
    Evidence,
    /// The answer that was let through.
    Answer,
    /// It did not end well.
    Failed,
}

/// One node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeView {
    /// Its id: its place in the graph.
    pub id: NodeId,
    /// Its typed reference.
    pub reference: Ref,
    /// What it is.
    pub kind: NodeKind,
    /// What it is, for people. One line; never what a reply, a result or a candidate says.
    pub label: String,
    /// How it stands.
    pub tone: Tone,
    /// The event that made it.
    pub seq: u32,
}

/// One edge: the newer node rests on the older.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeView {
    /// The newer.
    pub from: NodeId,
    /// The older.
    pub to: NodeId,
    /// Whether it is on a way from the answer to its evidence.
    pub proof: bool,
}

/// An evidence graph to be looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphView {
    /// The run.
    pub run_id: Str,
    /// Every node, oldest first.
    pub nodes: Vec<NodeView>,
    /// Every edge, by the newer node.
    pub edges: Vec<EdgeView>,
    /// Most nodes of a picture; [`DRAWN_MAX`] unless set lower.
    #[serde(skip)]
    pub drawn_max: usize,
}

impl GraphView {
    /// Looks at a run. With a decision, what its findings are about stands out as open, and what the answer
    /// that it lets through rests on as evidence; without one, whatever the ledger has open.
    pub fn of(ledger: &Ledger, decision: Option<&Decision>) -> Self {
        let tones = Tones::of(ledger, decision);
        let words = Words(ledger);
        let ids = || (0..ledger.node_count()).map(NodeId);
        let node = |id: NodeId| {
            let data = ledger.data(id)?;
            let label = label::of(words, id, tones.answer == Some(id));
            Some(NodeView { id, reference: ledger.reference(id), kind: data.kind, label, tone: tones.tone(ledger, id), seq: data.seq })
        };
        let proof = tones.proof(ledger);
        let edges = ids().flat_map(|from| {
            let mut older: Vec<NodeId> = ledger.rests_on(from).collect();
            older.sort_unstable();
            older.dedup();
            let proof = &proof;
            older.into_iter().map(move |to| EdgeView { from, to, proof: proof.contains(&from) && proof.contains(&to) })
        });
        let run_id = ledger.started().map_or_else(|| "".into(), |s| s.run.clone());
        Self { run_id, nodes: ids().filter_map(node).collect(), edges: edges.collect(), drawn_max: DRAWN_MAX }
    }

    /// What fits in a picture, for whoever lays it out himself.
    pub fn picture(&self) -> Picture {
        let drawn = Drawn::of(self, self.drawn_max);
        let id = |at: usize| drawn.nodes.get(at).map(|node| node.id);
        let edge = |line: &drawn::Line| Some(EdgeView { from: id(line.from)?, to: id(line.to)?, proof: line.proof });
        Picture { edges: drawn.lines.iter().filter_map(edge).collect(), nodes: drawn.nodes.into_iter().cloned().collect(), left_out: drawn.left_out }
    }

    /// All of it, as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The part of an evidence graph that fits in a picture: the open nodes and the answer, then the newest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// Its nodes, oldest first.
    pub nodes: Vec<NodeView>,
    /// Its edges, without those that others imply.
    pub edges: Vec<EdgeView>,
    /// How many nodes are left out.
    pub left_out: usize,
}

/// What stands out.
struct Tones {
    /// Subjects of findings.
    found: FxHashSet<NodeId>,
    evidence: FxHashSet<NodeId>,
    answer: Option<NodeId>,
}

impl Tones {
    fn of(ledger: &Ledger, decision: Option<&Decision>) -> Self {
        let refused = decision.filter(|d| !d.finalizable);
        let found = refused.iter().flat_map(|d| &d.missing_checks).flat_map(|f| &f.subjects).map(|r| r.node);
        let delivered = decision.filter(|d| d.finalized);
        let answer = delivered.and_then(|d| ruled_on(ledger, d).1);
        let evidence = answer.map(|a| ledger.evidence(a)).unwrap_or_default();
        Self { found: found.filter(|n| *n != crate::ROOT).collect(), evidence: evidence.into_iter().collect(), answer }
    }

    fn tone(&self, ledger: &Ledger, node: NodeId) -> Tone {
        let open = ledger.open();
        match () {
            () if self.answer == Some(node) => Tone::Answer,
            () if self.found.contains(&node) || is_open(ledger, node) => Tone::Open,
            () if [&open.lost, &open.unreconciled, &open.cut, &open.breaches].iter().any(|set| set.contains(node)) => Tone::Open,
            () if self.evidence.contains(&node) => Tone::Evidence,
            () if ended_badly(ledger, node) => Tone::Failed,
            () => Tone::Plain,
        }
    }

    /// Nodes on a way from the answer to its evidence. Older nodes have smaller ids, so one pass is enough.
    fn proof(&self, ledger: &Ledger) -> FxHashSet<NodeId> {
        let mut cited: Vec<NodeId> = self.answer.map(|a| ledger.walk(a).collect()).unwrap_or_default();
        cited.sort_unstable();
        let mut proof = self.evidence.clone();
        for node in cited {
            if ledger.rests_on(node).any(|older| proof.contains(&older)) {
                proof.insert(node);
            }
        }
        proof
    }
}

fn ended_badly(ledger: &Ledger, node: NodeId) -> bool {
    let bad = |outcome: Outcome| !matches!(outcome, Outcome::Completed | Outcome::Empty);
    match ledger.data(node).map(|d| d.kind) {
        Some(NodeKind::ToolRun | NodeKind::Transfer | NodeKind::Delegation) => {
            ledger.tool_run(node).is_some_and(|r| matches!(r.state, RunState::Settled(how) if bad(how)))
        }
        Some(NodeKind::Job) => ledger.job(node).and_then(|j| j.outcome).is_some_and(bad),
        Some(NodeKind::Result) => ledger.result(node).is_some_and(|r| r.outcome != Outcome::Completed),
        Some(NodeKind::Activation) => {
            let ended = ledger.activation(node).filter(|a| !a.open && a.via != Via::Observed).and_then(|a| a.result);
            ended.and_then(|r| ledger.result(r)).is_some_and(|r| r.outcome != Outcome::Completed)
        }
        Some(NodeKind::Step) => ledger.step(node).is_some_and(|s| s.state == StepState::Blocked),
        Some(NodeKind::Approval) => ledger.approval(node).is_some_and(|a| a.granted == Some(false)),
        _ => false,
    }
}

/// Colours of a node: its own ground and letters, so that the page may be light or dark.
struct Paint {
    fill: &'static str,
    line: &'static str,
    width: u8,
    text: &'static str,
}

impl Tone {
    const ALL: [Self; 5] = [Self::Plain, Self::Open, Self::Evidence, Self::Answer, Self::Failed];

    fn paint(self) -> Paint {
        let (fill, line, width) = match self {
            Self::Plain => ("#eef0f3", "#9aa1ac", 1),
            Self::Open => ("#fdecc8", "#d97706", 3),
            Self::Evidence => ("#d3f5e3", "#059669", 2),
            Self::Answer => ("#a7ecc9", "#047857", 3),
            Self::Failed => ("#fbdada", "#dc2626", 2),
        };
        Paint { fill, line, width, text: "#1b1f24" }
    }
}
