//! Work outside the turn, hand-overs that come back, and plans.

use crate::event::{Outcome, Record, StepSpec};
use crate::ledger::{Job, Ledger, PlanVersion, RunState, Step, StepState};
use crate::node::{NodeId, NodeKind, ROOT, Str};
use std::sync::Arc;

impl Ledger {
    pub(super) fn background_started(&mut self, activation: NodeId, call: Option<NodeId>, record: &Arc<Record>) {
        let rests = call.unwrap_or(activation);
        let id = self.node(NodeKind::Job, self.jobs.len(), &[rests]);
        self.jobs.push(Job { id, activation, call, outcome: None });
        self.open.jobs.add(id);
        let Some(run) = call.and_then(|c| self.run_mut(c)) else { return };
        run.job = Some(id);
        let (call, state, declared) = (run.id, run.state, run.declared);
        match state {
            RunState::Settled(Outcome::Completed) => {
                // What was taken for its result was a receipt.
                self.totals.evidence -= u32::from(declared.evidence);
                self.set_run(call, RunState::Background);
            }
            RunState::Settled(_) => {}
            _ if declared.background => {
                self.set_run(call, RunState::Background);
                self.open.tools.remove(call);
                self.label_closed(call);
                if let Some(act) = self.act_mut(activation) {
                    act.call_shown();
                    act.show(call, call, record);
                }
            }
            _ => self.set_run(call, RunState::Running),
        }
    }

    pub(super) fn background_ended(&mut self, job: NodeId, outcome: Outcome, record: &Arc<Record>) {
        self.open.jobs.remove(job);
        if matches!(outcome, Outcome::Cancelled | Outcome::Lost) {
            // Nothing came of it that anybody could have read.
            self.totals.jobs_killed += 1;
        } else {
            self.totals.last_settled = record.seq;
        }
        let slot = self.slot(job, NodeKind::Job);
        let Some(state) = slot.and_then(|s| self.jobs.get_mut(s)) else { return };
        let was_lost = state.outcome.replace(outcome) == Some(Outcome::Lost);
        let (activation, call) = (state.activation, state.call);
        self.totals.jobs_killed -= u32::from(was_lost);
        if let Some(run) = call.and_then(|c| self.tool_run(c))
            && matches!(run.state, RunState::Background | RunState::Running | RunState::Lost)
        {
            let (call, declared, reply_seq) = (run.id, run.declared, run.reply_seq);
            let shown = run.state == RunState::Background || was_lost && declared.background;
            if !shown {
                self.settle(call, outcome, job);
            }
            if outcome == Outcome::Lost && declared.effect.changes() {
                // Nobody knows whether it happened: it is not settled until somebody says so.
                self.set_run(call, RunState::Lost);
                self.open.lost.add(call);
            } else {
                self.open.lost.remove(call);
                self.set_run(call, RunState::Settled(outcome));
            }
            self.judge(call, outcome, declared.effect, reply_seq, record.seq);
        }
        if let Some(act) = self.act_mut(activation) {
            act.learn(call.unwrap_or(job));
        }
        self.reopen(activation);
        self.say(activation, call.unwrap_or(job), call.unwrap_or(job), record);
    }

    /// A lost call is asked for again; a lost job goes on, whether or not whoever began it is still at work.
    pub(super) fn retried(&mut self, call: NodeId) {
        self.open.lost.remove(call);
        let job = self.tool_run(call).and_then(|run| run.job);
        self.set_run(call, if job.is_some() { RunState::Background } else { RunState::Requested });
        let Some(job) = job else { return };
        let slot = self.slot(job, NodeKind::Job);
        if let Some(state) = slot.and_then(|s| self.jobs.get_mut(s)) {
            state.outcome = None;
            self.open.jobs.add(job);
            self.totals.jobs_killed -= 1;
        }
    }

    pub(super) fn returned(&mut self, call: NodeId, result: NodeId) {
        let Some(state) = self.result(result) else { return };
        let (outcome, seq) = (state.outcome, state.seq);
        let Some(end) = self.record(seq).cloned() else { return };
        // The next reply rests on the result itself: an edge from the older call would point forward.
        self.settle(call, outcome, result);
        let activation = self.tool_run(call).map_or(ROOT, |r| r.activation);
        self.say(activation, result, call, &end);
    }

    pub(super) fn plan_made(&mut self, scope: NodeId, key: &Str, by: NodeId, steps: &[StepSpec], dropped: &[(Str, Str)]) {
        let seq = self.seq() + 1;
        for (id, _) in dropped {
            if let Some(step) = self.live_step_named(scope, id) {
                self.set_step(step, StepState::Dropped);
            }
        }
        let plan = self.node(NodeKind::Plan, 0, &[by]);
        let mut alive = Vec::new();
        if let Some(old) = self.current_plan.get(&scope).cloned()
            && let Some(old) = self.plans.get_mut(&(scope, old))
        {
            old.until = seq;
            alive.clone_from(&old.steps);
        }
        alive.retain(|n| self.step(*n).is_some_and(|s| s.state != StepState::Dropped));
        for index in 0..steps.len() {
            let id = self.node(NodeKind::Step, self.steps.len(), &[plan]);
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.steps.push(Step { id, scope, seq, index, state: StepState::Open, denied: false, activation: None });
            self.open.steps.add(id);
            alive.push(id);
        }
        self.current_plan.insert(scope, key.clone());
        self.plans.insert((scope, key.clone()), PlanVersion { id: plan, steps: alive, until: u32::MAX });
        self.totals.plans += 1;
    }

    pub(super) fn set_step(&mut self, id: NodeId, state: StepState) {
        if let Some(step) = self.step_mut(id) {
            step.state = state;
        }
        match state {
            StepState::Open | StepState::CutOff => self.open.steps.add(id),
            StepState::Done | StepState::Blocked | StepState::Dropped => self.open.steps.remove(id),
        }
        if state == StepState::Blocked {
            self.open.blocked.add(id);
        } else {
            self.open.blocked.remove(id);
        }
    }
}
