//! Which events are legal now. Decided before anything changes, so that a refusal leaves no trace.

use super::{Ledger, RunState, StepState};
use crate::decision::Decision;
use crate::event::{Disposed, Event, Outcome, StepOutcome, Via};
use crate::node::{NodeId, NodeKind, ROOT, Str};
use std::sync::Arc;

/// Why an event was refused. The ledger is as it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AppendError {
    /// Sequence numbers have no gaps and no repeats.
    #[error("event {got} cannot follow event {last}; read the log again from {last}")]
    Gap {
        /// The newest event.
        last: u32,
        /// The one offered.
        got: u32,
    },
    /// The first event of a run is `run_started`, and no other is.
    #[error("a log begins with `run_started`, and only there")]
    NotTheStart,
    /// The run has ended.
    #[error("the run has ended; only late results may still be recorded")]
    RunEnded,
    /// An event may name only nodes that earlier events made.
    #[error("no event made node {0}")]
    UnknownNode(NodeId),
    /// A node of another kind was named.
    #[error("node {node} is a {}, not a {}", is.name(), wanted.name())]
    WrongKind {
        /// The node.
        node: NodeId,
        /// What it is.
        is: NodeKind,
        /// What was needed.
        wanted: NodeKind,
    },
    /// It has its outcome already; what comes later is a `late_result`.
    #[error("node {0} is settled already; record what came as `late_result`")]
    AlreadySettled(NodeId),
    /// It is not in the state that this event ends.
    #[error("node {0} is not open for this event")]
    NotOpen(NodeId),
    /// Calls without a result stand in the way.
    #[error("activation {0} has calls without a result")]
    StillOpen(NodeId),
    /// A question under this key is being worked on.
    #[error("`{key}` is being worked on already")]
    KeyTaken {
        /// The key.
        key: Str,
    },
    /// The step was given up, or never was part of this plan.
    #[error("`{0}` is not a step of the plan in force")]
    NotInPlan(Str),
    /// Two steps of one plan share a name.
    #[error("`{0}` names two steps of one plan")]
    DuplicateStep(Str),
    /// A step was given up, blocked or disposed of without saying why.
    #[error("`{0}` needs a reason")]
    BlankReason(Str),
    /// No rule of the governance profile has this name.
    #[error("the governance profile has no rule `{0}`")]
    UnknownRule(Str),
    /// A message that does not wait, or for which another one waits.
    #[error("event {0} is not the message that waits to be read next")]
    NotQueued(u32),
    /// A decision that the gate would not make here and now.
    #[error("this decision is not the gate's: it says `{}`, the gate says `{}`", said.completion_reason.name(), rules.completion_reason.name())]
    ForgedDecision {
        /// The one offered.
        said: Arc<Decision>,
        /// The gate's.
        rules: Arc<Decision>,
    },
}

use AppendError::{
    AlreadySettled, BlankReason, DuplicateStep, KeyTaken, NotInPlan, NotOpen, NotQueued, NotTheStart, RunEnded, StillOpen, UnknownNode, UnknownRule,
};

impl Ledger {
    /// Whether this event may come next.
    pub(super) fn admit(&self, event: &Event) -> Result<(), AppendError> {
        if self.log.is_empty() != matches!(event, Event::RunStarted(_)) {
            return Err(NotTheStart);
        }
        if self.has_ended() && !matches!(event, Event::LateResult { .. } | Event::Decided { .. } | Event::Crashed) {
            return Err(RunEnded);
        }
        match event {
            Event::RunStarted(_)
            | Event::InputQueued { .. }
            | Event::Edited { .. }
            | Event::CancelRequested { .. }
            | Event::Stopped { .. }
            | Event::Crashed
            | Event::Resumed { .. } => Ok(()),
            Event::ActivationStarted { parent, key, via, rests_on, .. } => self.admit_activation(*parent, key, *via, rests_on),
            Event::ModelReplied { activation, calls, .. } => {
                self.admit_turn(*activation)?;
                let known = |node: Option<NodeId>| node.map_or(Ok(()), |n| self.known(n));
                calls.iter().try_for_each(|c| known(c.step).and_then(|()| known(c.reads)))
            }
            Event::ModelFailed { activation, .. } => self.admit_turn(*activation),
            Event::ApprovalRequested { on } => match self.kind(*on)? {
                NodeKind::Step => self.live_step(*on),
                _ => self.in_state(*on, &[RunState::Requested]),
            },
            Event::ApprovalSettled { approval, .. } => {
                let approval = self.approval(*approval).ok_or_else(|| self.wrong(*approval, NodeKind::Approval))?;
                if approval.granted.is_some() { Err(AlreadySettled(approval.id)) } else { Ok(()) }
            }
            Event::QuestionAsked { activation, call, .. } => {
                self.activation(*activation).ok_or_else(|| self.wrong(*activation, NodeKind::Activation))?;
                call.map_or(Ok(()), |c| self.in_state(c, &[RunState::Requested]))
            }
            Event::QuestionAnswered { question, .. } => {
                let question = self.question(*question).ok_or_else(|| self.wrong(*question, NodeKind::Question))?;
                if question.answered { Err(AlreadySettled(question.id)) } else { Ok(()) }
            }
            Event::ToolStarted { call } => self.in_state(*call, &[RunState::Requested]),
            Event::Retried { call, .. } => self.in_state(*call, &[RunState::Lost]),
            Event::ToolSettled { call, cut, .. } => {
                let run = self.tool_run(*call).ok_or_else(|| self.wrong(*call, NodeKind::ToolRun))?;
                if let Some(of) = cut.as_ref().and_then(|c| c.of) {
                    self.known(of)?;
                }
                if matches!(run.state, RunState::Settled(_)) { Err(AlreadySettled(*call)) } else { Ok(()) }
            }
            Event::LateResult { call, .. } => {
                let run = self.tool_run(*call).ok_or_else(|| self.wrong(*call, NodeKind::ToolRun))?;
                if matches!(run.state, RunState::Settled(_)) || self.has_ended() { Ok(()) } else { Err(NotOpen(*call)) }
            }
            Event::BackgroundStarted { activation, call, .. } => {
                self.activation(*activation).ok_or_else(|| self.wrong(*activation, NodeKind::Activation))?;
                match call.map(|c| self.tool_run(c).ok_or_else(|| self.wrong(c, NodeKind::ToolRun))).transpose()? {
                    Some(run) if run.job.is_some() => Err(AlreadySettled(run.id)),
                    _ => Ok(()),
                }
            }
            Event::BackgroundEnded { job, .. } => {
                let job = self.job(*job).ok_or_else(|| self.wrong(*job, NodeKind::Job))?;
                // Of a lost one somebody may still find out what became of it.
                if job.outcome.is_some_and(|o| o != Outcome::Lost) { Err(AlreadySettled(job.id)) } else { Ok(()) }
            }
            Event::Returned { call, result } => {
                let run = self.tool_run(*call).ok_or_else(|| self.wrong(*call, NodeKind::Transfer))?;
                let result = self.result(*result).ok_or_else(|| self.wrong(*result, NodeKind::Result))?;
                match run.state {
                    RunState::Settled(_) => Err(AlreadySettled(*call)),
                    _ if run.child != Some(result.activation) => Err(NotOpen(result.id)),
                    _ => Ok(()),
                }
            }
            Event::PlanMade { scope, by, steps, dropped, .. } => {
                self.known(*by)?;
                self.admit_plan(*scope, steps, dropped)
            }
            Event::StepSettled { step, outcome, why } => {
                self.live_step(*step)?;
                let state = self.step(*step).map(|s| s.state);
                if *outcome == StepOutcome::Blocked && why.trim().is_empty() {
                    return Err(BlankReason(self.reference(*step).to_string().into()));
                }
                if matches!(state, Some(StepState::Open | StepState::CutOff)) { Ok(()) } else { Err(AlreadySettled(*step)) }
            }
            Event::StepReopened { step, .. } => {
                self.live_step(*step)?;
                let open = self.step(*step).is_some_and(|s| s.state == StepState::Open);
                if open { Err(NotOpen(*step)) } else { Ok(()) }
            }
            Event::Reconciled { by, dispositions, .. } => {
                self.known(*by)?;
                dispositions.iter().try_for_each(|d| {
                    self.result(d.result).ok_or_else(|| self.wrong(d.result, NodeKind::Result))?;
                    let silent = d.disposition != Disposed::Adopted && d.why.trim().is_empty();
                    if silent { Err(BlankReason(self.reference(d.result).to_string().into())) } else { Ok(()) }
                })
            }
            Event::ActivationEnded { activation, outcome, .. } => {
                let act = self.activation(*activation).ok_or_else(|| self.wrong(*activation, NodeKind::Activation))?;
                match () {
                    () if !act.open => Err(AlreadySettled(*activation)),
                    // Nobody can wait for the calls of somebody who is gone.
                    () if act.open_calls > 0 && *outcome != Outcome::Lost => Err(StillOpen(*activation)),
                    () => Ok(()),
                }
            }
            Event::CandidateMade(c) => {
                self.activation(c.scope).ok_or_else(|| self.wrong(c.scope, NodeKind::Activation))?;
                self.activation(c.by).ok_or_else(|| self.wrong(c.by, NodeKind::Activation))?;
                c.from.iter().chain(&c.rests_on).try_for_each(|n| self.known(*n))?;
                c.uses.iter().try_for_each(|n| self.result(*n).map(drop).ok_or_else(|| self.wrong(*n, NodeKind::Result)))
            }
            Event::GuardSpoke { candidate, .. } => self.candidate(*candidate).map(drop).ok_or_else(|| self.wrong(*candidate, NodeKind::Candidate)),
            Event::Decided { scope, candidate, .. } => {
                self.activation(*scope).ok_or_else(|| self.wrong(*scope, NodeKind::Activation))?;
                candidate.map_or(Ok(()), |c| self.candidate(c).map(drop).ok_or_else(|| self.wrong(c, NodeKind::Candidate)))
            }
            Event::Nudged { activation, .. } | Event::Continued { activation } => {
                self.activation(*activation).map(drop).ok_or_else(|| self.wrong(*activation, NodeKind::Activation))
            }
            Event::InputArrived { activation, queued, .. } => {
                self.activation(*activation).ok_or_else(|| self.wrong(*activation, NodeKind::Activation))?;
                match queued {
                    Some(seq) if self.queued.first() != Some(seq) => Err(NotQueued(*seq)),
                    _ => Ok(()),
                }
            }
            Event::Attested { by, rule, refs, .. } => {
                refs.iter().chain([by]).try_for_each(|n| self.known(*n))?;
                let has = self.policy().governance.as_ref().is_some_and(|g| g.rules.iter().any(|r| r.id == *rule));
                if has { Ok(()) } else { Err(UnknownRule(rule.clone())) }
            }
            Event::Note { rests_on, .. } => rests_on.iter().try_for_each(|n| self.known(*n)),
        }
    }

    /// The newest event that may change how the run stands: a late result changes nothing.
    pub fn newest(&self) -> Option<&Event> {
        self.log.iter().rev().map(|record| &record.event).find(|event| !matches!(event, Event::LateResult { .. }))
    }

    /// Whether nothing but late results may follow.
    pub fn has_ended(&self) -> bool {
        self.totals.ended.is_some() || self.totals.stop == Some(crate::event::Cause::UserCancelled)
    }

    fn known(&self, node: NodeId) -> Result<(), AppendError> {
        self.kind(node).map(drop)
    }

    fn kind(&self, node: NodeId) -> Result<NodeKind, AppendError> {
        self.data(node).map(|d| d.kind).ok_or(UnknownNode(node))
    }

    fn wrong(&self, node: NodeId, wanted: NodeKind) -> AppendError {
        match self.data(node) {
            Some(data) => AppendError::WrongKind { node, is: data.kind, wanted },
            None => UnknownNode(node),
        }
    }

    fn in_state(&self, call: NodeId, states: &[RunState]) -> Result<(), AppendError> {
        let run = self.tool_run(call).ok_or_else(|| self.wrong(call, NodeKind::ToolRun))?;
        match run.state {
            state if states.contains(&state) => Ok(()),
            RunState::Settled(_) => Err(AlreadySettled(call)),
            _ => Err(NotOpen(call)),
        }
    }

    fn admit_activation(&self, parent: NodeId, key: &Str, via: Via, rests_on: &[NodeId]) -> Result<(), AppendError> {
        self.activation(parent).ok_or_else(|| self.wrong(parent, NodeKind::Activation))?;
        rests_on.iter().try_for_each(|n| self.known(*n))?;
        if self.asked(parent, key).is_some_and(|a| a.open) {
            return Err(KeyTaken { key: key.clone() });
        }
        match via {
            Via::Asked | Via::Child | Via::Observed => Ok(()),
            Via::Step(step) => self.live_step(step),
            Via::Call(call) => self.in_state(call, &[RunState::Requested, RunState::Running]),
        }
    }

    /// A turn of an agent: it is open, and every call of its last turn has a result. What was only
    /// observed is recorded as it was.
    fn admit_turn(&self, activation: NodeId) -> Result<(), AppendError> {
        let act = self.activation(activation).ok_or_else(|| self.wrong(activation, NodeKind::Activation))?;
        match () {
            () if !act.open => Err(NotOpen(activation)),
            () if act.open_calls > 0 && act.via != Via::Observed => Err(StillOpen(activation)),
            () => Ok(()),
        }
    }

    fn live_step(&self, node: NodeId) -> Result<(), AppendError> {
        let step = self.step(node).ok_or_else(|| self.wrong(node, NodeKind::Step))?;
        if step.state == StepState::Dropped {
            return Err(NotInPlan(self.step_spec(step).map_or_else(|| "".into(), |s| s.id.clone())));
        }
        Ok(())
    }

    fn admit_plan(&self, scope: NodeId, steps: &[crate::event::StepSpec], dropped: &[(Str, Str)]) -> Result<(), AppendError> {
        self.activation(scope).ok_or_else(|| self.wrong(scope, NodeKind::Activation))?;
        for (id, why) in dropped {
            self.live_step_named(scope, id).ok_or_else(|| NotInPlan(id.clone()))?;
            if why.trim().is_empty() {
                return Err(BlankReason(id.clone()));
            }
        }
        let gone = |id: &Str| dropped.iter().any(|(d, _)| d == id);
        let mut seen: rustc_hash::FxHashSet<&Str> = rustc_hash::FxHashSet::default();
        for step in steps {
            let kept = self.live_step_named(scope, &step.id).is_some() && !gone(&step.id);
            if kept || !seen.insert(&step.id) {
                return Err(DuplicateStep(step.id.clone()));
            }
        }
        let mut needs = steps.iter().flat_map(|s| &s.needs);
        match needs.find(|need| !seen.contains(*need) && self.live_step_named(scope, need).is_none()) {
            Some(need) => Err(NotInPlan(need.clone())),
            None => Ok(()),
        }
    }

    /// A step of the plan in force, by its name.
    pub fn live_step_named(&self, scope: NodeId, id: &str) -> Option<NodeId> {
        let plan = self.current_plan(scope)?;
        let named =
            |n: &&NodeId| self.step(**n).is_some_and(|s| s.state != StepState::Dropped && self.step_spec(s).is_some_and(|spec| *spec.id == *id));
        plan.steps.iter().rev().find(named).copied()
    }

    /// The scope whose rules cover an activation: itself where it is a mode, else the nearest mode above.
    pub fn scope_of(&self, mut node: NodeId) -> NodeId {
        loop {
            match self.activation(node) {
                Some(act) if act.is_mode() => return node,
                Some(act) => match act.parent {
                    Some(parent) => node = parent,
                    None => return ROOT,
                },
                None => return ROOT,
            }
        }
    }
}
