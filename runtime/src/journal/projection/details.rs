//! What a run did, a line for each piece of work: for the list that a person opens under an answer.

use countersign_core::graph::{GraphView, Tone};
use countersign_core::ledger::Ledger;
use countersign_core::{Event, NodeId, NodeKind, Outcome, Ref, Str};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// How many characters of an outcome stand in a line.
const TEXT_CHARS: usize = 200;

/// One piece of work, as it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessDetail {
    /// Which.
    pub reference: Ref,
    /// What it is, for people: one line.
    pub label: String,
    /// The agent at work.
    pub agent: Str,
    /// How it stands.
    pub tone: Tone,
    /// The event with which it began.
    pub seq: u32,
    /// When: milliseconds since the Unix epoch.
    pub began_ms: u64,
    /// When it ended; `None` while it goes on.
    pub ended_ms: Option<u64>,
    /// The beginning of what came of it.
    pub text: Str,
}

/// The work of a run, in the order in which it began. Replies, candidates and decisions are not among it: they
/// are the conversation, and what the gate says of it.
pub fn process_details(ledger: &Ledger) -> Vec<ProcessDetail> {
    let ends = ends(ledger);
    let work = GraphView::of(ledger, None).nodes.into_iter().filter(|node| is_work(node.kind) && node.id.0 != 0);
    let line = |node: countersign_core::graph::NodeView| {
        let began = ledger.log().get((node.seq as usize).saturating_sub(1))?;
        let owner = match began.event {
            Event::ActivationStarted { .. } => node.id,
            _ => ledger.owner(node.id),
        };
        let agent = ledger.activation(owner).map(|a| a.agent.clone()).unwrap_or_default();
        let (ended_ms, text) = ends.get(&node.id).map_or((None, ""), |(at_ms, text)| (Some(*at_ms), *text));
        let text = text.chars().take(TEXT_CHARS).collect::<String>().into();
        Some(ProcessDetail {
            reference: node.reference,
            label: node.label,
            agent,
            tone: node.tone,
            seq: node.seq,
            began_ms: began.at_ms,
            ended_ms,
            text,
        })
    };
    work.filter_map(line).collect()
}

fn is_work(kind: NodeKind) -> bool {
    match kind {
        NodeKind::Activation
        | NodeKind::ToolRun
        | NodeKind::Transfer
        | NodeKind::Delegation
        | NodeKind::Job
        | NodeKind::Step
        | NodeKind::Approval
        | NodeKind::Question
        | NodeKind::Attestation
        | NodeKind::Note => true,
        NodeKind::Reply | NodeKind::Plan | NodeKind::Result | NodeKind::Candidate | NodeKind::Synthesis | NodeKind::Decision => false,
    }
}

/// When each piece of work ended, and with which words. A lost job has not ended: nobody can tell.
fn ends(ledger: &Ledger) -> FxHashMap<NodeId, (u64, &str)> {
    let mut ends = FxHashMap::default();
    for record in ledger.log() {
        let end = match &record.event {
            Event::ToolSettled { call, text, .. } => (*call, &**text),
            Event::BackgroundEnded { job, outcome, text } if *outcome != Outcome::Lost => (*job, &**text),
            Event::ActivationEnded { activation, text, .. } => (*activation, &**text),
            Event::StepSettled { step, why, .. } => (*step, &**why),
            Event::ApprovalSettled { approval, why, .. } => (*approval, &**why),
            Event::QuestionAnswered { question, text } => (*question, &**text),
            Event::Returned { call, .. } => (*call, ""),
            Event::StepReopened { step: node, .. } | Event::Retried { call: node, .. } => {
                ends.remove(node);
                continue;
            }
            _ => continue,
        };
        ends.insert(end.0, (record.at_ms, end.1));
    }
    ends
}
