//! The facts of a run. A closed vocabulary: a new kind of fact must break every reader at compile time.
//!
//! An event names only nodes that earlier events made, so the evidence graph is acyclic by construction.
//! Node ids are handed out by the ledger: each variant says which nodes it makes.

mod call;
mod course;
mod history;
mod image;
mod read;
mod result;
mod start;

pub use call::*;
pub use course::*;
pub use history::*;
pub use image::*;
pub use result::*;
pub use start::*;

use crate::decision::{Decision, Form};
use crate::node::{NodeId, Str};
use crate::policy::{Limits, ModeRules};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of this vocabulary; `run_started` carries the one that wrote it.
pub const SCHEMA: u32 = 2;

/// One event with its place in the log. Shared by ledger, journal, transcript and stream.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Record {
    /// From 1, without gaps.
    pub seq: u32,
    /// When it was recorded: milliseconds since the Unix epoch, as the driver's clock had it.
    pub at_ms: u64,
    /// The fact.
    #[serde(flatten)]
    pub event: Event,
}

/// Text that somebody would like to be the answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CandidateMade {
    /// The activation whose answer it would be: the run, or a nested mode.
    pub scope: NodeId,
    /// The activation that produced it.
    pub by: NodeId,
    /// The words.
    pub text: Str,
    /// What it is apart from its words.
    #[serde(default)]
    pub form: Form,
    /// Why the provider stopped.
    #[serde(default)]
    pub finish: Finish,
    /// The reply from which it comes, where it is not new.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<NodeId>,
    /// Nodes on which it rests, beside its producer's own.
    #[serde(default)]
    pub rests_on: Vec<NodeId>,
    /// Results of sub-agents that it says it used.
    #[serde(default)]
    pub uses: Vec<NodeId>,
    /// Whether a `conclude` call made it.
    #[serde(default)]
    pub synthesis: bool,
    /// What it says is uncertain.
    #[serde(default)]
    pub uncertainties: Vec<Str>,
    /// What it says should come next.
    #[serde(default)]
    pub next_actions: Vec<Str>,
}

/// One immutable fact.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began. Makes node 0, the root activation.
    RunStarted(Box<RunStarted>),
    /// An agent was put to work. Makes an activation.
    ActivationStarted {
        /// Whose activation asked.
        parent: NodeId,
        /// The agent.
        agent: Str,
        /// The question's name; a question is (asking activation, key).
        key: Str,
        /// What it was asked.
        prompt: Str,
        /// How it came to be.
        via: Via,
        /// What the asker had read when it asked.
        #[serde(default)]
        rests_on: Box<[NodeId]>,
        /// Rules of the mode, where the agent is one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rules: Option<Box<ModeRules>>,
    },
    /// A model answered. Makes a reply, then a tool run, transfer or delegation for each call.
    ModelReplied {
        /// Whose turn it was.
        activation: NodeId,
        /// How many transcript entries it was given: what came in meanwhile is not seen yet.
        saw: u32,
        /// Why it stopped.
        finish: Finish,
        /// Its text.
        text: Str,
        /// Its calls.
        #[serde(default)]
        calls: Box<[Call]>,
        /// Reasoning, usage and marks.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        extra: Option<Box<ReplyExtra>>,
    },
    /// A model call failed. Never an answer, whatever text came with it.
    ModelFailed {
        /// Whose turn it was.
        activation: NodeId,
        /// What the provider said.
        why: Str,
        /// Text that had arrived by then. Partial.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        partial: Option<Str>,
        /// Set where asking again cannot help, such as a key that the provider does not accept.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        lasting: bool,
    },
    /// A person's approval is needed before something runs. Makes an approval.
    ApprovalRequested {
        /// The tool run or the plan step.
        on: NodeId,
    },
    /// A person granted or denied. Expired and ignored requests are denials with a reason.
    ApprovalSettled {
        /// The approval.
        approval: NodeId,
        /// Whether it may run.
        granted: bool,
        /// Who says so.
        by: Str,
        /// Why.
        #[serde(default)]
        why: Str,
        /// Arguments as the approver changed them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        args: Option<Str>,
        /// Set where nobody answered in time: a denial by the clock.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        lapsed: bool,
    },
    /// A question was put to the user. Makes a question.
    QuestionAsked {
        /// Who asks.
        activation: NodeId,
        /// The call that asks, if one does.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        call: Option<NodeId>,
        /// The question.
        text: Str,
    },
    /// The user answered.
    QuestionAnswered {
        /// The question.
        question: NodeId,
        /// The answer.
        text: Str,
    },
    /// A tool that must not run twice is about to run: written ahead.
    ToolStarted {
        /// The tool run.
        call: NodeId,
    },
    /// A tool run has its outcome.
    ToolSettled {
        /// The tool run.
        call: NodeId,
        /// How it ended.
        outcome: Outcome,
        /// What the model is shown.
        text: Str,
        /// Set where that is not the whole.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cut: Option<Box<Cut>>,
    },
    /// A result that came after its call was settled. Changes no state.
    LateResult {
        /// The tool run.
        call: NodeId,
        /// What it says.
        outcome: Outcome,
        /// What came.
        text: Str,
    },
    /// Work goes on outside the turn. Makes a job.
    BackgroundStarted {
        /// Who began it.
        activation: NodeId,
        /// The call that began it, if known: its result is a receipt.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        call: Option<NodeId>,
        /// What it is.
        what: Str,
    },
    /// A job has its outcome: input to whoever began it.
    BackgroundEnded {
        /// The job.
        job: NodeId,
        /// How it ended.
        outcome: Outcome,
        /// What it says.
        text: Str,
    },
    /// A delegation or transfer is closed with its sub-agent's result, by reference.
    Returned {
        /// The call.
        call: NodeId,
        /// The result.
        result: NodeId,
    },
    /// A plan, or a revision of one. Makes a plan, then a step for each new one.
    PlanMade {
        /// The activation whose plan it is.
        scope: NodeId,
        /// Its name within the scope.
        key: Str,
        /// The result in which it was written, or its author's activation.
        by: NodeId,
        /// New steps.
        steps: Vec<StepSpec>,
        /// Old steps given up, with the reason.
        #[serde(default)]
        dropped: Vec<(Str, Str)>,
    },
    /// A step came to an end.
    StepSettled {
        /// The step.
        step: NodeId,
        /// Completed is done; `cut_off` is not.
        outcome: StepOutcome,
        /// Why, where it is blocked.
        #[serde(default)]
        why: Str,
    },
    /// A settled step is open again.
    StepReopened {
        /// The step.
        step: NodeId,
        /// Why.
        why: Str,
    },
    /// Results were worked in.
    Reconciled {
        /// The activation that did it.
        by: NodeId,
        /// What was done with each.
        #[serde(default)]
        dispositions: Vec<Disposition>,
        /// Disagreements settled.
        #[serde(default)]
        resolved: Vec<Resolution>,
    },
    /// An activation ended. Makes a result.
    ActivationEnded {
        /// Which.
        activation: NodeId,
        /// How.
        outcome: Outcome,
        /// Its last words.
        text: Str,
        /// Its structured output: JSON text.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        data: Option<Str>,
        /// Claims, verdict and the like.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        report: Option<Box<Report>>,
    },
    /// Somebody would like this to be the answer. Makes a candidate, or a synthesis.
    CandidateMade(Box<CandidateMade>),
    /// A guard looked at a candidate.
    GuardSpoke {
        /// The candidate.
        candidate: NodeId,
        /// The guard.
        guard: Str,
        /// What it said.
        verdict: GuardVerdict,
    },
    /// The gate ruled. Makes a decision. [`crate::Run::append`] refuses one that the gate would not make.
    Decided {
        /// What was ruled on: the run, or a nested mode.
        scope: NodeId,
        /// The candidate, if there was one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        candidate: Option<NodeId>,
        /// The ruling.
        decision: Arc<Decision>,
    },
    /// The agent was told to go on, and what is missing. External input; never shown to the user.
    Nudged {
        /// Whom.
        activation: NodeId,
        /// Who asked for it.
        by: NudgeBy,
        /// What it is told.
        text: Str,
    },
    /// The agent goes on with nothing injected (`contextInjection: false`).
    Continued {
        /// Whom.
        activation: NodeId,
    },
    /// A message from outside that waits until an answer would be accepted, and is read instead of ending the run.
    InputQueued {
        /// What it says.
        text: Str,
    },
    /// Input from outside: a steering or follow-up message.
    InputArrived {
        /// For whom.
        activation: NodeId,
        /// What it says.
        text: Str,
        /// The event that queued it, where it had to wait.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        queued: Option<u32>,
    },
    /// Somebody states that a governance rule is met. Makes an attestation.
    Attested {
        /// The activation.
        by: NodeId,
        /// The rule.
        rule: Str,
        /// The statement.
        statement: Str,
        /// What it points at.
        #[serde(default)]
        refs: Vec<NodeId>,
        /// Why the thing itself was not done, where the rule allows that.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        waived: Option<Str>,
    },
    /// State changed from outside the run.
    Edited {
        /// By whom.
        by: Str,
    },
    /// The user wants the run cancelled.
    CancelRequested {
        /// By whom.
        by: Str,
        /// When it takes hold.
        when: CancelWhen,
    },
    /// The loop ended.
    Stopped {
        /// Why.
        cause: Cause,
        /// In words.
        #[serde(default)]
        why: Str,
    },
    /// The process died; recorded by whoever found out.
    Crashed,
    /// The run was taken up again.
    Resumed {
        /// By whom.
        by: ResumedBy,
        /// Whether it really started.
        started: bool,
        /// Limits in force from here, where they were raised.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        limits: Option<Box<Limits>>,
    },
    /// A call that was lost is resolved by a person or the policy: run it again.
    Retried {
        /// The tool run.
        call: NodeId,
        /// Who says so.
        by: Str,
    },
    /// What a custom mode or check wants remembered. Makes a note.
    Note {
        /// Its kind, such as `finding`.
        kind: Str,
        /// JSON text.
        data: Str,
        /// What it rests on.
        #[serde(default)]
        rests_on: Vec<NodeId>,
    },
}
