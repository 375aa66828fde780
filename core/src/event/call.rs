//! Calls, and how work is begun and ends.

use crate::node::{NodeId, Str};
use serde::{Deserialize, Serialize};

/// How a tool run, a job or an activation ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was asked to do.
    Completed,
    /// It ended well and said nothing.
    Empty,
    /// A limit ended it; what it has is partial.
    CutOff,
    /// It failed.
    Failed,
    /// It ran out of time.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// It was refused and did not run.
    Rejected,
    /// Whoever ran it is gone and nobody can tell.
    Lost,
}

impl Outcome {
    /// In a word or two, for people and models.
    pub fn words(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Empty => "empty",
            Self::CutOff => "cut off",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::Lost => "lost",
        }
    }
}

/// Why a provider stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It asked for tools.
    ToolCalls,
    /// Its output limit.
    Length,
    /// Its content filter.
    ContentFilter,
    /// The model refused; its text, if any, says so.
    Refusal,
}

/// What a tool may do to the world.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks.
    Read,
    /// Changes something.
    Write,
    /// Changes something that cannot be changed back.
    Destructive,
    /// Verifies the state of things, and says pass or fail.
    Check,
    /// Bookkeeping: todo lists, waiting, transfers, status. Never evidence.
    Control,
}

impl Effect {
    /// Whether running it twice could matter.
    pub fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Destructive)
    }
}

/// What happens when a tool is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// It is run.
    Run,
    /// A sub-agent works on it; its result comes back to the caller.
    Delegate,
    /// A specialist takes over; control comes back to the caller.
    Transfer,
    /// It ends the activation: `conclude`, `report`, a plan, a verdict.
    Terminal,
    /// The loop itself answers it: a question to the user, an attestation, a record, a todo list.
    Loop,
}

/// What a tool declared, copied into the log with each call: a ruling needs no registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Declared {
    /// What happens when it is called.
    pub kind: CallKind,
    /// What it may do.
    pub effect: Effect,
    /// Whether running it twice is the same as running it once.
    pub idempotent: bool,
    /// Whether a person has to grant each call.
    pub approval: bool,
    /// Whether its completed result counts as evidence.
    pub evidence: bool,
    /// Whether it works in scratch space, which makes no evidence stale.
    #[serde(default)]
    pub scratch: bool,
    /// Whether it goes on in the background, so that its result comes as input later.
    #[serde(default)]
    pub background: bool,
    /// Whether the transfer hands the answer over for good (where the policy allows it).
    #[serde(default)]
    pub terminal: bool,
}

impl Declared {
    /// A run of a tool with this effect: reads and checks are idempotent, control is no evidence.
    pub fn run(effect: Effect) -> Self {
        Self {
            kind: CallKind::Run,
            effect,
            idempotent: !effect.changes(),
            approval: effect == Effect::Destructive,
            evidence: effect != Effect::Control,
            scratch: false,
            background: false,
            terminal: false,
        }
    }

    /// A call that the runtime answers itself.
    pub fn of(kind: CallKind) -> Self {
        Self { kind, ..Self::run(Effect::Control) }
    }
}

/// One call that a model asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The tool.
    pub name: Str,
    /// Its arguments: JSON text, as the model wrote it.
    pub args: Str,
    /// The provider's id. A label only: it may be missing, and it repeats within real transcripts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<Str>,
    /// What the tool declared.
    pub declared: Declared,
    /// The plan step it is made for, where the activation does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<NodeId>,
    /// The result that it reads again in full.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reads: Option<NodeId>,
}

/// How an activation came to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A mode asked a question.
    Asked,
    /// A mode asked for a plan step to be carried out.
    Step(NodeId),
    /// A call handed the work over: a delegation or a transfer.
    Call(NodeId),
    /// A sub-agent of which only its start and its end are known (an imported log).
    Child,
    /// An agent of which only what it did is known: nobody recorded its start or its end, so its end is
    /// no obligation (an imported log, a hand-written loop).
    Observed,
}

impl Via {
    /// The plan step that is carried out.
    pub fn step(self) -> Option<NodeId> {
        match self {
            Self::Step(step) => Some(step),
            Self::Asked | Self::Call(_) | Self::Child | Self::Observed => None,
        }
    }
}

/// Tokens and cost of one model call, as the provider counts them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens given.
    pub input_tokens: u64,
    /// Tokens made.
    pub output_tokens: u64,
    /// Cost in millionths of the provider's currency unit.
    #[serde(default)]
    pub cost_micros: u64,
}

/// What a reply carries apart from its text and calls.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct ReplyExtra {
    /// The reasoning channel. Kept apart: it is never an answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<Str>,
    /// Set where the text is a tool call written out as prose.
    #[serde(default)]
    pub markup: bool,
    /// Tokens and cost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<Usage>,
}

/// That a result shown to a model is not the whole of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Cut {
    /// Bytes of the whole.
    pub size: u64,
    /// Whether the copy says that it was cut.
    pub marked: bool,
    /// The sub-agent result of which this is a copy, where it is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<NodeId>,
    /// Where the whole is kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub full: Option<Str>,
}
