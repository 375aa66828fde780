//! What an event changes. Everything here has been admitted; the lookups that remain cannot fail, and
//! where one did it would change nothing.

mod calls;
mod lives;
mod work;

use super::{Activation, Ledger, NodeData, Question, RunState, Step, StepState, ToolRun};
use crate::event::{Event, NudgeBy, Record, ResumedBy, StepOutcome, Via};
use crate::node::{NodeId, NodeKind, ROOT, Str};
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
                self.start(NodeId(0), None, &start.mode, &Str::default(), Via::Asked, &[], record);
            }
            Event::ActivationStarted { parent, agent, key, via, rests_on, rules, .. } => {
                let id = NodeId(self.node_count());
                self.start(id, Some(*parent), agent, key, *via, rests_on, record);
                if let Some(act) = self.act_mut(id) {
                    act.rules.clone_from(rules);
                }
            }
            Event::ModelReplied { .. } => self.replied(record),
            Event::ModelFailed { activation, lasting, .. } => {
                if let Some(act) = self.act_mut(*activation) {
                    // More than any policy retries.
                    act.failures = if *lasting { u32::MAX } else { act.failures.saturating_add(1) };
                    self.totals.provider_failures = act.failures;
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
            Event::Retried { call, .. } => self.retried(*call),
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
                    if let Some(conflicts) = &mut self.conflicts {
                        conflicts.settle(&resolution.key);
                    }
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
            Event::InputQueued { .. } => self.queued.push(record.seq),
            Event::InputArrived { activation, queued, .. } => {
                self.queued.retain(|seq| Some(*seq) != *queued);
                self.tell(*activation, record);
            }
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
            Event::Stopped { cause, .. } => {
                self.totals.stop = Some(*cause);
                self.totals.stop_seq = record.seq;
            }
            Event::Crashed => {
                self.totals.crashed = true;
                self.lose_what_ran();
            }
            Event::Resumed { by, started, limits } => {
                self.totals.resume_failed = !started;
                if *started {
                    self.totals.stop = None;
                    self.totals.crashed = false;
                    if *by == ResumedBy::Person {
                        self.totals.continuations = 0;
                        self.activations.iter_mut().filter(|act| act.open).for_each(|act| act.failures = 0);
                    }
                    if limits.is_some() {
                        self.limits_from = Some(record.seq);
                    }
                }
            }
            _ => {}
        }
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
            act.show(node, call, record);
        }
    }

    fn digest(&mut self, record: &Record) {
        let mut hasher = FxHasher::default();
        self.totals.digest.hash(&mut hasher);
        match &record.event {
            // Its policy is named by a digest of its own. What came with the task counts where there is any, so that a log
            // without it has the digest that it always had.
            Event::RunStarted(start) => {
                (record.seq, record.at_ms, &start.run, &start.task, &start.mode, &start.policy_digest).hash(&mut hasher);
                start.history.iter().for_each(|history| history.hash(&mut hasher));
                start.images.iter().for_each(|image| image.hash(&mut hasher));
            }
            _ => record.hash(&mut hasher),
        }
        self.totals.digest = hasher.finish();
    }

    fn set_run(&mut self, call: NodeId, state: RunState) {
        if let Some(run) = self.run_mut(call) {
            run.state = state;
        }
    }

    fn act_mut(&mut self, node: NodeId) -> Option<&mut Activation> {
        let slot = self.slot(node, NodeKind::Activation)?;
        self.activations.get_mut(slot)
    }

    fn run_mut(&mut self, node: NodeId) -> Option<&mut ToolRun> {
        let slot = self.call_slot(node)?;
        self.runs.get_mut(slot)
    }

    fn step_mut(&mut self, node: NodeId) -> Option<&mut Step> {
        let slot = self.slot(node, NodeKind::Step)?;
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
