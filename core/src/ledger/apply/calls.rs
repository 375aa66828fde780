//! Calls: what is asked for, what comes of it, and what that means.

use super::trimmed;
use crate::event::{Call, CallKind, Cut, Effect, Event, Outcome, Record, Via};
use crate::ledger::{Approval, Ledger, RunState, ToolRun, target};
use crate::node::{NodeId, NodeKind, ROOT, Str};
use crate::policy::Reconciliation;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

impl Ledger {
    pub(super) fn replied(&mut self, record: &Arc<Record>) {
        let Event::ModelReplied { activation, saw, calls, extra, .. } = &record.event else { return };
        let mut rests = std::mem::take(&mut self.scratch);
        rests.clear();
        let Some(act) = self.act_mut(*activation) else { return };
        act.fresh.retain(|(node, at)| {
            let seen = at < saw;
            if seen {
                rests.push(*node);
            }
            !seen
        });
        rests.push(act.last_reply.unwrap_or(*activation));
        let (observed, step) = (act.via == Via::Observed, act.via.step());
        if !self.open.unreconciled.is_empty() && self.reconciliation(self.scope_of(*activation)) == Reconciliation::Delivered {
            rests.iter().for_each(|node| self.open.unreconciled.remove(*node));
        }
        let reply = self.node(NodeKind::Reply, 0, &rests);
        self.scratch = rests;
        for (index, call) in (0..).zip(calls) {
            let id = self.node(node_kind(call.declared.kind), self.runs.len(), &[reply]);
            self.runs.push(ToolRun {
                id,
                activation: *activation,
                reply_seq: record.seq,
                index,
                declared: call.declared,
                state: RunState::Requested,
                observed,
                granted: false,
                approval: None,
                child: None,
                job: None,
                step: call.step.or(step),
            });
            self.called(id, call);
        }
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        if let Some(act) = self.act_mut(*activation) {
            let late = act.transcript.len() > *saw as usize;
            act.last_reply = Some(reply);
            act.calls = reply.0 + 1..reply.0 + 1 + count;
            act.open_calls = if observed { act.open_calls + count } else { count };
            act.turns += 1;
            act.due = late && calls.is_empty();
            act.show(reply, reply, record);
            if std::mem::take(&mut act.failures) > 0 {
                self.totals.provider_failures = 0;
            }
        }
        self.totals.turns += 1;
        self.totals.tool_calls += count;
        if let Some(usage) = extra.as_ref().and_then(|e| e.usage) {
            self.totals.usage.input_tokens += usage.input_tokens;
            self.totals.usage.output_tokens += usage.output_tokens;
            self.totals.usage.cost_micros += usage.cost_micros;
        }
    }

    /// A call is open from here on.
    fn called(&mut self, id: NodeId, call: &Call) {
        if call.declared.kind == CallKind::Transfer {
            self.transfer_asked(id, &call.name, &call.args);
        } else {
            self.open.tools.add(id);
        }
        if let Some(label) = call.label.as_ref().filter(|l| !l.trim().is_empty()) {
            self.label_opened(label);
        }
    }

    pub(super) fn transfer_asked(&mut self, id: NodeId, name: &Str, args: &Str) {
        self.open.transfers.add(id);
        self.totals.transfers += 1;
        let mut hasher = FxHasher::default();
        (target(name), args).hash(&mut hasher);
        let hash = hasher.finish();
        let (last, times) = self.totals.same_transfers;
        self.totals.same_transfers = (hash, if last == hash { times + 1 } else { 1 });
        if self.policy().terminal_transfers && self.tool_run(id).is_some_and(|r| r.declared.terminal) {
            self.terminal_transfer = Some(id);
            self.open.transfers.remove(id);
        }
    }

    pub(super) fn label_opened(&mut self, label: &Str) {
        let count = self.open_labels.entry(trimmed(label)).or_insert(0);
        *count += 1;
        self.totals.ambiguous += u32::from(*count > 1);
    }

    pub(super) fn label_closed(&mut self, call: NodeId) {
        if self.open_labels.is_empty() {
            return;
        }
        let label = self.tool_run(call).and_then(|r| self.call(r)).and_then(|c| c.label.as_ref()).map(trimmed);
        let Some(label) = label else { return };
        if let Some(count) = self.open_labels.get_mut(&label) {
            *count -= 1;
            self.totals.ambiguous -= u32::from(*count > 0);
            if *count == 0 {
                self.open_labels.remove(&label);
            }
        }
    }

    pub(super) fn approval_requested(&mut self, on: NodeId) {
        let id = self.node(NodeKind::Approval, self.approvals.len(), &[on]);
        self.approvals.push(Approval { id, on, granted: None, edited: None });
        self.open.approvals.add(id);
        if let Some(run) = self.run_mut(on) {
            run.state = RunState::AwaitingApproval;
            run.approval = Some(id);
        }
    }

    pub(super) fn approval_settled(&mut self, approval: NodeId, granted: bool, edited: bool, record: &Arc<Record>) {
        self.open.approvals.remove(approval);
        let slot = self.slot(approval, NodeKind::Approval);
        let Some(state) = slot.and_then(|s| self.approvals.get_mut(s)) else { return };
        state.granted = Some(granted);
        state.edited = edited.then_some(record.seq);
        let on = state.on;
        if let Some(step) = self.step_mut(on) {
            step.denied = !granted;
            self.denied_steps += u32::from(!granted);
        }
        let Some(run) = self.run_mut(on) else { return };
        match run.state {
            RunState::AwaitingApproval if granted => {
                run.granted = true;
                run.state = RunState::Requested;
            }
            RunState::AwaitingApproval => {
                self.settle(on, Outcome::Rejected, on);
                let activation = self.tool_run(on).map_or(ROOT, |r| r.activation);
                self.say(activation, on, on, record);
            }
            RunState::Settled(Outcome::Completed) if !granted && run.declared.effect.changes() => self.open.breaches.add(on),
            _ => {}
        }
    }

    pub(super) fn answered(&mut self, question: NodeId, record: &Arc<Record>) {
        self.open.questions.remove(question);
        let slot = self.slot(question, NodeKind::Question);
        let Some(state) = slot.and_then(|s| self.questions.get_mut(s)) else { return };
        state.answered = true;
        let (call, activation) = (state.call, state.activation);
        match call {
            Some(call) => {
                self.settle(call, Outcome::Completed, question);
                self.say(activation, call, call, record);
            }
            None => self.tell(activation, record),
        }
    }

    pub(super) fn tool_settled(&mut self, call: NodeId, outcome: Outcome, cut: Option<&Cut>, record: &Arc<Record>) {
        let Some(run) = self.tool_run(call) else { return };
        let (activation, job_open) = (run.activation, run.job.is_some_and(|j| self.open.jobs.contains(j)));
        let (declared, reply_seq) = (run.declared, run.reply_seq);
        if outcome == Outcome::Lost && !declared.idempotent && run.job.is_none() {
            // Nobody knows whether it happened: it is not settled until somebody says so.
            self.set_run(call, RunState::Lost);
            self.open.lost.add(call);
            return;
        }
        if declared.kind == CallKind::Run {
            self.totals.last_settled = record.seq;
        }
        let copied = cut.filter(|c| !c.marked).and_then(|c| c.of);
        if let Some(of) = copied.filter(|of| self.result(*of).is_none_or(|r| !r.superseded)) {
            self.open.cut.add(of);
        }
        if job_open && outcome == Outcome::Completed {
            // A launch receipt: the model has its result, the work has not ended.
            if let Some(run) = self.run_mut(call) {
                run.state = RunState::Background;
            }
            self.open.tools.remove(call);
            if let Some(act) = self.act_mut(activation) {
                act.call_shown();
            }
            self.label_closed(call);
        } else {
            self.settle(call, outcome, call);
            self.judge(call, outcome, declared.effect, reply_seq, record.seq);
        }
        let signature = self.signature(call, record);
        if let Some(act) = self.act_mut(activation) {
            act.repeated(signature);
            act.show(call, call, record);
        }
    }

    /// What a settled run means for checks, freshness, failures and denials.
    pub(super) fn judge(&mut self, call: NodeId, outcome: Outcome, effect: Effect, reply_seq: u32, seq: u32) {
        let good = outcome == Outcome::Completed;
        let Some(run) = self.tool_run(call) else { return };
        let (declared, child, step) = (run.declared, run.child, run.step);
        let denied = run.approval.and_then(|a| self.approval(a)).is_some_and(|a| a.granted == Some(false));
        self.totals.evidence += u32::from(good && declared.evidence && child.is_none());
        if effect == Effect::Check && matches!(outcome, Outcome::Completed | Outcome::Failed | Outcome::TimedOut | Outcome::Cancelled) {
            self.totals.last_check = Some((call, good));
            if good {
                self.totals.good_check = Some((reply_seq, seq));
            }
        }
        if effect.changes() && good {
            if !declared.scratch {
                self.totals.write_settled = seq;
            }
            if denied || self.denied_steps > 0 && step.is_some_and(|s| self.rests_on_denied(s)) {
                self.open.breaches.add(call);
            }
        }
        if effect != Effect::Control && declared.kind == CallKind::Run {
            self.remember_failure(call, outcome);
        }
        if good && !self.open.cut.is_empty() {
            let reads = self.tool_run(call).and_then(|r| self.call(r)).and_then(|c| c.reads);
            if let Some(read) = reads {
                self.open.cut.remove(read);
            }
        }
    }

    pub(super) fn remember_failure(&mut self, call: NodeId, outcome: Outcome) {
        let failed = matches!(outcome, Outcome::Failed | Outcome::TimedOut | Outcome::Cancelled | Outcome::Lost);
        if !failed && self.failures.is_empty() {
            return;
        }
        let Some(name) = self.tool_run(call).and_then(|r| self.call(r)).map(|c| c.name.clone()) else { return };
        if failed {
            let slot = self.call_slot(call).unwrap_or(usize::MAX);
            let later = self.runs.get(slot..).unwrap_or_default().iter().skip(1);
            let made_good = later.filter(|r| r.state == RunState::Settled(Outcome::Completed)).any(|r| self.call(r).is_some_and(|c| c.name == name));
            if !made_good {
                self.failures.entry(name).or_default().push(call);
            }
        } else if outcome == Outcome::Completed
            && let Some(failed) = self.failures.get_mut(&name)
        {
            failed.retain(|f| *f > call);
            if failed.is_empty() {
                self.failures.remove(&name);
            }
        }
    }

    /// Whether a step, or one that it needs, was denied.
    pub(super) fn rests_on_denied(&self, step: NodeId) -> bool {
        let mut todo = vec![step];
        let mut seen: rustc_hash::FxHashSet<NodeId> = rustc_hash::FxHashSet::default();
        while let Some(node) = todo.pop() {
            let Some(step) = self.step(node).filter(|_| seen.insert(node)) else { continue };
            if step.denied {
                return true;
            }
            let named = |id: &Str| self.steps.iter().rev().find(|s| s.scope == step.scope && self.step_spec(s).is_some_and(|spec| spec.id == *id));
            todo.extend(self.step_spec(step).into_iter().flat_map(|spec| &spec.needs).filter_map(named).map(|s| s.id));
        }
        false
    }

    /// A result for a call that was settled before: a fact of its own. Of a denied call, which has had none, it
    /// tells that it ran all the same, which is a breach, or how it failed.
    pub(super) fn late(&mut self, call: NodeId, outcome: Outcome) {
        let Some(run) = self.tool_run(call).filter(|r| r.state == RunState::Settled(Outcome::Rejected)) else { return };
        let denied = run.approval.and_then(|a| self.approval(a)).is_some_and(|a| a.granted == Some(false));
        let (effect, kind) = (run.declared.effect, run.declared.kind);
        match outcome {
            Outcome::Completed if denied && effect.changes() => self.open.breaches.add(call),
            Outcome::Failed | Outcome::TimedOut | Outcome::Cancelled if denied && effect != Effect::Control && kind == CallKind::Run => {
                self.set_run(call, RunState::Settled(outcome));
                self.remember_failure(call, outcome);
            }
            _ => {}
        }
    }

    /// A call's result is in: nothing of it is open any more.
    pub(super) fn settle(&mut self, call: NodeId, outcome: Outcome, rests: NodeId) {
        self.label_closed(call);
        let Some(run) = self.run_mut(call) else { return };
        run.state = RunState::Settled(outcome);
        let (activation, approval) = (run.activation, run.approval);
        if let Some(approval) = approval.filter(|_| outcome == Outcome::Cancelled) {
            self.open.approvals.remove(approval);
        }
        self.open.tools.remove(call);
        self.open.transfers.remove(call);
        self.open.lost.remove(call);
        if let Some(act) = self.act_mut(activation) {
            act.learn(rests);
            act.call_shown();
        }
    }

    /// A call with its arguments and its result, hashed: what repeats is known by it.
    fn signature(&self, call: NodeId, record: &Record) -> u64 {
        let mut hasher = FxHasher::default();
        if let Some(spec) = self.tool_run(call).and_then(|r| self.call(r)) {
            (&spec.name, &spec.args).hash(&mut hasher);
        }
        if let Event::ToolSettled { text, outcome, .. } = &record.event {
            (text, outcome).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// What a call of this kind makes.
fn node_kind(kind: CallKind) -> NodeKind {
    match kind {
        CallKind::Transfer => NodeKind::Transfer,
        CallKind::Delegate => NodeKind::Delegation,
        CallKind::Run | CallKind::Terminal | CallKind::Loop => NodeKind::ToolRun,
    }
}
