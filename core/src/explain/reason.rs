//! Reasons in a sentence.

use crate::decision::{Decision, Next, Reason, Status};

/// The first line of an explanation: what was ruled, why, and what is done next.
pub(super) fn headline(decision: &Decision) -> String {
    let ruling = match (decision.status, decision.completion_reason) {
        (_, Reason::AlreadyFinal) => "already final",
        (Status::Completed, _) => "final",
        (Status::InProgress, _) => "not final",
        (Status::AwaitingApproval, _) => "not final, waiting for a person",
        (Status::Blocked, _) => "not final, blocked",
        (Status::Failed, _) => "not final, failed",
        (Status::Cancelled, _) => "not final, cancelled",
    };
    let reason = decision.completion_reason;
    format!("{ruling}: {} ({}) → {}", in_words(reason), reason.name(), next(decision.next))
}

/// What is done next, by its name on the wire.
fn next(next: Next) -> &'static str {
    match next {
        Next::Deliver => "deliver",
        Next::Continue => "continue",
        Next::Nudge => "nudge",
        Next::ReturnControl => "return_control",
        Next::Wait => "wait",
        Next::ResumeRun => "resume_run",
        Next::AskHuman => "ask_human",
        Next::Stop => "stop",
        Next::None => "none",
    }
}

/// A reason in words.
pub fn in_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Verified => "nothing is left open and the answer rests on completed evidence",
        Reason::VerifiedPartial => "the answer rests on completed evidence, though something failed for good",
        Reason::NotRequired => "nothing is left open and no evidence was required",
        Reason::Unverified => "the allowance is spent and the policy delivers what lacks only evidence, marked",
        Reason::AlreadyFinal => "a final was delivered before",
        Reason::PendingToolExecutions => "a tool run has no outcome yet",
        Reason::PendingBackground => "a background job is still running",
        Reason::PendingSubAgents => "a sub-agent is still at work",
        Reason::PendingTransfers => "a transfer has not come back",
        Reason::PendingPlanSteps => "a plan step is not settled",
        Reason::WrongProducer => "the answer does not come from the agent who may conclude",
        Reason::EmptyResponse => "there is no answer, or it is blank",
        Reason::PlaceholderResponse => "the answer is stock text that a framework made",
        Reason::ReasoningOnly => "the answer holds only reasoning",
        Reason::TruncatedResponse => "the provider cut the answer short",
        Reason::CandidateTooEarly => "the answer is older than a result that it should have seen",
        Reason::UnreconciledResults => "nobody has said what became of a sub-agent's result",
        Reason::ConflictingResults => "results disagree and nobody has settled it by name",
        Reason::TruncatedResult => "a result was read only in a copy that was cut without a mark",
        Reason::CheckFailed => "the last check that was run did not pass",
        Reason::StaleEvidence => "something changed after the last good check",
        Reason::MissingExecutionEvidence => "evidence is required and the answer rests on none",
        Reason::GovernanceIncomplete => "a governance rule has no valid attestation",
        Reason::GuardRejected => "a guard asked for a second look",
        Reason::AwaitingApproval => "a person has to grant or deny",
        Reason::AwaitingAnswer => "a person has to answer a question",
        Reason::DeniedActionRan => "something ran that a person had denied",
        Reason::AmbiguousIds => "two open calls share one id",
        Reason::UnknownOutcome => "a call was under way when its process died",
        Reason::ResumeFailed => "the run was to be resumed and did not start",
        Reason::TurnLimit => "the limit on turns was reached",
        Reason::BudgetExhausted => "a limit on calls, tokens, cost, activations or events was reached",
        Reason::TransferLimit => "the limit on transfers was reached",
        Reason::ReplanLimit => "the limit on revisions of the plan was reached",
        Reason::BackgroundAborted => "background work was killed when the process left",
        Reason::GuardUnsatisfied => "a guard still objects and the allowance is spent",
        Reason::CustomCheck => "a check of the user's own objects",
        Reason::NoProgress => "the same came again on the same evidence",
        Reason::PolicyInfeasible => "what the policy asks for cannot be met by this run",
        Reason::Failed => "the run failed",
        Reason::Timeout => "the deadline passed",
        Reason::ProviderError => "the model's provider failed",
        Reason::ContentFiltered => "the provider filtered the answer away",
        Reason::ModeError => "the mode's own code failed",
        Reason::UserCancelled => "the user cancelled",
    }
}
