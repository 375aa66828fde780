//! Names for things in the evidence graph.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Shared text: one allocation for the ledger, the journal, the transcript and the stream.
pub type Str = Arc<str>;

/// A node of the evidence graph. Ids are dense and handed out by position in the log, so no event
/// carries an id of its own and no id depends on what a model supplied.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// The root activation: the run itself, whose machine is the mode.
pub const ROOT: NodeId = NodeId(0);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What a node is evidence of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// One agent at work on one task.
    Activation,
    /// One reply of a model.
    Reply,
    /// One run of a tool.
    ToolRun,
    /// A call that hands the work, and then control, to a specialist.
    Transfer,
    /// A call that asks a sub-agent and keeps control.
    Delegation,
    /// Work that goes on outside the turn that began it.
    Job,
    /// One version of a plan.
    Plan,
    /// One step of a plan.
    Step,
    /// How an activation ended.
    Result,
    /// A request for a person's approval.
    Approval,
    /// A question put to a person.
    Question,
    /// A statement that a governance rule was met, with references.
    Attestation,
    /// Text that somebody would like to be the answer.
    Candidate,
    /// A candidate made by a `conclude` call, which accounts for what it was given.
    Synthesis,
    /// A ruling of the gate.
    Decision,
    /// A fact recorded by a custom mode or check.
    Note,
}

impl NodeKind {
    /// The prefix of a typed reference to such a node, as in `tool_run:17`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Activation => "activation",
            Self::Reply => "reply",
            Self::ToolRun => "tool_run",
            Self::Transfer => "transfer",
            Self::Delegation => "delegation",
            Self::Job => "job",
            Self::Plan => "plan",
            Self::Step => "plan_step",
            Self::Result => "sub_agent",
            Self::Approval => "approval",
            Self::Question => "question",
            Self::Attestation => "attestation",
            Self::Candidate => "candidate",
            Self::Synthesis => "synthesis",
            Self::Decision => "decision",
            Self::Note => "record",
        }
    }

    /// Whether a model's call made it.
    pub fn is_call(self) -> bool {
        matches!(self, Self::ToolRun | Self::Transfer | Self::Delegation)
    }

    const ALL: [Self; 16] = [
        Self::Activation,
        Self::Reply,
        Self::ToolRun,
        Self::Transfer,
        Self::Delegation,
        Self::Job,
        Self::Plan,
        Self::Step,
        Self::Result,
        Self::Approval,
        Self::Question,
        Self::Attestation,
        Self::Candidate,
        Self::Synthesis,
        Self::Decision,
        Self::Note,
    ];
}

/// A typed reference to a node: `tool_run:17`, `sub_agent:9`, `attestation:30`. A recorded fact also
/// carries its kind: `record:finding:41`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ref {
    /// What the node is.
    pub kind: NodeKind,
    /// For a note, the kind under which it was recorded.
    pub sub: Option<Str>,
    /// Which node.
    pub node: NodeId,
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sub {
            Some(sub) => write!(f, "{}:{sub}:{}", self.kind.name(), self.node),
            None => write!(f, "{}:{}", self.kind.name(), self.node),
        }
    }
}

impl Serialize for Ref {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ref {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a reference such as `tool_run:17`")))
    }
}

fn parse(text: &str) -> Option<Ref> {
    let (head, node) = text.rsplit_once(':')?;
    let (name, sub) = match head.split_once(':') {
        Some((name, sub)) => (name, Some(Str::from(sub))),
        None => (head, None),
    };
    let kind = NodeKind::ALL.into_iter().find(|k| k.name() == name)?;
    Some(Ref { kind, sub, node: NodeId(node.parse().ok()?) })
}
