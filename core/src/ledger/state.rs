//! What is derived about each kind of node. Never stored twice: text stays in its event.

use crate::event::{Declared, Outcome, Record, Via};
use crate::node::{NodeId, NodeKind, Str};
use crate::policy::ModeRules;
use std::ops::Range;
use std::sync::Arc;

/// Weight of a node in the graph: where its event stands, and where its state does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeData {
    /// The event that made it.
    pub seq: u32,
    /// Its place among nodes of its kind.
    pub slot: u32,
    /// What it is.
    pub kind: NodeKind,
}

/// One thing that an agent was shown or said. The event itself is shared with the log.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The reply, the call that has a result, or the sub-agent result that came back.
    pub node: NodeId,
    /// The call that it answers; the node itself where it answers none.
    pub call: NodeId,
    /// The event.
    pub record: Arc<Record>,
}

/// A question of a mode, with its newest answer. Kept together, since a mode that is run again reads
/// all of them in order.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    /// Its name.
    pub key: Str,
    /// Its name as a number, where it is one: compared at once, without going to where the name is.
    pub number: Option<u32>,
    /// The activation at work on it.
    pub activation: NodeId,
    /// The event that asked.
    pub started_seq: u32,
    /// Its newest result, while the activation has ended.
    pub answer: Option<NodeId>,
    /// The event of that result.
    pub answer_seq: u32,
}

impl Asked {
    pub(crate) fn new(key: Str, activation: NodeId, started_seq: u32) -> Self {
        let number = key.parse().ok().filter(|_| *key == *"0" || !key.starts_with(['0', '+']));
        Self { key, number, activation, started_seq, answer: None, answer_seq: 0 }
    }
}

/// One agent at work.
#[derive(Clone, PartialEq, Debug)]
pub struct Activation {
    /// Its node.
    pub id: NodeId,
    /// Whose activation asked; `None` for the run itself.
    pub parent: Option<NodeId>,
    /// The agent.
    pub agent: Str,
    /// The name of the question; blank for the run itself.
    pub key: Str,
    /// How it came to be.
    pub via: Via,
    /// How many activations stand above it.
    pub depth: u32,
    /// The event that started it.
    pub started_seq: u32,
    /// Rules of the mode, where it is one inside the run; those of the run stand in `run_started`.
    pub rules: Option<Box<ModeRules>>,
    /// What the agent was shown and said; nothing for the run itself. Shared with the model call under way.
    pub transcript: Arc<Vec<Entry>>,
    /// Its newest reply.
    pub last_reply: Option<NodeId>,
    /// Calls of that reply, as node ids.
    pub calls: Range<u32>,
    /// How many of them are without a result that the model can be shown.
    pub open_calls: u32,
    /// Whether there is input that the model has not seen.
    pub due: bool,
    /// Replies so far.
    pub turns: u32,
    /// Model calls that failed since the last reply.
    pub failures: u32,
    /// Its newest result.
    pub result: Option<NodeId>,
    /// Whether it is at work.
    pub open: bool,
    /// Its newest candidate, where it is a mode.
    pub candidate: Option<NodeId>,
    /// The event that ruled on that candidate.
    pub ruled_seq: Option<u32>,
    /// Questions that it asked, as a mode, in order.
    pub asked: Vec<Asked>,
    /// How often in a row the same call came with the same result.
    pub repeats: u32,
    /// Whether it was told so.
    pub told: bool,
    /// How often it was reminded of the form in which it has to end.
    pub reminders: u32,
    /// Its place among the questions of the mode that asked.
    pub asked_at: Option<u32>,
    pub(crate) signature: u64,
    /// Results that no reply rests on yet, with their place in the transcript.
    pub(crate) fresh: Vec<(NodeId, u32)>,
}

impl Activation {
    /// Whether a mode is at work here, and not an agent: the run itself, or a mode inside it.
    pub fn is_mode(&self) -> bool {
        self.parent.is_none() || self.rules.is_some()
    }

    /// Results that no reply rests on yet.
    pub fn unread(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.fresh.iter().map(|(node, _)| *node)
    }

    /// An entry more in its transcript.
    pub(crate) fn show(&mut self, node: NodeId, call: NodeId, record: &Arc<Record>) {
        Arc::make_mut(&mut self.transcript).push(Entry { node, call, record: record.clone() });
    }

    /// A result on which its next reply rests, where that reply has seen the entry that comes next.
    pub(crate) fn learn(&mut self, result: NodeId) {
        let at = u32::try_from(self.transcript.len()).unwrap_or(u32::MAX);
        self.fresh.push((result, at));
    }

    /// The model can be shown something for one call more; with the last one its turn is due.
    pub(crate) fn call_shown(&mut self) {
        self.open_calls = self.open_calls.saturating_sub(1);
        self.due = self.open && self.open_calls == 0;
    }

    /// Counts how often in a row a lone call came with the same arguments and the same result.
    pub(crate) fn repeated(&mut self, signature: u64) {
        let same = self.signature == signature && self.calls.len() == 1;
        self.repeats = if same { self.repeats + 1 } else { 1 };
        self.told &= same;
        self.signature = signature;
    }
}

/// Where a tool run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunState {
    /// Asked for.
    Requested,
    /// Waits for a person's approval.
    AwaitingApproval,
    /// Waits for the user's answer.
    AwaitingAnswer,
    /// Under way.
    Running,
    /// Its job goes on outside the turn; what the model was given is a receipt.
    Background,
    /// Its process died under it.
    Lost,
    /// Has an outcome.
    Settled(Outcome),
}

/// One call, as it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolRun {
    /// Its node.
    pub id: NodeId,
    /// Who made it.
    pub activation: NodeId,
    /// The reply's event.
    pub reply_seq: u32,
    /// Its place in that reply.
    pub index: u32,
    /// What the tool declared.
    pub declared: Declared,
    /// Where it stands.
    pub state: RunState,
    /// Whether it is known only from a foreign log: nobody records that it starts.
    pub observed: bool,
    /// Whether a person has granted it.
    pub granted: bool,
    /// The approval that it waited for.
    pub approval: Option<NodeId>,
    /// The sub-agent at work on it.
    pub child: Option<NodeId>,
    /// Its background job.
    pub job: Option<NodeId>,
    /// The step that it serves.
    pub step: Option<NodeId>,
}

/// Work outside the turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// Its node.
    pub id: NodeId,
    /// Who began it.
    pub activation: NodeId,
    /// The call that began it.
    pub call: Option<NodeId>,
    /// How it ended.
    pub outcome: Option<Outcome>,
}

/// How an activation ended, as it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultState {
    /// Its node.
    pub id: NodeId,
    /// The activation that ended.
    pub activation: NodeId,
    /// The activation to which it goes.
    pub to: NodeId,
    /// Its event.
    pub seq: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether its activation was put to work again since: it speaks for nothing any more.
    pub superseded: bool,
}

/// Where a plan step stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepState {
    /// Not settled.
    Open,
    /// Done.
    Done,
    /// A limit ended it: not settled.
    CutOff,
    /// Cannot be done, for a reason.
    Blocked,
    /// Given up, for a reason.
    Dropped,
}

/// One step of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Its node.
    pub id: NodeId,
    /// The activation whose plan it is.
    pub scope: NodeId,
    /// The plan's event.
    pub seq: u32,
    /// Its place in that event.
    pub index: u32,
    /// Where it stands.
    pub state: StepState,
    /// Whether a person denied it.
    pub denied: bool,
    /// The activation that carries it out, the newest.
    pub activation: Option<NodeId>,
}

/// A request for approval.
#[derive(Clone, PartialEq, Debug)]
pub struct Approval {
    /// Its node.
    pub id: NodeId,
    /// The tool run or step.
    pub on: NodeId,
    /// What the person said.
    pub granted: Option<bool>,
    /// The event in which the person changed the arguments.
    pub edited: Option<u32>,
}

/// A question to the user.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// Its node.
    pub id: NodeId,
    /// Who asked.
    pub activation: NodeId,
    /// The call that asked.
    pub call: Option<NodeId>,
    /// Whether it was answered.
    pub answered: bool,
}

/// One version of a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct PlanVersion {
    /// Its node.
    pub id: NodeId,
    /// Steps alive in it, old ones first.
    pub steps: Vec<NodeId>,
    /// The event that replaced it; `u32::MAX` while it stands.
    pub until: u32,
}

/// Open obligations of one kind, sorted by node id. New ids are larger than old ones, so adding is
/// nearly always a push.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct OpenSet(Vec<NodeId>);

impl OpenSet {
    /// Those that are open.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.0.iter().copied()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether this one is.
    pub fn contains(&self, node: NodeId) -> bool {
        self.0.binary_search(&node).is_ok()
    }

    pub(crate) fn add(&mut self, node: NodeId) {
        match self.0.last() {
            Some(last) if *last >= node => {
                if let Err(at) = self.0.binary_search(&node) {
                    self.0.insert(at, node);
                }
            }
            _ => self.0.push(node),
        }
    }

    pub(crate) fn remove(&mut self, node: NodeId) {
        // Nearly always there is nothing, or the one that is looked for.
        if self.0.last() == Some(&node) {
            self.0.pop();
        } else if let Ok(at) = self.0.binary_search(&node) {
            self.0.remove(at);
        }
    }
}

/// Every index of open obligations.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Open {
    /// Calls without an outcome, transfers apart.
    pub tools: OpenSet,
    /// Transfers that are not back.
    pub transfers: OpenSet,
    /// Activations at work whose end is an obligation.
    pub activations: OpenSet,
    /// Background jobs.
    pub jobs: OpenSet,
    /// Approvals.
    pub approvals: OpenSet,
    /// Questions.
    pub questions: OpenSet,
    /// Steps neither done, nor blocked or dropped.
    pub steps: OpenSet,
    /// Calls that were lost.
    pub lost: OpenSet,
    /// Results of sub-agents that have no disposition.
    pub unreconciled: OpenSet,
    /// Sub-agent results seen only in a copy that was cut without a mark.
    pub cut: OpenSet,
    /// Things that ran although they had been denied.
    pub breaches: OpenSet,
    /// Steps that are blocked.
    pub blocked: OpenSet,
    /// Results of direct sub-agents that did not end well.
    pub unsound: OpenSet,
}
