//! The facts of a run. A closed vocabulary: a new kind of fact must break every reader at compile time.
//!
//! An event names only nodes that earlier events made, so the evidence graph is acyclic by construction.
//! Node ids are handed out by the ledger: each variant says which nodes it makes.

use crate::decision::{Decision, Form};
use crate::node::{NodeId, Str};
use crate::policy::{Limits, ModeRules, Policy};
use serde::{Deserialize, Serialize};

/// The version of this vocabulary; `run_started` carries the one that wrote it.
pub const SCHEMA: u32 = 1;

/// One event with its place in the log. Shared by ledger, journal, transcript and stream.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Record {
    /// From 1, without gaps.
    pub seq: u32,
    /// When it was recorded: milliseconds since the Unix epoch, as the driver's clock had it.
    pub at_ms: u64,
    /// The fact.
    #[serde(flatten)]
    pub event: Event,
}

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

/// One step of a plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StepSpec {
    /// Its name within the plan.
    pub id: Str,
    /// What is to be done.
    #[serde(default = "empty")]
    pub text: Str,
    /// Steps that must be done before it.
    #[serde(default)]
    pub needs: Vec<Str>,
}

fn empty() -> Str {
    "".into()
}

/// One fact that a sub-agent claims. Two results whose claims share a key and differ are a conflict.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// What it is about.
    pub key: Str,
    /// What is claimed.
    pub value: Str,
    /// From 0 to 100, where the claimant says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<u8>,
}

/// What a sub-agent hands over beside its text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Facts claimed.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// A verdict, where the work was a review.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// Criteria of that verdict, and whether each is met.
    #[serde(default)]
    pub criteria: Vec<(Str, bool)>,
    /// Files or other things that it made.
    #[serde(default)]
    pub artefacts: Vec<Str>,
    /// Evidence that it names, in its own words.
    #[serde(default)]
    pub evidence: Vec<Str>,
    /// Evidence-counting calls that completed inside it, as a foreign runtime tells it. Ours are in the log.
    #[serde(default)]
    pub executed: u32,
}

/// What a review came to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every criterion is met.
    Approved,
    /// At least one is not.
    Rejected,
}

/// What a synthesis did with one result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposed {
    /// Used.
    Adopted,
    /// Not used.
    Rejected,
    /// Says the same as another.
    Duplicate,
    /// Overtaken by another.
    Superseded,
    /// Left open, and said so.
    Unresolved,
}

/// A result with what the synthesis did with it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Disposition {
    /// The result node.
    pub result: NodeId,
    /// What was done with it.
    pub disposition: Disposed,
    /// Why. Needed where it is not adopted.
    #[serde(default = "empty")]
    pub why: Str,
}

/// A disagreement settled by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Resolution {
    /// The key on which results disagreed; `verdict:<result>` for a verdict against its own criteria.
    pub key: Str,
    /// How it was settled, and why.
    #[serde(default = "empty")]
    pub why: Str,
}

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
    /// Recovery after a crash: grants none.
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

/// Everything needed to rule on the log years later.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RunStarted {
    /// The event vocabulary in use; see [`SCHEMA`].
    pub schema: u32,
    /// The gate in use; see [`crate::gate::GATE_VERSION`].
    pub gate: u32,
    /// The run.
    pub run: Str,
    /// The conversation to which it belongs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation: Option<Str>,
    /// The message that it fills.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<Str>,
    /// What the user asked for.
    pub task: Str,
    /// The mode.
    pub mode: Str,
    /// The version of the mode.
    pub mode_version: u32,
    /// What the mode fixes.
    pub rules: ModeRules,
    /// What the caller requires.
    pub policy: Policy,
    /// Digest of that policy; blank where it is to be made.
    #[serde(default = "empty")]
    pub policy_digest: Str,
    /// The checks that rule.
    pub checks: Vec<CheckName>,
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
        #[serde(default = "empty")]
        why: Str,
        /// Arguments as the approver changed them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        args: Option<Str>,
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
        #[serde(default = "empty")]
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
        decision: Box<Decision>,
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
    /// Input from outside: a steering or follow-up message.
    InputArrived {
        /// For whom.
        activation: NodeId,
        /// What it says.
        text: Str,
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
        #[serde(default = "empty")]
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
