//! The fold of a run's events: the evidence graph and its indexes.
//!
//! Nobody else remembers anything. Status is derived; append is the only mutation; replay is the same
//! append. The ledger does not know the gate.

mod admit;
mod apply;
mod conflict;
mod state;
mod totals;

pub use admit::AppendError;
pub use conflict::Conflict;
pub use state::{
    Activation, Approval, Asked, Entry, Job, NodeData, Open, OpenSet, PlanVersion, Question, ResultState, RunState, Step, StepState, ToolRun,
};
pub use totals::Totals;

use crate::decision::Decision;
use crate::event::{Call, CandidateMade, Event, GuardVerdict, Outcome, Record, ReplyExtra, RunStarted, StepSpec};
use crate::node::{NodeId, NodeKind, ROOT, Ref, Str};
use crate::policy::{Limits, ModeRules, Policy, Reconciliation};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Everything known about one run.
#[derive(Clone, Debug)]
pub struct Ledger {
    log: Vec<Arc<Record>>,
    graph: DiGraph<NodeData, ()>,
    activations: Vec<Activation>,
    runs: Vec<ToolRun>,
    jobs: Vec<Job>,
    results: Vec<ResultState>,
    steps: Vec<Step>,
    approvals: Vec<Approval>,
    questions: Vec<Question>,
    by_key: FxHashMap<(NodeId, Str), NodeId>,
    plans: FxHashMap<(NodeId, Str), PlanVersion>,
    current_plan: FxHashMap<NodeId, Str>,
    /// Labels of open calls, so that two open calls with one label are found when the second is made.
    open_labels: FxHashMap<Str, u32>,
    /// Calls that failed for good, by tool: a later good call of the same tool clears them.
    failures: FxHashMap<Str, Vec<NodeId>>,
    /// Made with the first claim: few runs have any.
    conflicts: Option<Box<conflict::Conflicts>>,
    /// Hashes of sub-agents' normalised texts: a word-for-word relay is found without reading them again.
    words: FxHashMap<u64, NodeId>,
    /// Where the limits in force were set, once a resume raised them.
    limits_from: Option<u32>,
    /// The transfer that handed the answer over for good.
    terminal_transfer: Option<NodeId>,
    attestations: Vec<NodeId>,
    /// The candidate that guards looked at last, and the events that say what they said.
    guarded: Option<(NodeId, Vec<u32>)>,
    denied_steps: u32,
    /// Events of messages that wait for an accepted finish, in order.
    queued: Vec<u32>,
    open: Open,
    totals: Totals,
    /// What a node is about to rest on: one list, used again.
    scratch: Vec<NodeId>,
}

impl Ledger {
    /// Takes in one event, or refuses it and stays as it was.
    pub(crate) fn append(&mut self, record: Arc<Record>) -> Result<(), AppendError> {
        if record.seq != self.seq() + 1 {
            return Err(AppendError::Gap { last: self.seq(), got: record.seq });
        }
        self.admit(&record.event)?;
        self.apply(record);
        Ok(())
    }

    pub(crate) fn new() -> Self {
        Self {
            // Room for a short run, so that it does not grow step by step.
            log: Vec::with_capacity(32),
            graph: DiGraph::with_capacity(32, 48),
            activations: Vec::with_capacity(4),
            runs: Vec::with_capacity(16),
            jobs: Vec::new(),
            results: Vec::new(),
            steps: Vec::new(),
            approvals: Vec::new(),
            questions: Vec::new(),
            by_key: FxHashMap::default(),
            plans: FxHashMap::default(),
            current_plan: FxHashMap::default(),
            open_labels: FxHashMap::default(),
            failures: FxHashMap::default(),
            conflicts: None,
            words: FxHashMap::default(),
            limits_from: None,
            terminal_transfer: None,
            attestations: Vec::new(),
            guarded: None,
            denied_steps: 0,
            queued: Vec::new(),
            open: Open::default(),
            totals: Totals::default(),
            scratch: Vec::new(),
        }
    }

    /// The log so far.
    pub fn log(&self) -> &[Arc<Record>] {
        &self.log
    }

    /// The sequence number of the newest event; 0 before the first.
    pub fn seq(&self) -> u32 {
        u32::try_from(self.log.len()).unwrap_or(u32::MAX)
    }

    /// The evidence graph: edges run from newer to older, "rests on".
    pub fn graph(&self) -> &DiGraph<NodeData, ()> {
        &self.graph
    }

    /// Nodes whose obligations are open, by kind.
    pub fn open(&self) -> &Open {
        &self.open
    }

    /// Counters and last positions.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How the run began.
    pub fn started(&self) -> Option<&RunStarted> {
        match self.log.first().map(|r| &r.event) {
            Some(Event::RunStarted(s)) => Some(s),
            _ => None,
        }
    }

    /// The policy in force. Limits may have been raised since: see [`Ledger::limits`].
    pub fn policy(&self) -> &Policy {
        static EMPTY: std::sync::LazyLock<Policy> = std::sync::LazyLock::new(Policy::default);
        self.started().map_or_else(|| &*EMPTY, |s| &s.policy)
    }

    /// The limits in force: the policy's, or those of the newest resume that raised them.
    pub fn limits(&self) -> &Limits {
        self.limits_from.and_then(|seq| self.event(seq)).and_then(raised).unwrap_or(&self.policy().limits)
    }

    /// The rules of a mode's activation: the run's own, or a nested mode's.
    pub fn rules(&self, scope: NodeId) -> Option<&ModeRules> {
        if scope == ROOT {
            return self.started().map(|s| &s.rules);
        }
        self.activation(scope)?.rules.as_deref()
    }

    /// How results are reconciled in a scope.
    pub fn reconciliation(&self, scope: NodeId) -> Reconciliation {
        self.policy().reconciliation.or_else(|| self.rules(scope).map(|r| r.reconciliation)).unwrap_or(Reconciliation::Delivered)
    }

    /// The event with this number.
    pub fn event(&self, seq: u32) -> Option<&Event> {
        self.record(seq).map(|r| &r.event)
    }

    /// The record with this number.
    pub fn record(&self, seq: u32) -> Option<&Arc<Record>> {
        self.log.get((seq as usize).checked_sub(1)?)
    }

    /// A node's kind and place.
    pub fn data(&self, node: NodeId) -> Option<NodeData> {
        self.graph.node_weight(NodeIndex::new(node.0 as usize)).copied()
    }

    /// The event that made a node.
    pub fn made_by(&self, node: NodeId) -> Option<&Event> {
        self.event(self.data(node)?.seq)
    }

    /// How many nodes there are; the next node gets this id.
    pub fn node_count(&self) -> u32 {
        u32::try_from(self.graph.node_count()).unwrap_or(u32::MAX)
    }

    fn slot(&self, node: NodeId, kind: NodeKind) -> Option<usize> {
        self.data(node).filter(|d| d.kind == kind).map(|d| d.slot as usize)
    }

    fn call_slot(&self, node: NodeId) -> Option<usize> {
        self.data(node).filter(|d| d.kind.is_call()).map(|d| d.slot as usize)
    }

    /// An activation.
    pub fn activation(&self, node: NodeId) -> Option<&Activation> {
        self.activations.get(self.slot(node, NodeKind::Activation)?)
    }

    /// Every activation, oldest first.
    pub fn activations(&self) -> &[Activation] {
        &self.activations
    }

    /// A tool run, transfer or delegation.
    pub fn tool_run(&self, node: NodeId) -> Option<&ToolRun> {
        self.runs.get(self.call_slot(node)?)
    }

    /// Every call, oldest first.
    pub fn tool_runs(&self) -> &[ToolRun] {
        &self.runs
    }

    /// A call's name, arguments and label.
    pub fn call(&self, run: &ToolRun) -> Option<&Call> {
        match self.event(run.reply_seq)? {
            Event::ModelReplied { calls, .. } => calls.get(run.index as usize),
            _ => None,
        }
    }

    /// The arguments with which a call is to run: as its approver left them.
    pub fn args(&self, run: &ToolRun) -> Option<&Str> {
        let edited = run.approval.and_then(|a| self.approval(a)?.edited).and_then(|seq| match self.event(seq) {
            Some(Event::ApprovalSettled { args, .. }) => args.as_ref(),
            _ => None,
        });
        edited.or_else(|| self.call(run).map(|c| &c.args))
    }

    /// A background job.
    pub fn job(&self, node: NodeId) -> Option<&Job> {
        self.jobs.get(self.slot(node, NodeKind::Job)?)
    }

    /// A result.
    pub fn result(&self, node: NodeId) -> Option<&ResultState> {
        self.results.get(self.slot(node, NodeKind::Result)?)
    }

    /// Every result, oldest first.
    pub fn results(&self) -> &[ResultState] {
        &self.results
    }

    /// A plan step.
    pub fn step(&self, node: NodeId) -> Option<&Step> {
        self.steps.get(self.slot(node, NodeKind::Step)?)
    }

    /// What a step is.
    pub fn step_spec(&self, step: &Step) -> Option<&StepSpec> {
        match self.event(step.seq)? {
            Event::PlanMade { steps, .. } => steps.get(step.index as usize),
            _ => None,
        }
    }

    /// A request for approval.
    pub fn approval(&self, node: NodeId) -> Option<&Approval> {
        self.approvals.get(self.slot(node, NodeKind::Approval)?)
    }

    /// A question to the user.
    pub fn question(&self, node: NodeId) -> Option<&Question> {
        self.questions.get(self.slot(node, NodeKind::Question)?)
    }

    /// The message that waits to be read next after an accepted finish, and the event that queued it.
    pub fn queued(&self) -> Option<(u32, &Str)> {
        let seq = *self.queued.first()?;
        match self.event(seq)? {
            Event::InputQueued { text } => Some((seq, text)),
            _ => None,
        }
    }

    /// A candidate.
    pub fn candidate(&self, node: NodeId) -> Option<&CandidateMade> {
        match self.made_by(node)? {
            Event::CandidateMade(c) => Some(c),
            _ => None,
        }
    }

    /// The activation that a mode's question started, the newest under this key.
    pub fn asked(&self, parent: NodeId, key: &Str) -> Option<&Activation> {
        self.by_key.get(&(parent, key.clone())).and_then(|n| self.activation(*n))
    }

    /// The plan recorded under a key, with the steps alive in that version.
    pub fn plan(&self, scope: NodeId, key: &Str) -> Option<&PlanVersion> {
        self.plans.get(&(scope, key.clone()))
    }

    /// The plan in force in a scope.
    pub fn current_plan(&self, scope: NodeId) -> Option<&PlanVersion> {
        self.current_plan.get(&scope).and_then(|key| self.plan(scope, key))
    }

    /// What disagrees and is not settled, in a scope.
    pub fn conflicts(&self) -> &[Conflict] {
        self.conflicts.as_ref().map(|c| c.open()).unwrap_or_default()
    }

    /// Whether a node's activation stands at or below a scope.
    pub fn within(&self, mut node: NodeId, scope: NodeId) -> bool {
        if scope == ROOT {
            return true;
        }
        loop {
            if node == scope {
                return true;
            }
            match self.activation(node).and_then(|a| a.parent) {
                Some(parent) => node = parent,
                None => return false,
            }
        }
    }

    /// The activation to which a node belongs.
    pub fn owner(&self, node: NodeId) -> NodeId {
        let Some(data) = self.data(node) else { return ROOT };
        let slot = data.slot as usize;
        match data.kind {
            NodeKind::Activation => Some(node),
            NodeKind::ToolRun | NodeKind::Transfer | NodeKind::Delegation => self.runs.get(slot).map(|r| r.activation),
            NodeKind::Job => self.jobs.get(slot).map(|j| j.activation),
            NodeKind::Result => self.results.get(slot).map(|r| r.to),
            NodeKind::Step => self.steps.get(slot).map(|s| s.scope),
            NodeKind::Approval => self.approvals.get(slot).map(|a| self.owner(a.on)),
            NodeKind::Question => self.questions.get(slot).map(|q| q.activation),
            NodeKind::Candidate | NodeKind::Synthesis => self.candidate(node).map(|c| c.scope),
            NodeKind::Reply => match self.event(data.seq) {
                Some(Event::ModelReplied { activation, .. }) => Some(*activation),
                _ => None,
            },
            NodeKind::Plan | NodeKind::Attestation | NodeKind::Decision | NodeKind::Note => None,
        }
        .unwrap_or(ROOT)
    }

    /// A typed reference to a node.
    pub fn reference(&self, node: NodeId) -> Ref {
        let kind = self.data(node).map_or(NodeKind::Note, |d| d.kind);
        let sub = match self.made_by(node).filter(|_| kind == NodeKind::Note) {
            Some(Event::Note { kind, .. }) => Some(kind.clone()),
            _ => None,
        };
        Ref { kind, sub, node }
    }

    /// The text of a reply, and why the provider stopped.
    pub fn reply(&self, node: NodeId) -> Option<(&Str, crate::event::Finish, Option<&ReplyExtra>)> {
        match self.made_by(node)? {
            Event::ModelReplied { text, finish, extra, .. } => Some((text, *finish, extra.as_deref())),
            _ => None,
        }
    }

    /// Whether a node is evidence that something was executed and completed.
    pub fn is_evidence(&self, node: NodeId) -> bool {
        let Some(data) = self.data(node) else { return false };
        match data.kind {
            NodeKind::ToolRun => self
                .runs
                .get(data.slot as usize)
                .is_some_and(|r| r.declared.evidence && r.child.is_none() && r.state == RunState::Settled(Outcome::Completed)),
            NodeKind::Result => match self.event(data.seq) {
                Some(Event::ActivationEnded { report: Some(report), .. }) => {
                    report.executed > 0 && self.results.get(data.slot as usize).is_some_and(|r| !r.superseded)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Completed evidence on which a node rests, oldest first. Walks what the node cites, once.
    pub fn evidence(&self, from: NodeId) -> Vec<NodeId> {
        let mut found = Vec::with_capacity(self.totals.evidence.min(32) as usize);
        found.extend(self.walk(from).filter(|n| self.is_evidence(*n)));
        found.reverse();
        found
    }

    /// Whether a node rests on any completed evidence. Stops at the first.
    pub fn rests_on_evidence(&self, from: NodeId) -> bool {
        self.totals.evidence > 0 && self.walk(from).any(|n| self.is_evidence(n))
    }

    /// Every node on which this one rests, itself first, then from newer to older. Edges run from newer to
    /// older, so the newest node that is left is never met again: a walk needs no note of where it was, and
    /// costs what it visits, not what the ledger holds.
    pub fn walk(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut ahead = Vec::with_capacity(16);
        ahead.push(from);
        std::iter::from_fn(move || {
            let node = ahead.pop()?;
            for older in self.rests_on(node) {
                // Sorted, each once: what is ahead is little, and what comes in is mostly its newest.
                let at = ahead.iter().rposition(|n| *n <= older);
                if at.and_then(|at| ahead.get(at)) != Some(&older) {
                    ahead.insert(at.map_or(0, |at| at + 1), older);
                }
            }
            Some(node)
        })
    }

    /// Nodes on which this one rests directly.
    pub fn rests_on(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.graph.neighbors(NodeIndex::new(node.0 as usize)).map(|n| NodeId(u32::try_from(n.index()).unwrap_or(u32::MAX)))
    }

    /// Whether nothing has failed for good: no call, no sub-agent, no step.
    pub fn is_spotless(&self) -> bool {
        self.failures.is_empty() && self.open.unsound.is_empty() && self.open.blocked.is_empty()
    }

    /// Calls that failed for good: no later call of the same tool completed.
    pub fn failed_calls(&self) -> Vec<NodeId> {
        let mut failed: Vec<NodeId> = self.failures.values().flatten().copied().collect();
        failed.sort_unstable();
        failed
    }

    /// Whether a text is, word for word, what a sub-agent of this scope said.
    pub fn relayed(&self, text: &str) -> Option<NodeId> {
        self.words.get(&apply::normalised(text)).copied()
    }

    /// Open calls that share a label with another open call.
    pub fn ambiguous_calls(&self) -> Vec<NodeId> {
        if self.totals.ambiguous == 0 {
            return Vec::new();
        }
        let shared = |n: &NodeId| self.tool_run(*n).and_then(|r| self.label(r)).is_some_and(|l| self.open_labels.get(&l).is_some_and(|c| *c > 1));
        self.open.tools.iter().filter(shared).collect()
    }

    fn label(&self, run: &ToolRun) -> Option<Str> {
        self.call(run).and_then(|c| c.label.as_deref()).map(str::trim).filter(|l| !l.is_empty()).map(Str::from)
    }

    /// The newest decision on a scope, if it is the newest of all.
    pub fn last_decision(&self, scope: NodeId) -> Option<&Decision> {
        let (seq, of, _) = self.totals.ruled?;
        match self.event(seq)? {
            Event::Decided { decision, .. } if of == scope => Some(decision),
            _ => None,
        }
    }

    /// The agent that a terminal transfer made the owner of the answer, where the policy allows one.
    pub fn answer_handed_to(&self) -> Option<&str> {
        let run = self.tool_run(self.terminal_transfer?)?;
        self.call(run).map(|c| target(&c.name))
    }

    /// Attestations, oldest first.
    pub fn attestations(&self) -> &[NodeId] {
        &self.attestations
    }

    /// What guards said of a candidate, oldest first.
    pub fn guard_verdicts(&self, candidate: NodeId) -> impl Iterator<Item = (&Str, &GuardVerdict)> {
        let said = self.guarded.as_ref().filter(|(on, _)| *on == candidate).map(|(_, said)| said.as_slice()).unwrap_or_default();
        said.iter().filter_map(|seq| match self.event(*seq) {
            Some(Event::GuardSpoke { guard, verdict, .. }) => Some((guard, verdict)),
            _ => None,
        })
    }

    /// The call of the terminal transfer, if there was one.
    pub fn terminal_transfer(&self) -> Option<NodeId> {
        self.terminal_transfer
    }
}

/// The agent named by a transfer or delegation tool: `transfer_to_dba` goes to `dba`.
pub fn target(tool: &str) -> &str {
    tool.strip_prefix("transfer_to_").unwrap_or(tool)
}

fn raised(event: &Event) -> Option<&Limits> {
    match event {
        Event::Resumed { limits, .. } => limits.as_deref(),
        _ => None,
    }
}
