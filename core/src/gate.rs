//! The gate: reads the ledger and rules. Start here.
//!
//! Every check is asked and every finding is kept. Which finding speaks for the ruling is fixed by
//! `ground`, first match first; what it means is fixed by `verdict`, one arm each. Nothing else in the
//! program can make a [`Final`].

mod findings;
mod record;
mod standing;

use crate::check::{Check, View, built_in};
use crate::decision::{Decision, Finding, Form, Next, Reason, Status};
use crate::event::{Cause, CheckName};
use crate::ledger::Ledger;
use crate::node::{NodeId, ROOT, Str};
use crate::policy::OnMissingEvidence;
use record::{completion, write};
use serde::Serialize;
use standing::{ambiguous_approval, deliverable_unverified, filtered, no_progress, only_control_is_out, others_run, spent};
use std::sync::Arc;

/// The version of the precedence below, recorded with each run.
pub const GATE_VERSION: u32 = 1;

/// The answer. Sealed: its fields are private, this module alone makes one, and it is never deserialised.
///
/// Nobody outside can write one down:
/// ```compile_fail,E0451
/// use countersign_core::{Final, NodeId, Reason};
/// let forged = Final { text: "done".into(), run: "r1".into(), candidate: NodeId(1), reason: Reason::Verified, at_seq: 1, log_digest: 0 };
/// ```
/// nor read one from a log, a wire or a file:
/// ```compile_fail,E0277
/// let forged: countersign_core::Final = serde_json::from_str("{}").unwrap();
/// ```
/// A ruling is a plain record; having one, even one that delivers, gives a mode or a tool no final:
/// ```compile_fail,E0308
/// use countersign_core::{Decision, Final};
/// fn advance(ruling: Decision) -> Option<Final> {
///     ruling.final_text
/// }
/// ```
/// nor does a guard's word, which is a verdict and nothing else:
/// ```compile_fail,E0277
/// use countersign_core::{Final, GuardVerdict};
/// fn finish(verdict: GuardVerdict) -> Final {
///     verdict.into()
/// }
/// ```
/// There is no constructor to call, no default to take, and what makes one is closed to callers:
/// ```compile_fail,E0599
/// let forged = countersign_core::Final::new("done");
/// ```
/// ```compile_fail,E0277
/// fn blank<T: Default>() -> T {
///     T::default()
/// }
/// let forged: countersign_core::Final = blank();
/// ```
/// ```compile_fail,E0624
/// use countersign_core::{Gate, Ledger, ROOT};
/// fn rule(gate: &Gate, ledger: &Ledger) {
///     let (_, made) = gate.rule(ledger, ROOT, None);
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Final {
    // INVARIANT: made in `Gate::rule`, from a ruling that delivers, and nowhere else.
    text: Str,
    run: Str,
    candidate: NodeId,
    reason: Reason,
    at_seq: u32,
    log_digest: u64,
}

impl Final {
    /// The answer.
    pub fn text(&self) -> &Str {
        &self.text
    }

    /// The run whose answer it is.
    pub fn run(&self) -> &Str {
        &self.run
    }

    /// The candidate that became the answer.
    pub fn candidate(&self) -> NodeId {
        self.candidate
    }

    /// What it rests on.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The last event ruled on.
    pub fn at_seq(&self) -> u32 {
        self.at_seq
    }

    /// Digest of the log up to there, within one build.
    pub fn log_digest(&self) -> u64 {
        self.log_digest
    }
}

/// Built-in checks, and a user's own beside them. They can be added to, never removed.
pub struct Gate {
    checks: Vec<Box<dyn Check>>,
    names: Arc<[CheckName]>,
}

impl Default for Gate {
    fn default() -> Self {
        let checks = built_in();
        let names = checks.iter().map(|c| name_of(&**c)).collect();
        Self { checks, names }
    }
}

fn name_of(check: &dyn Check) -> CheckName {
    CheckName { name: check.name().into(), version: check.version() }
}

impl Gate {
    /// Adds a check of the user's own. A later one of the same name is asked as well.
    #[must_use]
    pub fn with(mut self, check: impl Check + 'static) -> Self {
        self.checks.push(Box::new(check));
        self.names = self.checks.iter().map(|c| name_of(&**c)).collect();
        self
    }

    /// Names and versions, as `run_started` records them.
    pub fn names(&self) -> &Arc<[CheckName]> {
        &self.names
    }

    /// Whether it has every one of these checks, in these versions.
    pub fn has_all(&self, checks: &Arc<[CheckName]>) -> bool {
        self.is_of(checks) || checks.iter().all(|c| self.names.contains(c))
    }

    /// Whether a run was begun with these very checks. One that this gate began shares their names with it.
    fn is_of(&self, checks: &Arc<[CheckName]>) -> bool {
        Arc::ptr_eq(checks, &self.names) || *checks == self.names
    }

    /// Rules on the run. Pure, total, and the same however often it is asked.
    pub fn decide(&self, ledger: &Ledger, candidate: Option<NodeId>) -> Decision {
        self.decide_in(ledger, ROOT, candidate)
    }

    /// Rules on a mode inside the run.
    pub fn decide_in(&self, ledger: &Ledger, scope: NodeId, candidate: Option<NodeId>) -> Decision {
        self.rule(ledger, scope, candidate).0
    }

    /// The ruling, and the final that it makes, if any.
    pub(crate) fn rule(&self, ledger: &Ledger, scope: NodeId, candidate: Option<NodeId>) -> (Decision, Option<Final>) {
        let made = candidate.and_then(|node| ledger.candidate(node).map(|c| (node, c)));
        let view = View { ledger, scope, candidate: made };
        let findings = self.findings(&view);
        let ground = ground(&view, &findings);
        let (status, reason, next) = verdict(ground, &view, &findings);
        let decision = write(&view, findings, status, reason, next);
        let text = decision.final_text.clone().filter(|_| scope == ROOT);
        let final_ = text.zip(candidate).map(|(text, candidate)| Final {
            text,
            run: decision.run_id.clone(),
            candidate,
            reason,
            at_seq: decision.at_seq,
            log_digest: ledger.totals().digest,
        });
        (decision, final_)
    }
}

/// What speaks for a ruling. In the order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ground {
    PolicyInfeasible,
    AlreadyFinal,
    UserCancelled,
    DeniedActionRan,
    AmbiguousIds,
    AwaitingApproval,
    AwaitingAnswer,
    UnknownOutcome,
    ResumeFailed,
    ContentFiltered,
    ErrorWithOpenCalls,
    ProviderErrorToRetry,
    ProviderError,
    ModeError,
    Failed,
    Timeout,
    TurnLimit,
    Budget,
    ReplanLimit,
    TransferLimit,
    Repeating,
    GuardStopped,
    BackgroundAborted,
    WrongProducer,
    Pending(Reason),
    Lacking(Reason),
    Clear,
}

/// The first ground that holds.
fn ground(view: &View<'_>, findings: &[Finding]) -> Ground {
    let has = |check: &str| findings.iter().any(|f| &*f.check == check);
    let totals = view.ledger.totals();
    let stop = totals.stop.filter(|_| view.is_root());
    let failed = matches!(stop, Some(Cause::ProviderError | Cause::Error));
    match () {
        () if has("policy_feasible") => Ground::PolicyInfeasible,
        () if view.is_root() && totals.ended == Some(Status::Completed) => Ground::AlreadyFinal,
        () if view.is_root() && (stop == Some(Cause::UserCancelled) || totals.cancel.is_some()) => Ground::UserCancelled,
        () if has("denials_respected") => Ground::DeniedActionRan,
        () if has("ids_unambiguous") && ambiguous_approval(view) => Ground::AmbiguousIds,
        () if has("approvals_settled") => Ground::AwaitingApproval,
        () if has("questions_answered") => Ground::AwaitingAnswer,
        () if has("ids_unambiguous") => Ground::AmbiguousIds,
        () if has("outcomes_known") => Ground::UnknownOutcome,
        () if view.is_root() && totals.resume_failed => Ground::ResumeFailed,
        () if filtered(view) => Ground::ContentFiltered,
        () if failed && has("tools_closed") => Ground::ErrorWithOpenCalls,
        () if stop == Some(Cause::ProviderError) && totals.provider_failures.max(1) <= view.policy().retries => Ground::ProviderErrorToRetry,
        () => stopped(view, stop).unwrap_or_else(|| lacking(view, findings)),
    }
}

/// The ground of a run that was stopped by a limit or an error.
fn stopped(view: &View<'_>, stop: Option<Cause>) -> Option<Ground> {
    let killed = view.ledger.totals().jobs_killed > 0 || !view.ledger.open().jobs.is_empty();
    match stop? {
        Cause::ProviderError => Some(Ground::ProviderError),
        Cause::ModeError => Some(Ground::ModeError),
        Cause::Error => Some(Ground::Failed),
        Cause::Timeout => Some(Ground::Timeout),
        Cause::TurnLimit => Some(Ground::TurnLimit),
        Cause::Budget => Some(Ground::Budget),
        Cause::ReplanLimit => Some(Ground::ReplanLimit),
        Cause::TransferLimit => Some(Ground::TransferLimit),
        Cause::Repeating => Some(Ground::Repeating),
        Cause::Guard => Some(Ground::GuardStopped),
        Cause::IdleExit => killed.then_some(Ground::BackgroundAborted),
        Cause::Natural | Cause::Pause | Cause::AwaitingHuman | Cause::UserCancelled => None,
    }
}

/// The ground of a run that was not stopped: what its candidate lacks, first things first.
fn lacking(view: &View<'_>, findings: &[Finding]) -> Ground {
    let has = |check: &str| findings.iter().any(|f| &*f.check == check);
    let form = view.candidate.map_or(Form::Text, |(_, made)| made.form);
    match () {
        () if has("candidate_owner") => Ground::WrongProducer,
        () if has("tools_closed") => Ground::Pending(Reason::PendingToolExecutions),
        () if has("background_done") => Ground::Pending(Reason::PendingBackground),
        () if has("sub_agents_done") => Ground::Pending(Reason::PendingSubAgents),
        () if has("transfers_returned") => Ground::Pending(Reason::PendingTransfers),
        () if has("plan_settled") => Ground::Lacking(Reason::PendingPlanSteps),
        () if has("candidate_whole") => Ground::Lacking(Reason::TruncatedResponse),
        () if has("candidate_text") => Ground::Lacking(match form {
            Form::ReasoningOnly => Reason::ReasoningOnly,
            Form::Placeholder => Reason::PlaceholderResponse,
            Form::Text | Form::CallMarkup => Reason::EmptyResponse,
        }),
        () if has("candidate_last") => Ground::Lacking(Reason::CandidateTooEarly),
        () if has("replies_reconciled") => Ground::Lacking(Reason::UnreconciledResults),
        () if has("conflicts_resolved") => Ground::Lacking(Reason::ConflictingResults),
        () if has("result_whole") => Ground::Lacking(Reason::TruncatedResult),
        () if has("checks_pass") => Ground::Lacking(Reason::CheckFailed),
        () if has("evidence_fresh") => Ground::Lacking(Reason::StaleEvidence),
        () if has("evidence_ok") => Ground::Lacking(Reason::MissingExecutionEvidence),
        () if has("governance_met") => Ground::Lacking(Reason::GovernanceIncomplete),
        () if findings.iter().any(|f| &*f.check != "guard_ok") => Ground::Lacking(Reason::CustomCheck),
        () if has("guard_ok") => Ground::Lacking(Reason::GuardRejected),
        () => Ground::Clear,
    }
}

/// What each ground means: status, reason, and what is done next.
fn verdict(ground: Ground, view: &View<'_>, findings: &[Finding]) -> (Status, Reason, Next) {
    use {Next as N, Reason as R, Status as S};
    let resumed = view.is_root() && view.ledger.totals().just_resumed;
    match ground {
        // Nothing that this run does could ever satisfy its policy.
        Ground::PolicyInfeasible => (S::Blocked, R::PolicyInfeasible, N::Stop),
        // One final per run; nothing overturns it, not even a late cancel.
        Ground::AlreadyFinal => (S::Completed, R::AlreadyFinal, N::None),
        // The user's word ends it, whatever else is true.
        Ground::UserCancelled => (S::Cancelled, R::UserCancelled, N::Stop),
        // A breach is for people to judge, before anything else goes on.
        Ground::DeniedActionRan => (S::Blocked, R::DeniedActionRan, N::AskHuman),
        // Two calls, one id: a grant or a result could land on the wrong one, so nothing runs.
        Ground::AmbiguousIds => (S::Blocked, R::AmbiguousIds, N::Stop),
        // A person is asked; nobody is nagged meanwhile.
        Ground::AwaitingApproval => (S::AwaitingApproval, R::AwaitingApproval, N::AskHuman),
        // The same, for a question.
        Ground::AwaitingAnswer => (S::AwaitingApproval, R::AwaitingAnswer, N::AskHuman),
        // It may or may not have happened: nobody repeats it on a guess.
        Ground::UnknownOutcome => (S::Blocked, R::UnknownOutcome, N::AskHuman),
        // The resume itself did not start: grants are kept, and it can be tried again.
        Ground::ResumeFailed => (S::Blocked, R::ResumeFailed, N::ResumeRun),
        // The provider took the answer away.
        Ground::ContentFiltered => (S::Failed, R::ContentFiltered, N::Stop),
        // An error over calls without results: the history cannot be sent again as it is.
        Ground::ErrorWithOpenCalls => (S::Blocked, R::PendingToolExecutions, N::Stop),
        // A provider error with retries left.
        Ground::ProviderErrorToRetry => (S::InProgress, R::ProviderError, N::ResumeRun),
        // A provider error for good; its text is no answer.
        Ground::ProviderError => (S::Failed, R::ProviderError, N::Stop),
        // The mode's code failed.
        Ground::ModeError => (S::Failed, R::ModeError, N::Stop),
        // Something else failed.
        Ground::Failed => (S::Failed, R::Failed, N::Stop),
        // A deadline is a failure, not a limit: the time is gone.
        Ground::Timeout => (S::Failed, R::Timeout, N::Stop),
        // Limits block: a person may resume with a higher one. They never look like an answer.
        Ground::TurnLimit => (S::Blocked, R::TurnLimit, N::Stop),
        Ground::Budget => (S::Blocked, R::BudgetExhausted, N::Stop),
        Ground::ReplanLimit => (S::Blocked, R::ReplanLimit, N::Stop),
        Ground::TransferLimit => (S::Blocked, R::TransferLimit, N::Stop),
        // The same call over and over: more of it changes nothing.
        Ground::Repeating => (S::Blocked, R::NoProgress, N::Stop),
        // A guard ended the run.
        Ground::GuardStopped => (S::Blocked, R::GuardUnsatisfied, N::Stop),
        // The process left and took background work with it.
        Ground::BackgroundAborted => (S::Blocked, R::BackgroundAborted, N::Stop),
        // Somebody else's words are evidence: the owner gets the turn once nobody else is at work.
        Ground::WrongProducer if others_run(view, findings) => (S::InProgress, R::WrongProducer, N::Wait),
        Ground::WrongProducer => (S::InProgress, R::WrongProducer, N::ReturnControl),
        // Work is under way: its own end will come; right after a resume it has to be taken up first.
        Ground::Pending(reason) if resumed => (S::InProgress, reason, N::ResumeRun),
        Ground::Pending(reason) if only_control_is_out(view, findings) => (S::InProgress, reason, N::ReturnControl),
        Ground::Pending(reason) => (S::InProgress, reason, N::Wait),
        // The agent can mend it: it is told what is missing, while the allowance lasts and it gets anywhere.
        Ground::Lacking(reason) if resumed => (S::InProgress, reason, N::ResumeRun),
        // By policy, what lacks only evidence goes out when the allowance is spent. Marked.
        Ground::Lacking(_) if spent(view) && deliverable_unverified(view, findings) => (S::Completed, R::Unverified, N::Deliver),
        Ground::Lacking(Reason::GuardRejected) if spent(view) => (S::Blocked, R::GuardUnsatisfied, N::Stop),
        Ground::Lacking(Reason::CustomCheck) if spent(view) => (S::Blocked, R::CustomCheck, N::Stop),
        Ground::Lacking(reason) if spent(view) => (S::Blocked, reason, N::Stop),
        Ground::Lacking(_) if no_progress(view, findings) => (S::Blocked, R::NoProgress, N::Stop),
        Ground::Lacking(Reason::MissingExecutionEvidence) if view.policy().on_missing_evidence == OnMissingEvidence::Continue => {
            (S::InProgress, R::MissingExecutionEvidence, N::Continue)
        }
        Ground::Lacking(reason) => (S::InProgress, reason, N::Nudge),
        // Nothing is missing.
        Ground::Clear => (S::Completed, completion(view), N::Deliver),
    }
}
