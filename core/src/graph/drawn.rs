//! What fits in a picture.

use super::{DRAWN_MAX, GraphView, NodeView, Tone};
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
    /// How wide and how deep it is.
    pub(super) rows: Rows,
}

impl<'a> Drawn<'a> {
    /// The open nodes and the answer, then the newest, up to `max`.
    pub(super) fn of(view: &'a GraphView, max: usize) -> Self {
        let max = max.min(DRAWN_MAX);
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
        let lines = without_implied(rests);
        let rows = Rows::of(nodes.len(), &lines);
        Self { nodes, lines, left_out, stubs, rows }
    }

    /// What the box for the rest says.
    pub(super) fn note(&self) -> String {
        format!("{} left out: the JSON form has all", count(self.left_out, "node", "nodes"))
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

/// How a layered picture would come out: its rows, the oldest first.
pub(super) struct Rows {
    /// Places in each row, bends of longer lines included.
    places: Vec<usize>,
    /// Places that longer lines take up in the rows that they cross.
    pub(super) bends: usize,
}

impl Rows {
    fn of(nodes: usize, lines: &[Line]) -> Self {
        let mut levels = vec![0_usize; nodes];
        let level = |levels: &[usize], at: usize| levels.get(at).copied().unwrap_or_default();
        // Lines stand by the newer node, so the level of the older one is known.
        for line in lines {
            let next = level(&levels, line.to) + 1;
            if let Some(known) = levels.get_mut(line.from) {
                *known = (*known).max(next);
            }
        }
        let mut places = vec![0_usize; levels.iter().max().map_or(0, |deepest| deepest + 1)];
        for row in &levels {
            places.get_mut(*row).into_iter().for_each(|n| *n += 1);
        }
        let mut bends = 0;
        for line in lines {
            let (from, to) = (level(&levels, line.from), level(&levels, line.to));
            places.iter_mut().take(from).skip(to + 1).for_each(|n| *n += 1);
            bends += from.saturating_sub(to + 1);
        }
        Self { places, bends }
    }

    /// Whether it reads better from left to right: a wide graph would be a strip that nobody scrolls along.
    pub(super) fn sideways(&self) -> bool {
        let widest = self.places.iter().max().copied().unwrap_or_default();
        widest > 8 && widest > self.places.len()
    }

    /// What untangling the lines between neighbouring rows would cost, in comparisons.
    pub(super) fn untangling(&self) -> usize {
        self.places.windows(2).map(|pair| if let [a, b] = pair { a.saturating_mul(*a).saturating_mul(*b) } else { 0 }).fold(0, usize::saturating_add)
    }
}
