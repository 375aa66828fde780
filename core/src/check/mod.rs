//! The rules of the gate, a file each, named by what holds when they pass. A check reports; it never
//! decides. A user's check is a peer of these.

mod approvals_settled;
mod background_done;
mod candidate_last;
mod candidate_owner;
mod candidate_text;
mod candidate_whole;
mod checks_pass;
mod conflicts_resolved;
mod denials_respected;
mod evidence_fresh;
mod evidence_ok;
mod governance_met;
mod guard_ok;
mod ids_unambiguous;
mod normal_stop;
mod outcomes_known;
mod plan_settled;
mod questions_answered;
mod replies_reconciled;
mod result_whole;
mod sub_agents_done;
mod tools_closed;
mod transfers_returned;

pub use governance_met::why_unmet;

use crate::decision::Finding;
use crate::event::CandidateMade;
use crate::ledger::{Ledger, OpenSet};
use crate::node::{NodeId, ROOT, Ref};
use crate::policy::{ModeRules, Policy};

/// What a check looks at: the ledger, the scope ruled on, and the candidate, if there is one.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Everything known.
    pub ledger: &'a Ledger,
    /// The run, or a nested mode's activation.
    pub scope: NodeId,
    /// The candidate: its node, and what it is.
    pub candidate: Option<(NodeId, &'a CandidateMade)>,
}

impl<'a> View<'a> {
    /// The policy of the run.
    pub fn policy(&self) -> &'a Policy {
        self.ledger.policy()
    }

    /// The rules of the scope.
    pub fn rules(&self) -> Option<&'a ModeRules> {
        self.ledger.rules(self.scope)
    }

    /// Whether the run itself is ruled on, not a mode inside it.
    pub fn is_root(&self) -> bool {
        self.scope == ROOT
    }

    /// What is open in this scope. Costs what is open.
    pub fn open(&self, set: &OpenSet) -> Vec<Ref> {
        if set.is_empty() {
            return Vec::new();
        }
        self.refs(set.iter().filter(|n| self.ledger.within(self.ledger.owner(*n), self.scope)))
    }

    /// Results that the conclusion of this very scope must account for.
    pub fn direct(&self, set: &OpenSet) -> Vec<Ref> {
        self.refs(set.iter().filter(|n| self.is_direct(*n)))
    }

    /// Whether a result goes to this scope, and not to one inside it.
    pub fn is_direct(&self, result: NodeId) -> bool {
        self.ledger.scope_of(self.ledger.owner(result)) == self.scope
    }

    /// Typed references.
    pub fn refs(&self, nodes: impl IntoIterator<Item = NodeId>) -> Vec<Ref> {
        nodes.into_iter().map(|n| self.ledger.reference(n)).collect()
    }
}

/// One rule. Pure: the same view gives the same finding.
pub trait Check: Send + Sync {
    /// Its name, in `missingChecks` and in the log.
    fn name(&self) -> &str;

    /// Its version, recorded with the run: raise it when its meaning changes.
    fn version(&self) -> u32 {
        1
    }

    /// What is missing, if anything. An error is a finding too, never a pass.
    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String>;
}

/// The built-in checks, in the order in which their findings are listed.
pub fn built_in() -> Vec<Box<dyn Check>> {
    vec![
        Box::new(tools_closed::ToolsClosed),
        Box::new(background_done::BackgroundDone),
        Box::new(sub_agents_done::SubAgentsDone),
        Box::new(transfers_returned::TransfersReturned),
        Box::new(approvals_settled::ApprovalsSettled),
        Box::new(questions_answered::QuestionsAnswered),
        Box::new(denials_respected::DenialsRespected),
        Box::new(ids_unambiguous::IdsUnambiguous),
        Box::new(outcomes_known::OutcomesKnown),
        Box::new(plan_settled::PlanSettled),
        Box::new(candidate_text::CandidateText),
        Box::new(candidate_whole::CandidateWhole),
        Box::new(candidate_owner::CandidateOwner),
        Box::new(candidate_last::CandidateLast),
        Box::new(replies_reconciled::RepliesReconciled),
        Box::new(conflicts_resolved::ConflictsResolved),
        Box::new(result_whole::ResultWhole),
        Box::new(evidence_ok::EvidenceOk),
        Box::new(checks_pass::ChecksPass),
        Box::new(evidence_fresh::EvidenceFresh),
        Box::new(governance_met::GovernanceMet),
        Box::new(guard_ok::GuardOk),
        Box::new(normal_stop::NormalStop),
    ]
}

/// A finding about these nodes; none where there are none.
fn about(check: &str, subjects: Vec<Ref>, message: &str, remedy: &str) -> Option<Finding> {
    (!subjects.is_empty()).then(|| finding(check, subjects, message, remedy))
}

fn finding(check: &str, subjects: Vec<Ref>, message: &str, remedy: &str) -> Finding {
    Finding { check: check.into(), subjects, message: message.into(), remedy: remedy.into() }
}
