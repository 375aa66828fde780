//! What the gate says of one trace, with the places of its findings in the source.

use super::tale::Place;
use countersign_core::witness::Witness;
use countersign_core::{Decision, Finding, GraphView, Ledger, NodeId, Reason};

/// The ruling on one trace.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The trace, as it calls itself.
    pub trace: String,
    /// The gate's ruling.
    pub decision: Decision,
    /// Where each finding of the ruling stands, in the same order.
    pub places: Vec<Vec<Place>>,
    /// Names of the files beside the trace's own that hold a part of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Facts that could not be placed, such as a result without its call; at most [`UNPLACED_MAX`] are kept.
    pub unplaced: Vec<String>,
    /// The evidence graph, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphView>,
    /// Where each node of that graph stands in the source, in the order of their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_places: Vec<Place>,
    /// The ruling in words, where it was asked for.
    #[serde(skip)]
    pub explained: Option<String>,
}

/// Most facts that are kept of those that could not be placed.
pub const UNPLACED_MAX: usize = 20;

impl Verdict {
    pub(super) fn of(witness: &Witness, places: &[Place], beside: Vec<String>, looks: Looks) -> Self {
        let ledger = witness.run().ledger();
        let nodes = if looks.graph { ledger.node_count() } else { 0 };
        let place_of = |node| ledger.data(NodeId(node)).and_then(|data| place(places, data.seq)).unwrap_or_default();
        let decision = witness.decide();
        Self {
            trace: decision.run_id.to_string(),
            places: decision.missing_checks.iter().map(|f| places_of(ledger, f, places)).collect(),
            beside,
            unplaced: witness.refused.iter().take(UNPLACED_MAX).map(ToString::to_string).collect(),
            graph: looks.graph.then(|| GraphView::of(ledger, Some(&decision))),
            node_places: (0..nodes).map(place_of).collect(),
            explained: looks.words.then(|| countersign_core::explain(ledger, &decision)),
            decision,
        }
    }

    /// Whether the answer would be final.
    pub fn is_final(&self) -> bool {
        self.decision.finalizable
    }

    /// Why it would, or why not.
    pub fn reason(&self) -> Reason {
        self.decision.completion_reason
    }
}

/// What of a trace is looked at beside the ruling.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Looks {
    /// Its evidence graph.
    pub graph: bool,
    /// The ruling in words.
    pub words: bool,
}

/// Where the event of this number stands.
fn place(places: &[Place], seq: u32) -> Option<Place> {
    places.get((seq as usize).saturating_sub(1)).copied()
}

/// Where the subjects of a finding stand: the event that made each. What is about the run as a whole stands at the
/// end of what was told.
fn places_of(ledger: &Ledger, finding: &Finding, places: &[Place]) -> Vec<Place> {
    let of = |seq: u32| place(places, seq);
    let mut found: Vec<Place> =
        finding.subjects.iter().filter_map(|r| ledger.data(r.node)).filter_map(|d| of(d.seq)).filter(|p| p.line > 0).collect();
    if found.is_empty() {
        found.extend(of(ledger.seq()).filter(|p| p.line > 0));
    }
    found.sort_unstable();
    found.dedup();
    found
}
