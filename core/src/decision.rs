//! What the gate says: plain records. Having one gives nobody a final.

use crate::node::{Ref, Str};
use serde::{Deserialize, Serialize};

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A final was delivered, or may be.
    Completed,
    /// Something is missing and somebody can still do something about it.
    InProgress,
    /// A person has to grant, deny or answer.
    AwaitingApproval,
    /// Nobody in the run can go on; a person may resume it.
    Blocked,
    /// Ended by an error. Terminal.
    Failed,
    /// Ended by the user. Terminal.
    Cancelled,
}

impl Status {
    /// Whether nothing can follow. Blocked and awaiting runs are parked, not terminal.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::InProgress | Self::AwaitingApproval | Self::Blocked => false,
        }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::InProgress => "in_progress",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Every status, in the order of the documentation.
    pub const ALL: &[Self] = &[Self::Completed, Self::InProgress, Self::AwaitingApproval, Self::Blocked, Self::Failed, Self::Cancelled];

    /// The status of this name on the wire.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.name() == name)
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $name:literal),* $(,)?) => {
        /// Why the gate ruled as it did: what is missing, or what the answer rests on.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Reason { $($(#[$doc])* $variant),* }

        impl Reason {
            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
            /// Every reason, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The reason of this name on the wire.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.name() == name)
            }
        }
    };
}

reasons! {
    /// Every obligation is settled and the answer rests on completed evidence.
    Verified "verified",
    /// As verified, but something failed for good; it is listed.
    VerifiedPartial "verified_partial",
    /// No evidence was required. Never called verified.
    NotRequired "not_required",
    /// The allowance is spent and the policy says to deliver, marked.
    Unverified "unverified",
    /// A final was delivered before.
    AlreadyFinal "already_final",
    /// A tool run has no outcome yet.
    PendingToolExecutions "pending_tool_executions",
    /// A background job is still running.
    PendingBackground "pending_background",
    /// A sub-agent is still at work.
    PendingSubAgents "pending_sub_agents",
    /// A transfer has not come back.
    PendingTransfers "pending_transfers",
    /// A plan step is neither done, nor blocked or dropped with a reason.
    PendingPlanSteps "pending_plan_steps",
    /// The candidate does not come from the agent who may conclude.
    WrongProducer "wrong_producer",
    /// The candidate is blank, or there is none.
    EmptyResponse "empty_response",
    /// The candidate is stock text that a framework made.
    PlaceholderResponse "placeholder_response",
    /// The candidate holds only the reasoning channel.
    ReasoningOnly "reasoning_only",
    /// The provider cut the candidate short.
    TruncatedResponse "truncated_response",
    /// The candidate is older than a result that it should have seen.
    CandidateTooEarly "candidate_too_early",
    /// A sub-agent's result has no disposition.
    UnreconciledResults "unreconciled_results",
    /// Two results disagree and nobody has settled it by name.
    ConflictingResults "conflicting_results",
    /// A result was read only in a copy that was cut without a mark.
    TruncatedResult "truncated_result",
    /// The last check that was run did not pass.
    CheckFailed "check_failed",
    /// Something changed after the last good check.
    StaleEvidence "stale_evidence",
    /// Evidence is required and the candidate rests on none.
    MissingExecutionEvidence "missing_execution_evidence",
    /// A rule of the governance profile has no valid attestation.
    GovernanceIncomplete "governance_incomplete",
    /// A guard asked for a second look.
    GuardRejected "guard_rejected",
    /// A person has to grant or deny.
    AwaitingApproval "awaiting_approval",
    /// A person has to answer a question.
    AwaitingAnswer "awaiting_answer",
    /// Something ran that a person had denied.
    DeniedActionRan "denied_action_ran",
    /// Two open calls share one id.
    AmbiguousIds "ambiguous_ids",
    /// A call was under way when its process died.
    UnknownOutcome "unknown_outcome",
    /// A resume did not start.
    ResumeFailed "resume_failed",
    /// The limit on turns was reached.
    TurnLimit "turn_limit",
    /// A limit on calls, tokens, cost, activations or events was reached.
    BudgetExhausted "budget_exhausted",
    /// The limit on transfers was reached.
    TransferLimit "transfer_limit",
    /// The limit on revisions of the plan was reached.
    ReplanLimit "replan_limit",
    /// Background work was killed when the process left.
    BackgroundAborted "background_aborted",
    /// A guard still objects and the allowance is spent.
    GuardUnsatisfied "guard_unsatisfied",
    /// A check of the user's own objects.
    CustomCheck "custom_check",
    /// The same candidate came again on the same evidence.
    NoProgress "no_progress",
    /// What the policy asks for cannot be met by this run.
    PolicyInfeasible "policy_infeasible",
    /// The run failed.
    Failed "failed",
    /// The deadline passed.
    Timeout "timeout",
    /// The model's provider failed for good.
    ProviderError "provider_error",
    /// The provider filtered the answer away.
    ContentFiltered "content_filtered",
    /// The mode's own code failed.
    ModeError "mode_error",
    /// The user cancelled.
    UserCancelled "user_cancelled",
}

/// What the driver does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Publish the final.
    Deliver,
    /// Give the concluding agent one more turn, with nothing injected.
    Continue,
    /// Give the concluding agent one more turn and tell it what is missing.
    Nudge,
    /// Give the turn back to the agent who owns the answer.
    ReturnControl,
    /// Wait for work that is under way; its end re-opens its owner and uses no allowance.
    Wait,
    /// Start the run again from its log.
    ResumeRun,
    /// Park until a person has acted.
    AskHuman,
    /// Do no more.
    Stop,
    /// Nothing to do: it is done.
    None,
}

/// How far the answer is backed by evidence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// Rests on completed evidence, with nothing left open.
    Verified,
    /// As verified; something failed for good and is listed.
    VerifiedPartial,
    /// Nothing was required.
    NotRequired,
    /// Delivered by policy although something was missing.
    Unverified,
    /// No answer to verify.
    None,
}

/// One thing that stands between a candidate and a final.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The check that reports it, by name.
    pub check: Str,
    /// The nodes it is about.
    pub subjects: Vec<Ref>,
    /// What is missing, in words.
    pub message: String,
    /// What would settle it.
    pub remedy: String,
}

/// The gate's ruling. The field names on the wire are a contract.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Where the run stands.
    pub status: Status,
    /// Whether the candidate may be the final.
    pub finalizable: bool,
    /// Whether a final exists: this one, or an earlier one.
    pub finalized: bool,
    /// Why.
    pub completion_reason: Reason,
    /// The answer. Only where `finalizable`; a refusal never echoes its candidate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub final_text: Option<Str>,
    /// How far the answer is backed.
    pub verification: Verification,
    /// Whether the answer rests on completed evidence and nothing is missing.
    pub evidence_verified: bool,
    /// Completed evidence on which the answer rests. Filled where `finalizable`.
    pub evidence_refs: Vec<Ref>,
    /// What failed for good: calls, sub-agents, blocked steps. Filled where `finalizable`.
    pub failed_refs: Vec<Ref>,
    /// Tool runs without an outcome.
    pub pending_tool_runs: Vec<Ref>,
    /// Background jobs that are still running.
    pub pending_execution_ids: Vec<Ref>,
    /// Steps that are not settled.
    pub pending_plan_steps: Vec<Ref>,
    /// Transfers that are not back.
    pub pending_transfers: Vec<Ref>,
    /// Sub-agents still at work.
    pub pending_sub_agents: Vec<Ref>,
    /// Approvals not yet given or refused.
    pub pending_approvals: Vec<Ref>,
    /// Questions not yet answered.
    pub pending_questions: Vec<Ref>,
    /// Results without a disposition.
    pub unreconciled_results: Vec<Ref>,
    /// Keys on which results disagree.
    pub conflicts: Vec<Str>,
    /// Every finding, in the order of the checks.
    pub missing_checks: Vec<Finding>,
    /// What the driver does next.
    pub next: Next,
    /// The mode of the run.
    pub agent_mode: Str,
    /// The run.
    pub run_id: Str,
    /// The conversation to which the run belongs, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation_id: Option<Str>,
    /// The message that the run fills, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_id: Option<Str>,
    /// Length of the candidate in bytes; 0 where there is none.
    pub candidate_len: usize,
    /// Digest of the policy in force.
    pub policy_digest: Str,
    /// The sequence number of the last event ruled on.
    pub at_seq: u32,
}

impl Decision {
    /// The finding of one check, if it reported one.
    pub fn finding(&self, check: &str) -> Option<&Finding> {
        self.missing_checks.iter().find(|f| &*f.check == check)
    }

    /// Names of the checks that object, in order.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.missing_checks.iter().map(|f| &*f.check)
    }
}

/// What a candidate was, apart from its words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Words meant for the reader.
    #[default]
    Text,
    /// Only the reasoning channel: never promoted to an answer.
    ReasoningOnly,
    /// Stock text made by a framework, flagged where it was made.
    Placeholder,
    /// A tool call written out as prose.
    CallMarkup,
}
