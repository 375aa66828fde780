//! What a run has to show, by how much it weighs: what was executed, what was seen, what was told, what was said.

use super::{Case, TEXT_MAX};
use crate::event::{Event, Outcome};
use crate::explain::words::{clean, count, quoted};
use crate::ledger::RunState;
use crate::node::{NodeId, Ref};
use serde::Serialize;

/// How much a piece of evidence weighs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// A tool that counts as evidence ran and completed.
    Executed,
    /// It was seen: work outside the turn that completed, a result read again in full.
    Observed,
    /// A sub-agent says so.
    Reported,
    /// Somebody says so: an attestation, a record, the answer itself.
    Asserted,
}

/// One thing that the run has to show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// How much it weighs.
    pub rank: Rank,
    /// What it is.
    pub reference: Ref,
    /// In words.
    pub what: String,
    /// Whether the answer rests on it. Of a refused answer nothing is said.
    pub cited: bool,
}

/// Everything, the strongest first, the oldest first among equals.
pub(super) fn ranked(case: &Case<'_>) -> Vec<Evidence> {
    let mut found = calls(case);
    found.extend(case.history.jobs.iter().filter(|n| ended_well(case, **n)).map(|n| piece(case, Rank::Observed, *n, case.words.of(*n))));
    found.extend(reports(case));
    found.extend(case.history.asserted.iter().filter_map(|n| assertion(case, *n)));
    found.extend(own_words(case));
    found.sort_by_key(|e| (e.rank, e.reference.node));
    found.dedup_by_key(|e| e.reference.node);
    let cited: rustc_hash::FxHashSet<NodeId> = match case.delivered() {
        Some((node, _)) => case.ledger.walk(node).filter(|n| *n != node).collect(),
        None => rustc_hash::FxHashSet::default(),
    };
    for evidence in &mut found {
        evidence.cited = cited.contains(&evidence.reference.node);
    }
    found
}

fn piece(case: &Case<'_>, rank: Rank, node: NodeId, what: String) -> Evidence {
    Evidence { rank, reference: case.ledger.reference(node), what, cited: false }
}

fn calls(case: &Case<'_>) -> Vec<Evidence> {
    let completed = case.ledger.tool_runs().iter().filter(|r| r.state == RunState::Settled(Outcome::Completed) && case.ledger.is_evidence(r.id));
    let here = completed.filter(|r| case.is_here(r.id));
    let ranked = here.map(|r| {
        // To read a result again shows what was said, not what is so.
        let reads = case.ledger.call(r).is_some_and(|c| c.reads.is_some());
        piece(case, if reads { Rank::Observed } else { Rank::Executed }, r.id, case.words.of(r.id))
    });
    ranked.collect()
}

fn ended_well(case: &Case<'_>, job: NodeId) -> bool {
    // A job behind a call is that call's outcome, and stands there.
    let counted = |call| case.ledger.is_evidence(call);
    case.is_here(job) && case.ledger.job(job).is_some_and(|j| j.outcome == Some(Outcome::Completed) && !j.call.is_some_and(counted))
}

fn reports(case: &Case<'_>) -> Vec<Evidence> {
    let said = |r: &crate::ledger::ResultState| {
        let mut what = case.words.standing(r.id);
        if let Some(Event::ActivationEnded { report: Some(report), .. }) = case.ledger.event(r.seq) {
            let claims: Vec<String> = report.claims.iter().map(|c| format!("{} = {}", quoted(&c.key), quoted(&c.value))).collect();
            if !claims.is_empty() {
                what = format!("{what}; claims {}", clean(&claims.join(", "), TEXT_MAX));
            }
            if report.executed > 0 {
                what = format!("{what}; its runtime tells of {}", count(report.executed as usize, "completed call", "completed calls"));
            }
        }
        piece(case, Rank::Reported, r.id, what)
    };
    let stands = |r: &&crate::ledger::ResultState| case.ledger.activation(r.activation).is_some_and(|a| a.result == Some(r.id));
    let results = case.ledger.results().iter().filter(|r| case.history.is_sub_agent(case.ledger, r) && case.is_here(r.id));
    results.filter(stands).map(said).collect()
}

fn assertion(case: &Case<'_>, node: NodeId) -> Option<Evidence> {
    let what = match case.ledger.made_by(node)? {
        Event::Attested { by, statement, waived, .. } => {
            if !case.ledger.within(*by, case.scope) {
                return None;
            }
            let said = waived.as_ref().map_or_else(|| clean(statement, TEXT_MAX), |why| format!("waived, {}", clean(why, TEXT_MAX)));
            format!("{}: {said}", case.words.of(node))
        }
        Event::Note { data, .. } => format!("{}: {}", case.words.of(node), clean(data, TEXT_MAX)),
        _ => return None,
    };
    Some(piece(case, Rank::Asserted, node, what))
}

/// What the answer says beyond what it cites is its author's word.
fn own_words(case: &Case<'_>) -> Option<Evidence> {
    let (node, made) = case.delivered()?;
    let what = format!("what the answer says beyond the above, by {}", quoted(&case.words.agent(made.by)));
    Some(piece(case, Rank::Asserted, node, what))
}
