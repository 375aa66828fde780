//! What a run came to: conclusions, evidence, what became of each result, risks, next actions.
//!
//! ```text
//! ledger + decision ──▶ RunReport ──▶ JSON, Markdown
//! ```
//!
//! The words of an answer stand in it only where the gate let them through.

mod evidence;
mod history;
mod markdown;
mod risks;
#[cfg(test)]
mod tests;

pub use evidence::{Evidence, Rank};
pub use risks::{Risk, RiskKind};

use crate::decision::{Decision, Reason, Status, Verification};
use crate::event::Disposed;
use crate::explain::words::{Words, clean};
use crate::explain::{in_words, ruled_on};
use crate::ledger::Ledger;
use crate::node::{NodeId, Ref, Str};
use history::History;
use serde::Serialize;

/// Longest text of somebody's that the report carries in one place.
const TEXT_MAX: usize = 400;

/// The report of one run, as of one ruling.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// The run.
    pub run_id: Str,
    /// What the user asked for.
    pub task: Str,
    /// The mode of the run.
    pub agent_mode: Str,
    /// Where the run stands.
    pub status: Status,
    /// Why.
    pub completion_reason: Reason,
    /// The same in words.
    pub summary: &'static str,
    /// How far the answer is backed by evidence.
    pub verification: Verification,
    /// The answer, where the gate let one through; empty else.
    pub conclusions: Vec<Str>,
    /// What the run has to show, the strongest first.
    pub evidence: Vec<Evidence>,
    /// What became of each result of a sub-agent.
    pub dispositions: Vec<ResultFate>,
    /// What may be wrong with it.
    pub risks: Vec<Risk>,
    /// What the answer says should come next; where it was refused, what would settle the findings.
    pub next_actions: Vec<String>,
    /// The last event ruled on.
    pub at_seq: u32,
}

/// What became of one sub-agent's result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultFate {
    /// The result.
    pub reference: Ref,
    /// Whose it is.
    pub agent: String,
    /// How its author ended.
    pub outcome: crate::event::Outcome,
    /// What was done with it; `None` where nobody has said.
    pub disposition: Option<Disposed>,
    /// Why.
    pub why: String,
}

impl RunReport {
    /// Reports on a run and a ruling on it. Costs one pass over the log.
    pub fn of(ledger: &Ledger, decision: &Decision) -> Self {
        let (scope, candidate) = ruled_on(ledger, decision);
        let history = History::of(ledger, scope);
        let case = Case { ledger, words: Words(ledger), decision, scope, candidate, history: &history };
        let started = ledger.started();
        Self {
            run_id: decision.run_id.clone(),
            task: started.map_or_else(|| "".into(), |s| s.task.clone()),
            agent_mode: decision.agent_mode.clone(),
            status: decision.status,
            completion_reason: decision.completion_reason,
            summary: in_words(decision.completion_reason),
            verification: decision.verification,
            conclusions: case.conclusions(),
            evidence: evidence::ranked(&case),
            dispositions: case.fates(),
            risks: risks::of(&case),
            next_actions: case.next_actions(),
            at_seq: decision.at_seq,
        }
    }
}

/// What the parts of a report are made from.
struct Case<'a> {
    ledger: &'a Ledger,
    words: Words<'a>,
    decision: &'a Decision,
    scope: NodeId,
    candidate: Option<NodeId>,
    history: &'a History,
}

impl Case<'_> {
    /// Whether a node belongs to what was ruled on.
    fn is_here(&self, node: NodeId) -> bool {
        self.ledger.within(self.ledger.owner(node), self.scope)
    }

    /// The candidate, where it was let through. A refused one says nothing in a report.
    fn delivered(&self) -> Option<(NodeId, &crate::event::CandidateMade)> {
        let node = self.candidate.filter(|_| self.decision.finalized)?;
        self.ledger.candidate(node).map(|made| (node, made))
    }

    /// The delivered text. After a final was delivered the newest candidate may be another one, so the text
    /// is that of the ruling that delivered.
    fn conclusions(&self) -> Vec<Str> {
        let earlier = || self.decision.finalized.then(|| self.history.final_text(self.ledger, self.scope)).flatten();
        self.decision.final_text.clone().or_else(earlier).into_iter().collect()
    }

    fn fates(&self) -> Vec<ResultFate> {
        let sub_agents = self.ledger.results().iter().filter(|r| self.history.is_sub_agent(self.ledger, r) && self.is_here(r.id));
        let fate = |r: &crate::ledger::ResultState| {
            let (disposition, why) = self.fate(r.id, r.activation);
            ResultFate { reference: self.ledger.reference(r.id), agent: self.words.agent(r.activation), outcome: r.outcome, disposition, why }
        };
        sub_agents.map(fate).collect()
    }

    fn fate(&self, result: NodeId, author: NodeId) -> (Option<Disposed>, String) {
        if let Some((disposition, why)) = self.history.disposed(result) {
            return (Some(disposition), clean(why, TEXT_MAX));
        }
        if self.ledger.activation(author).is_some_and(|a| a.result != Some(result)) {
            return (Some(Disposed::Superseded), "its author answered again".into());
        }
        if self.delivered().is_some_and(|(_, made)| made.uses.contains(&result)) {
            return (Some(Disposed::Adopted), "the answer says that it used it".into());
        }
        if self.ledger.open().unreconciled.contains(result) {
            return (None, "nobody has said what became of it".into());
        }
        (None, "it was read; the policy asks for no more".into())
    }

    fn next_actions(&self) -> Vec<String> {
        match self.delivered() {
            Some((_, made)) => made.next_actions.iter().map(|a| clean(a, TEXT_MAX)).collect(),
            None => {
                let mut remedies: Vec<String> = self.decision.missing_checks.iter().map(|f| clean(&f.remedy, TEXT_MAX)).collect();
                let mut seen = rustc_hash::FxHashSet::default();
                remedies.retain(|r| seen.insert(r.clone()));
                remedies
            }
        }
    }
}
