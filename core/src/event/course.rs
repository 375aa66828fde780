//! The course of a run: nudges, guards, stops, resumes.

use crate::node::Str;
use serde::{Deserialize, Serialize};

/// Who or what asked for a continuation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NudgeBy {
    /// The gate: something is missing.
    Gate,
    /// A guard.
    Guard,
    /// A stop hook of a foreign host.
    Hook,
    /// Repeat detection. Uses no allowance: the run was going on anyway.
    Repeat,
    /// The agent loop: the agent has to end by its structured output. Uses no allowance; bounded.
    Format,
}

/// What a guard said of a candidate.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardVerdict {
    /// The finish may stand.
    Accept,
    /// A second look, with what to tell the agent.
    Nudge(Str),
    /// The run is to stop, for a reason.
    Stop(Str),
    /// The guard panicked; the text says how. The policy says what it means.
    Panicked(Str),
}

/// When a cancellation takes hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelWhen {
    /// At once; what is under way is abandoned.
    AtOnce,
    /// When the model's reply is in.
    AfterReply,
    /// When the tools under way have ended.
    AfterTools,
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The loop ended by itself.
    Natural,
    /// It was paused.
    Pause,
    /// It waits for a person.
    AwaitingHuman,
    /// The limit on turns.
    TurnLimit,
    /// A limit on calls, tokens, cost, activations or events.
    Budget,
    /// The deadline.
    Timeout,
    /// The provider failed.
    ProviderError,
    /// The mode's own code failed.
    ModeError,
    /// Something else failed.
    Error,
    /// The user cancelled.
    UserCancelled,
    /// The process left while idle.
    IdleExit,
    /// The limit on revisions of the plan.
    ReplanLimit,
    /// The limit on transfers.
    TransferLimit,
    /// The same call over and over.
    Repeating,
    /// A guard ended the run.
    Guard,
}

impl Cause {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Pause => "pause",
            Self::AwaitingHuman => "awaiting_human",
            Self::TurnLimit => "turn_limit",
            Self::Budget => "budget",
            Self::Timeout => "timeout",
            Self::ProviderError => "provider_error",
            Self::ModeError => "mode_error",
            Self::Error => "error",
            Self::UserCancelled => "user_cancelled",
            Self::IdleExit => "idle_exit",
            Self::ReplanLimit => "replan_limit",
            Self::TransferLimit => "transfer_limit",
            Self::Repeating => "repeating",
            Self::Guard => "guard",
        }
    }

    /// Whether the run may still be final: it ended, paused or waits, and no limit or error did it.
    pub fn is_normal(self) -> bool {
        matches!(self, Self::Natural | Self::Pause | Self::AwaitingHuman)
    }
}

/// Who started a run again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumedBy {
    /// A person: grants a fresh allowance.
    Person,
    /// Recovery after a crash, or by another process after one that paused the run and left: grants none.
    Crash,
}

/// A check as it was when the run began.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CheckName {
    /// Its name.
    pub name: Str,
    /// Its version.
    pub version: u32,
}

/// How a step came to an end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Done.
    Done,
    /// A limit ended it: not done.
    CutOff,
    /// It cannot be done, for a reason.
    Blocked,
}
