//! What fits in a picture.

use super::{GraphView, NodeView, Tone};
use crate::explain::words::count;
use crate::node::NodeId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Most edges to the box that stands for what was left out.
const STUBS_MAX: usize = 24;

/// An edge of a picture, between places in [`Drawn::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) proof: bool,
}

/// The part of a graph that is drawn.
pub(super) struct Drawn<'a> {
    /// Oldest first.
    pub(super) nodes: Vec<&'a NodeView>,
    /// Without those that others imply.
    pub(super) lines: Vec<Line>,
    /// How many nodes are left out.
    pub(super) left_out: usize,
    /// Nodes that rest on nothing but what was left out.
    pub(super) stubs: Vec<usize>,
}

impl<'a> Drawn<'a> {
    /// The open nodes and the answer, then the newest, up to `max`.
    pub(super) fn of(view: &'a GraphView, max: usize) -> Self {
        let mut nodes: Vec<&NodeView> = view.nodes.iter().collect();
        if nodes.len() > max {
            nodes.sort_by_key(|n| (!matches!(n.tone, Tone::Open | Tone::Answer), Reverse(n.id)));
            nodes.truncate(max);
            nodes.sort_by_key(|n| n.id);
        }
        let place: FxHashMap<NodeId, usize> = nodes.iter().enumerate().map(|(at, n)| (n.id, at)).collect();
        let mut rests: Vec<Vec<Line>> = vec![Vec::new(); nodes.len()];
        let mut rests_beyond: BTreeSet<usize> = BTreeSet::new();
        for edge in &view.edges {
            let Some(from) = place.get(&edge.from).copied() else { continue };
            match (place.get(&edge.to).copied(), rests.get_mut(from)) {
                (Some(to), Some(lines)) => lines.push(Line { from, to, proof: edge.proof }),
                _ => {
                    rests_beyond.insert(from);
                }
            }
        }
        let mut stubs: Vec<usize> = rests_beyond.into_iter().filter(|at| rests.get(*at).is_some_and(Vec::is_empty)).collect();
        stubs.truncate(STUBS_MAX);
        let left_out = view.nodes.len() - nodes.len();
        Self { nodes, lines: without_implied(rests), left_out, stubs }
    }

    /// What the box for the rest says.
    pub(super) fn note(&self) -> String {
        format!("{} left out; the JSON form has all", count(self.left_out, "node", "nodes"))
    }
}

/// Drops every edge that a longer way implies. Edges run to smaller places, so what a node reaches is known
/// before it is needed.
fn without_implied(rests: Vec<Vec<Line>>) -> Vec<Line> {
    let mut reach: Vec<BTreeSet<usize>> = Vec::with_capacity(rests.len());
    let mut kept = Vec::new();
    for mut lines in rests {
        lines.sort_by_key(|line| Reverse(line.to));
        let mut reached = BTreeSet::new();
        for line in lines {
            if reached.insert(line.to) {
                kept.push(line);
                reached.extend(reach.get(line.to).into_iter().flatten().copied());
            }
        }
        reach.push(reached);
    }
    kept
}
