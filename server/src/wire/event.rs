//! The vocabulary of the wire. A closed enum; the names are a contract with the page and with programs.

use super::phase::Phase;
use countersign::event::{Disposition, Resolution};
use countersign::{CancelWhen, Decision, NodeId, Outcome, Reason, Ref, Status, Str, Verification};
use serde::Serialize;

/// One event on the wire.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum WireEvent {
    /// Something happened that is worth a line.
    Progress {
        /// Where the task's card stands.
        phase: Phase,
        /// What happened, in words. Never what an agent was told.
        note: String,
        /// Whose work it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<Str>,
    },
    /// A plan is being made.
    Planning {
        /// By whom.
        agent: Str,
    },
    /// What became of results that a synthesis was given.
    ReasoningChain {
        /// Who accounts for them.
        agent: Str,
        /// What was done with each.
        dispositions: Vec<Disposition>,
        /// Disagreements settled by name.
        resolved: Vec<Resolution>,
    },
    /// What an agent said on the way. Never an answer.
    Thinking {
        /// Whose it is.
        agent: Str,
        /// The words, at most 16 KiB of them.
        text: String,
    },
    /// A tool was called.
    ToolCall {
        /// The call, as its node's number.
        call: NodeId,
        /// The same as a typed reference.
        reference: Ref,
        /// Who called.
        agent: Str,
        /// The tool.
        name: Str,
        /// Its arguments: JSON text, at most 16 KiB of it.
        arguments: String,
    },
    /// A tool run or a job has its outcome.
    ToolResult {
        /// The call, or the job.
        call: NodeId,
        /// The tool, where a call is known.
        name: Str,
        /// How it ended.
        outcome: Outcome,
        /// What it says, at most 16 KiB of it.
        text: String,
        /// Set where it came after the call was settled, and changes nothing.
        late: bool,
    },
    /// A sub-agent has ended.
    AgentReply {
        /// Which activation.
        activation: NodeId,
        /// The agent.
        agent: Str,
        /// How it ended.
        outcome: Outcome,
        /// Its words: evidence, not the answer.
        text: String,
    },
    /// A plan was made, or a step of it moved.
    Plan {
        /// Every step of the plan in force.
        steps: Vec<PlanStep>,
    },
    /// Control moves to a specialist, or comes back.
    Transfer {
        /// The call.
        call: NodeId,
        /// To whom.
        to: Str,
        /// Whether it is back.
        returned: bool,
    },
    /// A person has to grant or deny.
    ApprovalRequested {
        /// The approval.
        approval: NodeId,
        /// The call or step.
        on: Ref,
        /// The tool, or the step's name.
        name: Str,
        /// The arguments of the call: JSON text.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Str>,
    },
    /// A person, or the clock, has said so.
    ApprovalResolved {
        /// The approval.
        approval: NodeId,
        /// Whether it may run.
        granted: bool,
        /// Who says so.
        by: Str,
        /// Why.
        why: Str,
    },
    /// An agent was told to go on. What it was told is not said.
    Nudge {
        /// The agent.
        agent: Str,
        /// Why, in words for people.
        note: String,
    },
    /// A candidate is looked at, or was ruled on.
    FinalizationCheck {
        /// Where the task's card stands.
        phase: Phase,
        /// What is looked at.
        #[serde(skip_serializing_if = "Option::is_none")]
        candidate: Option<NodeId>,
        /// The ruling, once there is one. It never holds the text of an answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        decision: Option<Box<Decision>>,
    },
    /// The agent goes on by itself.
    FinalizationAutoContinue {
        /// The agent.
        agent: Str,
        /// Whether anything was told to it: no.
        context_injection: bool,
    },
    /// Text begins that may become the answer, or not. Whatever was shown before is gone.
    ResponseStart {
        /// Always true.
        preview: bool,
        /// The candidate, once it is recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        candidate: Option<NodeId>,
    },
    /// A piece of that text.
    ResponseDelta {
        /// Always true.
        preview: bool,
        /// The text.
        text: Str,
    },
    /// That text is not the answer.
    ResponseRetracted {
        /// Why, where the gate refused it.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
    /// The answer, or why there is none yet.
    Response {
        /// Whether this is the answer.
        finalized: bool,
        /// The answer. Only where `finalized`.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Str>,
        /// Why there is none. Only where not `finalized`.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Where the run stands.
        status: Status,
        /// Why.
        reason: Reason,
        /// How far the answer is backed.
        verification: Verification,
        /// What it rests on.
        evidence_refs: Vec<Ref>,
    },
    /// A question was put to the user.
    QuestionAsked {
        /// The question.
        question: NodeId,
        /// Who asks.
        agent: Str,
        /// What.
        text: Str,
    },
    /// The user has answered.
    QuestionAnswered {
        /// The question.
        question: NodeId,
        /// The answer.
        text: Str,
    },
    /// Previews were missed. Events never are.
    Lagged {
        /// The last event that was sent.
        resume_after: u32,
    },
    /// The stream has ended, and nothing more.
    Done {
        /// The last event of the run that was sent.
        seq: u32,
    },
    /// The run failed for good.
    Error {
        /// Why.
        reason: Reason,
        /// The same in words.
        message: String,
    },
    /// The run was cancelled.
    Cancelled {
        /// Why.
        reason: Reason,
        /// When it took hold, where somebody said.
        #[serde(skip_serializing_if = "Option::is_none")]
        when: Option<CancelWhen>,
    },
}

/// A step, as it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// The step.
    pub step: NodeId,
    /// Its name within the plan.
    pub id: Str,
    /// What is to be done.
    pub text: Str,
    /// `open`, `done`, `cut_off`, `blocked` or `dropped`.
    pub state: &'static str,
}

impl WireEvent {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Progress { .. } => "progress",
            Self::Planning { .. } => "planning",
            Self::ReasoningChain { .. } => "reasoning_chain",
            Self::Thinking { .. } => "thinking",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::AgentReply { .. } => "agent_reply",
            Self::Plan { .. } => "plan",
            Self::Transfer { .. } => "transfer",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::Nudge { .. } => "nudge",
            Self::FinalizationCheck { .. } => "finalization_check",
            Self::FinalizationAutoContinue { .. } => "finalization_auto_continue",
            Self::ResponseStart { .. } => "response_start",
            Self::ResponseDelta { .. } => "response_delta",
            Self::ResponseRetracted { .. } => "response_retracted",
            Self::Response { .. } => "response",
            Self::QuestionAsked { .. } => "question_asked",
            Self::QuestionAnswered { .. } => "question_answered",
            Self::Lagged { .. } => "lagged",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}
