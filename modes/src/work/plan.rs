//! Plans: recorded once per key, and seen as of their version.

use super::reads::Read;
use super::{Flow, Found, Halt, Reply, Work};
use crate::closing::misfits;
use countersign_core::ledger::{PlanVersion, StepState};
use countersign_core::{Cause, Event, NodeId, Outcome, StepOutcome, StepSpec, Str, Via};
use rustc_hash::FxHashSet;
use std::fmt::Display;

/// One version of a plan.
pub struct PlanView<'a> {
    /// Its node.
    pub id: NodeId,
    /// Its steps, old ones first.
    pub steps: Vec<StepView<'a>>,
}

/// One step, as of a version of its plan.
#[derive(Clone)]
pub struct StepView<'a> {
    /// Its node.
    pub id: NodeId,
    /// The version.
    pub plan: NodeId,
    /// What it is.
    pub spec: &'a StepSpec,
    /// Whether everything that it needs is done, and it is not blocked.
    pub ready: bool,
    /// What came of it: in this version, or in an earlier one where it was done.
    pub reply: Option<Reply<'a>>,
}

impl<'a> Work<'a> {
    /// Records a plan, or a revision, once per key, and returns it as of that version: whatever later versions
    /// learned does not change what was asked under this one.
    pub fn plan(&mut self, key: impl Display, by: Reply<'a>, steps: Vec<StepSpec>, dropped: Vec<(Str, Str)>) -> Flow<PlanView<'a>> {
        let key: Str = format!("{}{key}", self.prefix).into();
        let ledger = self.ledger;
        if let Some(version) = ledger.plan(self.scope, &key) {
            return Ok(self.view(version));
        }
        let limits = ledger.limits();
        // A revision that did not fit was one, too.
        let failed = misfits(ledger, |by| ledger.activation(by).is_some_and(|a| a.parent == Some(self.scope)));
        if ledger.totals().plans.saturating_add(failed) > limits.replans {
            return Err(self.stop(Cause::ReplanLimit, format!("the plan was revised {} times", limits.replans)));
        }
        if steps.len() > limits.plan_steps as usize {
            return Err(self.stop(Cause::Budget, format!("the plan has {} steps; {} are allowed", steps.len(), limits.plan_steps)));
        }
        self.pass.waiting = true;
        self.pass.events.push(Event::PlanMade { scope: self.scope, key, by: by.result, steps, dropped });
        Err(Halt(()))
    }

    /// Asks an agent to carry out a step. Its result settles the step: completed is done, anything else is not.
    pub fn step(&mut self, step: &StepView<'a>, agent: &str, prompt: impl Into<Str>) -> Flow<Reply<'a>> {
        let key = step_key(step.id, step.plan);
        match self.recorded(&key)? {
            Found::Next(asked) => self.read(asked),
            Found::Apart(asked) => self.read_apart(asked),
            Found::New(name) => self.begin(agent, name, prompt.into(), Via::Step(step.id)),
        }
    }

    /// Notes that a step cannot be done, for a reason.
    pub fn block(&mut self, id: &str, why: &str) -> Flow<()> {
        let Some(step) = self.ledger.live_step_named(self.scope, id) else { return Ok(()) };
        if self.ledger.open().steps.contains(step) {
            self.pass.events.push(Event::StepSettled { step, outcome: StepOutcome::Blocked, why: why.into() });
        }
        Ok(())
    }

    fn view(&mut self, version: &'a PlanVersion) -> PlanView<'a> {
        let replies: Vec<Option<Reply<'a>>> = version.steps.iter().map(|step| self.reply_of(*step, version)).collect();
        let done: FxHashSet<&Str> = version
            .steps
            .iter()
            .zip(&replies)
            .filter(|(_, r)| r.is_some_and(Reply::ok))
            .filter_map(|(step, _)| self.spec(*step))
            .map(|s| &s.id)
            .collect();
        let blocked = |step: NodeId| self.ledger.step(step).is_some_and(|s| matches!(s.state, StepState::Blocked | StepState::Dropped));
        let steps = version.steps.iter().zip(&replies).filter_map(|(step, reply)| {
            let spec = self.spec(*step)?;
            let ready = !blocked(*step) && spec.needs.iter().all(|need| done.contains(need));
            Some(StepView { id: *step, plan: version.id, spec, ready, reply: *reply })
        });
        let steps = steps.collect();
        for reply in replies.into_iter().flatten() {
            let seq = self.ledger.result(reply.result).map_or(0, |r| r.seq);
            let asked = self.ledger.activation(reply.by()).map_or(0, |a| a.started_seq);
            self.pass.reads.add(Read { result: reply.result, seq, asked });
        }
        PlanView { id: version.id, steps }
    }

    /// What came of a step as of a version: the try of that version, or the earlier one that did it.
    fn reply_of(&self, step: NodeId, version: &PlanVersion) -> Option<Reply<'a>> {
        let ledger = self.ledger;
        let made = ledger.data(version.id).map_or(0, |d| d.seq);
        let key: Str = format!("{}{}", self.prefix, step_key(step, version.id)).into();
        let ended = |result: NodeId, before: u32| ledger.result(result).filter(|r| r.seq < before);
        if let Some(tried) = ledger.asked(self.scope, &key) {
            return tried.result.filter(|_| !tried.open).and_then(|r| ended(r, version.until)).map(|r| Reply { ledger, result: r.id });
        }
        let earlier = ledger.step(step)?.activation.and_then(|a| ledger.activation(a))?;
        let done = earlier.result.and_then(|r| ended(r, made)).filter(|r| r.outcome == Outcome::Completed)?;
        Some(Reply { ledger, result: done.id })
    }

    fn spec(&self, step: NodeId) -> Option<&'a StepSpec> {
        self.ledger.step(step).and_then(|s| self.ledger.step_spec(s))
    }
}

fn step_key(step: NodeId, plan: NodeId) -> String {
    format!("step/{step}@{plan}")
}
