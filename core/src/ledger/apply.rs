//! What an event changes. Everything here has been admitted; the lookups that remain cannot fail, and
//! where one did it would change nothing.

use super::{
    Activation, Approval, Asked, CALLS, Entry, Job, Ledger, NodeData, PlanVersion, Question, ResultState, RunState, Step, StepState, ToolRun, target,
};
use crate::event::{CallKind, Cut, Effect, Event, NudgeBy, Outcome, Record, ResumedBy, StepOutcome, StepSpec, Via};
use crate::node::{NodeId, NodeKind, ROOT, Str};
use crate::policy::Reconciliation;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

impl Ledger {
    /// Takes in one admitted event.
    pub(super) fn apply(&mut self, record: Arc<Record>) {
        let resumed = matches!(record.event, Event::Resumed { started: true, .. });
        if !matches!(record.event, Event::Decided { .. }) {
            self.totals.just_resumed = resumed;
        }
        self.digest(&record);
        self.fold(&record);
        self.log.push(record);
    }

    fn fold(&mut self, record: &Arc<Record>) {
        match &record.event {
            Event::RunStarted(start) => {
                self.start(NodeId(0), None, &start.mode, &"run".into(), Via::Asked, &[], record);
                if let Some(root) = self.act_mut(ROOT) {
                    root.rules = Some(Box::new(start.rules.clone()));
                }
            }
            Event::ActivationStarted { parent, agent, key, via, rests_on, rules, .. } => {
                let id = NodeId(self.node_count());
                self.start(id, Some(*parent), agent, key, *via, rests_on, record);
                if let Some(act) = self.act_mut(id) {
                    act.rules.clone_from(rules);
                }
            }
            Event::ModelReplied { .. } => self.replied(record),
            Event::ModelFailed { activation, .. } => {
                self.totals.provider_failures += 1;
                if let Some(act) = self.act_mut(*activation) {
                    act.failures += 1;
                }
            }
            Event::ApprovalRequested { on } => self.approval_requested(*on),
            Event::ApprovalSettled { approval, granted, args, .. } => self.approval_settled(*approval, *granted, args.is_some(), record),
            Event::QuestionAsked { activation, call, .. } => {
                let id = self.node(NodeKind::Question, self.questions.len(), call.as_slice());
                self.questions.push(Question { id, activation: *activation, call: *call, answered: false });
                self.open.questions.add(id);
                if let Some(run) = call.and_then(|c| self.run_mut(c)) {
                    run.state = RunState::AwaitingAnswer;
                }
            }
            Event::QuestionAnswered { question, .. } => self.answered(*question, record),
            Event::ToolStarted { call } => {
                if let Some(run) = self.run_mut(*call) {
                    run.state = RunState::Running;
                }
            }
            Event::Retried { call, .. } => {
                self.open.lost.remove(*call);
                if let Some(run) = self.run_mut(*call) {
                    run.state = RunState::Requested;
                }
            }
            Event::ToolSettled { call, outcome, cut, .. } => self.tool_settled(*call, *outcome, cut.as_deref(), record),
            Event::LateResult { call, outcome, .. } => self.late(*call, *outcome),
            Event::BackgroundStarted { activation, call, .. } => self.background_started(*activation, *call, record),
            Event::BackgroundEnded { job, outcome, .. } => self.background_ended(*job, *outcome, record),
            Event::Returned { call, result } => self.returned(*call, *result),
            Event::PlanMade { scope, key, by, steps, dropped } => self.plan_made(*scope, key, *by, steps, dropped),
            Event::StepSettled { step, outcome, .. } => {
                let state = match outcome {
                    StepOutcome::Done => StepState::Done,
                    StepOutcome::CutOff => StepState::CutOff,
                    StepOutcome::Blocked => StepState::Blocked,
                };
                self.set_step(*step, state);
            }
            Event::StepReopened { step, .. } => self.set_step(*step, StepState::Open),
            Event::Reconciled { dispositions, resolved, .. } => {
                for disposition in dispositions {
                    self.open.unreconciled.remove(disposition.result);
                }
                for resolution in resolved {
                    self.conflicts.settle(&resolution.key);
                }
            }
            Event::ActivationEnded { .. } => self.ended(record),
            Event::CandidateMade(made) => {
                let mut rests = std::mem::take(&mut self.scratch);
                rests.clear();
                rests.extend(made.from);
                let by = self.activation(made.by);
                rests.extend(by.and_then(|a| a.result.or(a.last_reply)).or(by.map(|a| a.id)));
                rests.extend(made.rests_on.iter().chain(&made.uses));
                let kind = if made.synthesis { NodeKind::Synthesis } else { NodeKind::Candidate };
                let id = self.node(kind, 0, &rests);
                self.scratch = rests;
                if let Some(scope) = self.act_mut(made.scope) {
                    scope.candidate = Some(id);
                    scope.ruled_seq = None;
                }
            }
            Event::GuardSpoke { .. }
            | Event::Edited { .. }
            | Event::CancelRequested { .. }
            | Event::Stopped { .. }
            | Event::Crashed
            | Event::Resumed { .. } => {
                self.course(record);
            }
            Event::Decided { scope, candidate, decision } => {
                self.node(NodeKind::Decision, 0, candidate.as_slice());
                self.totals.ruled = Some((record.seq, *scope, self.totals.evidence));
                if let Some(ruled) = self.act_mut(*scope).filter(|s| candidate.is_some() && s.candidate == *candidate) {
                    ruled.ruled_seq = Some(record.seq);
                }
                if *scope == ROOT && decision.status.is_terminal() {
                    self.totals.ended = self.totals.ended.or(Some(decision.status));
                }
            }
            Event::Nudged { activation, by, .. } => {
                self.totals.continuations += u32::from(!matches!(by, NudgeBy::Repeat | NudgeBy::Format));
                self.tell(*activation, record);
            }
            Event::Continued { activation } => {
                self.totals.continuations += 1;
                self.tell(*activation, record);
            }
            Event::InputArrived { activation, .. } => self.tell(*activation, record),
            Event::Attested { by, refs, .. } => {
                let rests: Vec<_> = refs.iter().chain([by]).copied().collect();
                let id = self.node(NodeKind::Attestation, 0, &rests);
                self.attestations.push(id);
            }
            Event::Note { rests_on, .. } => {
                self.node(NodeKind::Note, 0, rests_on);
            }
        }
    }

    /// Events about the run as a whole.
    fn course(&mut self, record: &Record) {
        match &record.event {
            Event::GuardSpoke { candidate, .. } => {
                let stale = self.guarded.as_ref().is_none_or(|(on, _)| on != candidate);
                if stale {
                    self.guarded = Some((*candidate, Vec::new()));
                }
                if let Some((_, said)) = &mut self.guarded {
                    said.push(record.seq);
                }
            }
            Event::Edited { .. } => self.totals.edited = record.seq,
            Event::CancelRequested { when, .. } => self.totals.cancel = Some(self.totals.cancel.map_or(*when, |w| w.min(*when))),
            Event::Stopped { cause, .. } => self.totals.stop = Some(*cause),
            Event::Crashed => {
                self.totals.crashed = true;
                self.lose_what_ran();
            }
            Event::Resumed { by, started, limits } => {
                self.totals.resume_failed = !started;
                if *started {
                    self.totals.stop = None;
                    self.totals.crashed = false;
                    self.totals.provider_failures = 0;
                    if *by == ResumedBy::Person {
                        self.totals.continuations = 0;
                    }
                    if limits.is_some() {
                        self.limits_from = Some(record.seq);
                    }
                }
            }
            _ => {}
        }
    }

    /// Calls under way when a process dies: one that may be run again is asked for again, any other is lost.
    fn lose_what_ran(&mut self) {
        let open: Vec<NodeId> = self.open.tools.iter().collect();
        for call in open {
            let Some(run) = self.run_mut(call) else { continue };
            let observed_or_started = run.state == RunState::Running || run.state == RunState::Requested && run.observed;
            let job = run.job;
            if !observed_or_started || run.child.is_some() || job.is_some_and(|j| self.open.jobs.contains(j)) {
                continue;
            }
            let Some(run) = self.run_mut(call) else { continue };
            if run.declared.idempotent {
                run.state = RunState::Requested;
            } else {
                run.state = RunState::Lost;
                self.open.lost.add(call);
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one event, taken apart once")]
    fn start(&mut self, id: NodeId, parent: Option<NodeId>, agent: &Str, key: &Str, via: Via, on: &[NodeId], record: &Arc<Record>) {
        let mut rests = std::mem::take(&mut self.scratch);
        rests.clear();
        rests.extend(parent);
        if let Via::Call(node) | Via::Step(node) = via {
            rests.push(node);
        }
        rests.extend_from_slice(on);
        self.node(NodeKind::Activation, self.activations.len(), &rests);
        self.scratch = rests;
        let mut asked_at = None;
        if let Some(parent) = parent {
            let old = self.by_key.insert((parent, key.clone()), id);
            if matches!(via, Via::Asked | Via::Step(_)) {
                asked_at = self.ask(parent, old, Asked { key: key.clone(), activation: id, started_seq: record.seq, answer: None, answer_seq: 0 });
            }
        }
        match via {
            Via::Call(call) => {
                if let Some(run) = self.run_mut(call) {
                    run.child = Some(id);
                    run.state = RunState::Running;
                }
            }
            Via::Step(step) => {
                if let Some(step) = self.step_mut(step) {
                    step.activation = Some(id);
                }
            }
            Via::Asked | Via::Child | Via::Observed => {}
        }
        let depth = parent.and_then(|p| self.activation(p)).map_or(0, |p| p.depth + 1);
        self.activations.push(Activation {
            id,
            parent,
            agent: agent.clone(),
            key: key.clone(),
            via,
            depth,
            started_seq: record.seq,
            rules: None,
            transcript: Arc::new(vec![Entry { node: id, call: id, record: record.clone() }]),
            last_reply: None,
            calls: 0..0,
            open_calls: 0,
            due: true,
            turns: 0,
            failures: 0,
            result: None,
            open: true,
            candidate: None,
            ruled_seq: None,
            asked: Vec::new(),
            repeats: 0,
            told: false,
            reminders: 0,
            asked_at,
            signature: 0,
            fresh: Vec::new(),
        });
        if self.end_is_owed(id) {
            self.open.activations.add(id);
        }
    }

    /// Notes a question where its mode will look for it; one that is asked anew takes the place of the old one.
    fn ask(&mut self, parent: NodeId, old: Option<NodeId>, asked: Asked) -> Option<u32> {
        let act = self.act_mut(parent)?;
        let at = old.and_then(|old| act.asked.iter().rposition(|a| a.activation == old));
        let at = match at {
            Some(at) => {
                *act.asked.get_mut(at)? = asked;
                at
            }
            None => {
                act.asked.push(asked);
                act.asked.len() - 1
            }
        };
        u32::try_from(at).ok()
    }

    /// The newest answer to a mode's question, or that there is none while its activation is at work.
    fn answer(&mut self, activation: NodeId, answer: Option<(NodeId, u32)>) {
        let Some(act) = self.activation(activation) else { return };
        let (Some(parent), Some(at)) = (act.parent, act.asked_at) else { return };
        let asked = self.act_mut(parent).and_then(|p| p.asked.get_mut(at as usize));
        if let Some(asked) = asked.filter(|a| a.activation == activation) {
            asked.answer = answer.map(|(node, _)| node);
            asked.answer_seq = answer.map_or(0, |(_, seq)| seq);
        }
    }

    /// Whether an activation's end is an obligation of its own: a transfer's specialist is owed by the
    /// transfer, and what was only observed is owed by nobody.
    fn end_is_owed(&self, id: NodeId) -> bool {
        self.activation(id).is_some_and(|act| match act.via {
            Via::Observed => false,
            Via::Call(call) => self.tool_run(call).is_none_or(|run| run.declared.kind != CallKind::Transfer),
            Via::Asked | Via::Step(_) | Via::Child => act.parent.is_some(),
        })
    }

    fn replied(&mut self, record: &Arc<Record>) {
        let Event::ModelReplied { activation, saw, calls, extra, .. } = &record.event else { return };
        let mut rests = std::mem::take(&mut self.scratch);
        rests.clear();
        let delivered = self.reconciliation_of(*activation) == Reconciliation::Delivered;
        if let Some(act) = self.act_mut(*activation) {
            act.fresh.retain(|(node, at)| {
                let seen = at < saw;
                if seen {
                    rests.push(*node);
                }
                !seen
            });
        }
        if delivered {
            for node in &rests {
                self.open.unreconciled.remove(*node);
            }
        }
        let act = self.activation(*activation);
        rests.push(act.and_then(|a| a.last_reply).unwrap_or(*activation));
        let observed = act.is_some_and(|a| a.via == Via::Observed);
        let own_step = act.and_then(|a| match a.via {
            Via::Step(step) => Some(step),
            _ => None,
        });
        let reply = self.node(NodeKind::Reply, 0, &rests);
        self.scratch = rests;
        for (index, call) in calls.iter().enumerate() {
            let kind = match call.declared.kind {
                CallKind::Transfer => NodeKind::Transfer,
                CallKind::Delegate => NodeKind::Delegation,
                CallKind::Run | CallKind::Terminal | CallKind::Loop => NodeKind::ToolRun,
            };
            let id = self.node(kind, self.runs.len(), &[reply]);
            self.runs.push(ToolRun {
                id,
                activation: *activation,
                reply_seq: record.seq,
                index: u32::try_from(index).unwrap_or(u32::MAX),
                declared: call.declared,
                state: RunState::Requested,
                observed,
                granted: false,
                approval: None,
                child: None,
                job: None,
                step: call.step.or(own_step),
            });
            if kind == NodeKind::Transfer {
                self.transfer_asked(id, &call.name, &call.args);
            } else {
                self.open.tools.add(id);
            }
            if let Some(label) = call.label.as_ref().filter(|l| !l.trim().is_empty()) {
                self.label_opened(label);
            }
        }
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        if let Some(act) = self.act_mut(*activation) {
            let late = act.transcript.len() > *saw as usize;
            act.last_reply = Some(reply);
            act.calls = reply.0 + 1..reply.0 + 1 + count;
            act.open_calls = if observed { act.open_calls + count } else { count };
            act.turns += 1;
            act.failures = 0;
            act.due = late && calls.is_empty();
        }
        self.totals.turns += 1;
        self.totals.tool_calls += count;
        self.totals.provider_failures = 0;
        if let Some(usage) = extra.as_ref().and_then(|e| e.usage) {
            self.totals.usage.input_tokens += usage.input_tokens;
            self.totals.usage.output_tokens += usage.output_tokens;
            self.totals.usage.cost_micros += usage.cost_micros;
        }
        self.say(*activation, reply, reply, record);
    }

    fn transfer_asked(&mut self, id: NodeId, name: &Str, args: &Str) {
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

    fn label_opened(&mut self, label: &Str) {
        let count = self.open_labels.entry(trimmed(label)).or_insert(0);
        *count += 1;
        self.totals.ambiguous += u32::from(*count > 1);
    }

    fn label_closed(&mut self, call: NodeId) {
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

    fn approval_requested(&mut self, on: NodeId) {
        let id = self.node(NodeKind::Approval, self.approvals.len(), &[on]);
        self.approvals.push(Approval { id, on, granted: None });
        self.open.approvals.add(id);
        if let Some(run) = self.run_mut(on) {
            run.state = RunState::AwaitingApproval;
            run.approval = Some(id);
        }
    }

    fn approval_settled(&mut self, approval: NodeId, granted: bool, edited: bool, record: &Arc<Record>) {
        self.open.approvals.remove(approval);
        let slot = self.slot(approval, &[NodeKind::Approval]);
        let Some(state) = slot.and_then(|s| self.approvals.get_mut(s)) else { return };
        state.granted = Some(granted);
        let on = state.on;
        if edited {
            self.edited_args.insert(approval, record.seq);
        }
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

    fn answered(&mut self, question: NodeId, record: &Arc<Record>) {
        self.open.questions.remove(question);
        let slot = self.slot(question, &[NodeKind::Question]);
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

    fn tool_settled(&mut self, call: NodeId, outcome: Outcome, cut: Option<&Cut>, record: &Arc<Record>) {
        let Some(run) = self.tool_run(call) else { return };
        let (activation, job_open) = (run.activation, run.job.is_some_and(|j| self.open.jobs.contains(j)));
        let (declared, reply_seq) = (run.declared, run.reply_seq);
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
            self.call_shown(activation, call);
            self.label_closed(call);
        } else {
            self.settle(call, outcome, call);
            self.judge(call, outcome, declared.effect, reply_seq, record.seq);
        }
        self.repeats(activation, call, record);
        self.say(activation, call, call, record);
    }

    /// What a settled run means for checks, freshness, failures and denials.
    fn judge(&mut self, call: NodeId, outcome: Outcome, effect: Effect, reply_seq: u32, seq: u32) {
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
        if good {
            let reads = self.tool_run(call).and_then(|r| self.call(r)).and_then(|c| c.reads);
            if let Some(read) = reads {
                self.open.cut.remove(read);
            }
        }
    }

    fn remember_failure(&mut self, call: NodeId, outcome: Outcome) {
        let failed = matches!(outcome, Outcome::Failed | Outcome::TimedOut | Outcome::Cancelled | Outcome::Lost);
        if !failed && self.failures.is_empty() {
            return;
        }
        let Some(name) = self.tool_run(call).and_then(|r| self.call(r)).map(|c| c.name.clone()) else { return };
        if failed {
            let slot = self.slot(call, CALLS).unwrap_or(usize::MAX);
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
    fn rests_on_denied(&self, step: NodeId) -> bool {
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
    fn late(&mut self, call: NodeId, outcome: Outcome) {
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

    fn background_started(&mut self, activation: NodeId, call: Option<NodeId>, record: &Arc<Record>) {
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
                self.call_shown(activation, call);
                self.say(activation, call, call, record);
            }
            _ => self.set_run(call, RunState::Running),
        }
    }

    fn background_ended(&mut self, job: NodeId, outcome: Outcome, record: &Arc<Record>) {
        self.open.jobs.remove(job);
        self.totals.last_settled = record.seq;
        self.totals.jobs_killed += u32::from(matches!(outcome, Outcome::Cancelled | Outcome::Lost));
        let slot = self.slot(job, &[NodeKind::Job]);
        let Some(state) = slot.and_then(|s| self.jobs.get_mut(s)) else { return };
        state.outcome = Some(outcome);
        let (activation, call) = (state.activation, state.call);
        if let Some(run) = call.and_then(|c| self.tool_run(c))
            && matches!(run.state, RunState::Background | RunState::Running)
        {
            let (call, declared, reply_seq, shown) = (run.id, run.declared, run.reply_seq, run.state == RunState::Background);
            if !shown {
                self.settle(call, outcome, job);
            }
            if outcome == Outcome::Lost && declared.effect.changes() {
                // Nobody knows whether it happened: it is not settled until somebody says so.
                self.set_run(call, RunState::Lost);
                self.open.lost.add(call);
            } else {
                self.set_run(call, RunState::Settled(outcome));
            }
            self.judge(call, outcome, declared.effect, reply_seq, record.seq);
        }
        if let Some(act) = self.act_mut(activation) {
            let at = u32::try_from(act.transcript.len()).unwrap_or(u32::MAX);
            act.fresh.push((call.unwrap_or(job), at));
        }
        self.reopen(activation);
        self.say(activation, call.unwrap_or(job), call.unwrap_or(job), record);
    }

    fn returned(&mut self, call: NodeId, result: NodeId) {
        let Some(state) = self.result(result) else { return };
        let (outcome, seq) = (state.outcome, state.seq);
        let Some(end) = self.record(seq).cloned() else { return };
        // The next reply rests on the result itself: an edge from the older call would point forward.
        self.settle(call, outcome, result);
        let activation = self.tool_run(call).map_or(ROOT, |r| r.activation);
        self.say(activation, result, call, &end);
    }

    fn plan_made(&mut self, scope: NodeId, key: &Str, by: NodeId, steps: &[StepSpec], dropped: &[(Str, Str)]) {
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

    fn ended(&mut self, record: &Arc<Record>) {
        let Event::ActivationEnded { activation, outcome, text, report, .. } = &record.event else { return };
        let Some(act) = self.act_mut(*activation) else { return };
        let last = act.candidate.or(act.last_reply).unwrap_or(*activation);
        let (via, to) = (act.via, act.parent.unwrap_or(ROOT));
        act.open = false;
        act.due = false;
        let mut rests = vec![last];
        rests.extend(act.fresh.drain(..).map(|(node, _)| node));
        let id = self.node(NodeKind::Result, self.results.len(), &rests);
        let old = self.act_mut(*activation).and_then(|a| a.result.replace(id));
        self.results.push(ResultState { id, activation: *activation, to, seq: record.seq, outcome: *outcome, superseded: false });
        self.open.activations.remove(*activation);
        if let Some(old) = old {
            self.forget(old);
        }
        self.answer(*activation, Some((id, record.seq)));
        self.totals.evidence += u32::from(report.as_ref().is_some_and(|r| r.executed > 0));
        if self.is_direct(via, to) {
            if self.terminal_transfer.is_none_or(|t| via != Via::Call(t)) {
                self.open.unreconciled.add(id);
            }
            if *outcome != Outcome::Completed {
                self.open.unsound.add(id);
            }
            if let Some(report) = report {
                self.conflicts.hear(id, report);
            }
            if !text.trim().is_empty() {
                self.words.insert(normalised(text), id);
            }
        }
        if let Via::Step(step) = via
            && self.step(step).is_some_and(|s| matches!(s.state, StepState::Open | StepState::CutOff))
        {
            let state = match outcome {
                Outcome::Completed => StepState::Done,
                Outcome::CutOff => StepState::CutOff,
                _ => StepState::Open,
            };
            self.set_step(step, state);
        }
    }

    /// Whether a result is one that the conclusion of its scope must account for: it went to the mode
    /// itself, or to an agent that the mode asked.
    fn is_direct(&self, via: Via, to: NodeId) -> bool {
        let owed = matches!(via, Via::Call(_) | Via::Child);
        owed && self.activation(to).is_some_and(|t| t.rules.is_some() || t.parent.and_then(|p| self.activation(p)).is_some_and(|p| p.rules.is_some()))
    }

    /// A result that a newer one of the same activation replaces.
    fn forget(&mut self, result: NodeId) {
        self.open.unreconciled.remove(result);
        self.open.unsound.remove(result);
        self.open.cut.remove(result);
        self.conflicts.forget(result);
        let counted = u32::from(self.is_evidence(result));
        if let Some(state) = self.slot(result, &[NodeKind::Result]).and_then(|s| self.results.get_mut(s)) {
            state.superseded = true;
            self.totals.evidence -= counted;
        }
    }

    /// A call's result is in: nothing of it is open any more.
    fn settle(&mut self, call: NodeId, outcome: Outcome, rests: NodeId) {
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
            let at = u32::try_from(act.transcript.len()).unwrap_or(u32::MAX);
            act.fresh.push((rests, at));
        }
        self.call_shown(activation, call);
    }

    /// The model can be shown something for this call; with the last one its turn is due.
    fn call_shown(&mut self, activation: NodeId, _call: NodeId) {
        if let Some(act) = self.act_mut(activation) {
            act.open_calls = act.open_calls.saturating_sub(1);
            act.due = act.open && act.open_calls == 0;
        }
    }

    /// Counts how often in a row a lone call came with the same arguments and the same result.
    fn repeats(&mut self, activation: NodeId, call: NodeId, record: &Record) {
        let Event::ToolSettled { text, outcome, .. } = &record.event else { return };
        let mut hasher = FxHasher::default();
        if let Some(spec) = self.tool_run(call).and_then(|r| self.call(r)) {
            (&spec.name, &spec.args).hash(&mut hasher);
        }
        (text, outcome).hash(&mut hasher);
        let signature = hasher.finish();
        if let Some(act) = self.act_mut(activation) {
            let same = act.signature == signature && act.calls.len() == 1;
            act.repeats = if same { act.repeats + 1 } else { 1 };
            act.told &= same;
            act.signature = signature;
        }
    }

    /// Input from outside for somebody: they, and whoever ended on their word, are at work again.
    fn tell(&mut self, activation: NodeId, record: &Arc<Record>) {
        self.reopen(activation);
        if let Some(act) = self.act_mut(activation) {
            match record.event {
                Event::Nudged { by: NudgeBy::Repeat, .. } => act.told = true,
                Event::Nudged { by: NudgeBy::Format, .. } => act.reminders += 1,
                _ => {
                    act.repeats = 0;
                    act.told = false;
                    act.signature = 0;
                }
            }
        }
        self.say(activation, activation, activation, record);
    }

    fn reopen(&mut self, activation: NodeId) {
        if let Some(act) = self.act_mut(activation) {
            act.due = act.open_calls == 0;
        }
        let mut next = Some(activation);
        while let Some(id) = next {
            let Some(act) = self.act_mut(id) else { return };
            let was_open = std::mem::replace(&mut act.open, true);
            next = act.parent;
            let result = act.result;
            if !was_open {
                if self.end_is_owed(id) {
                    self.open.activations.add(id);
                }
                if let Some(result) = result {
                    self.forget(result);
                    self.answer(id, None);
                }
            }
        }
    }

    fn set_step(&mut self, id: NodeId, state: StepState) {
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

    fn reconciliation_of(&self, activation: NodeId) -> Reconciliation {
        if let Some(said) = self.policy().reconciliation {
            return said;
        }
        if self.open.unreconciled.is_empty() {
            return Reconciliation::Explicit;
        }
        self.reconciliation(self.scope_of(activation))
    }

    fn node(&mut self, kind: NodeKind, slot: usize, rests_on: &[NodeId]) -> NodeId {
        let seq = self.seq() + 1;
        let at = self.graph.add_node(NodeData { seq, slot: u32::try_from(slot).unwrap_or(u32::MAX), kind });
        for older in rests_on {
            self.graph.add_edge(at, NodeIndex::new(older.0 as usize), ());
        }
        NodeId(u32::try_from(at.index()).unwrap_or(u32::MAX))
    }

    fn say(&mut self, activation: NodeId, node: NodeId, call: NodeId, record: &Arc<Record>) {
        if let Some(act) = self.act_mut(activation) {
            Arc::make_mut(&mut act.transcript).push(Entry { node, call, record: record.clone() });
        }
    }

    fn digest(&mut self, record: &Record) {
        let mut hasher = FxHasher::default();
        (self.totals.digest, record).hash(&mut hasher);
        self.totals.digest = hasher.finish();
    }

    fn set_run(&mut self, call: NodeId, state: RunState) {
        if let Some(run) = self.run_mut(call) {
            run.state = state;
        }
    }

    fn act_mut(&mut self, node: NodeId) -> Option<&mut Activation> {
        let slot = self.slot(node, &[NodeKind::Activation])?;
        self.activations.get_mut(slot)
    }

    fn run_mut(&mut self, node: NodeId) -> Option<&mut ToolRun> {
        let slot = self.slot(node, CALLS)?;
        self.runs.get_mut(slot)
    }

    fn step_mut(&mut self, node: NodeId) -> Option<&mut Step> {
        let slot = self.slot(node, &[NodeKind::Step])?;
        self.steps.get_mut(slot)
    }
}

fn trimmed(label: &Str) -> Str {
    if label.trim().len() == label.len() { label.clone() } else { label.trim().into() }
}

/// Words without case, spacing or punctuation, hashed.
pub(super) fn normalised(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        word.to_lowercase().hash(&mut hasher);
    }
    hasher.finish()
}
