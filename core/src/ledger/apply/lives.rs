//! Activations: how one begins, ends, and is opened again.

use super::normalised;
use crate::event::{CallKind, Event, NudgeBy, Outcome, Record, Via};
use crate::ledger::{Activation, Asked, Entry, Ledger, ResultState, RunState, StepState, ToolRun};
use crate::node::{NodeId, NodeKind, ROOT, Str};
use std::sync::Arc;

impl Ledger {
    /// Calls under way when a process dies: one that may be run again is asked for again, any other is lost.
    pub(super) fn lose_what_ran(&mut self) {
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
    pub(super) fn start(&mut self, id: NodeId, parent: Option<NodeId>, agent: &Str, key: &Str, via: Via, on: &[NodeId], record: &Arc<Record>) {
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
                asked_at = self.ask(parent, old, Asked::new(key.clone(), id, record.seq));
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
            transcript: Arc::new(parent.map(|_| begun(Entry { node: id, call: id, record: record.clone() })).unwrap_or_default()),
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
    pub(super) fn ask(&mut self, parent: NodeId, old: Option<NodeId>, asked: Asked) -> Option<u32> {
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
    pub(super) fn answer(&mut self, activation: NodeId, answer: Option<(NodeId, u32)>) {
        let Some(act) = self.activation(activation) else { return };
        let (Some(parent), Some(at)) = (act.parent, act.asked_at) else { return };
        let asked = self.act_mut(parent).and_then(|p| p.asked.get_mut(at as usize));
        if let Some(asked) = asked.filter(|a| a.activation == activation) {
            asked.answer = answer.map(|(node, _)| node);
            asked.answer_seq = answer.map_or(0, |(_, seq)| seq);
        }
    }

    /// Whether an activation's end is an obligation of its own: a transfer's specialist is owed by the
    /// transfer until that is back, and what was only observed is owed by nobody.
    pub(super) fn end_is_owed(&self, id: NodeId) -> bool {
        self.activation(id).is_some_and(|act| match act.via {
            Via::Observed => false,
            Via::Call(call) => self.tool_run(call).is_none_or(|run| run.declared.kind != CallKind::Transfer || is_settled(run)),
            Via::Asked | Via::Step(_) | Via::Child => act.parent.is_some(),
        })
    }

    pub(super) fn ended(&mut self, record: &Arc<Record>) {
        let Event::ActivationEnded { activation, outcome, text, report, .. } = &record.event else { return };
        let Some(act) = self.act_mut(*activation) else { return };
        let last = act.candidate.or(act.last_reply).unwrap_or(*activation);
        let (via, to) = (act.via, act.parent.unwrap_or(ROOT));
        act.open = false;
        act.due = false;
        let fresh = std::mem::take(&mut act.fresh);
        let mut rests = std::mem::take(&mut self.scratch);
        rests.clear();
        rests.push(last);
        rests.extend(fresh.into_iter().map(|(node, _)| node));
        let id = self.node(NodeKind::Result, self.results.len(), &rests);
        self.scratch = rests;
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
                self.conflicts.get_or_insert_default().hear(id, report);
            }
            if !text.trim().is_empty() {
                self.words.insert(normalised(text), id);
            }
        }
        if let Via::Call(call) = via
            && self.tool_run(call).is_some_and(is_settled)
        {
            self.hear_again(to, id, record);
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

    /// A sub-agent whose call was answered was put to work again, and has ended again: input to whoever called.
    fn hear_again(&mut self, caller: NodeId, result: NodeId, record: &Arc<Record>) {
        if let Some(act) = self.act_mut(caller).filter(|act| act.open) {
            let at = u32::try_from(act.transcript.len()).unwrap_or(u32::MAX);
            act.fresh.push((result, at));
            act.due = act.open_calls == 0;
        }
        self.say(caller, result, result, record);
    }

    /// Whether a result is one that the conclusion of its scope must account for: it went to the mode
    /// itself, or to an agent that the mode asked.
    pub(super) fn is_direct(&self, via: Via, to: NodeId) -> bool {
        let owed = matches!(via, Via::Call(_) | Via::Child);
        owed && self.activation(to).is_some_and(|t| t.is_mode() || t.parent.and_then(|p| self.activation(p)).is_some_and(|p| p.is_mode()))
    }

    /// A result that a newer one of the same activation replaces.
    pub(super) fn forget(&mut self, result: NodeId) {
        self.open.unreconciled.remove(result);
        self.open.unsound.remove(result);
        self.open.cut.remove(result);
        if let Some(conflicts) = &mut self.conflicts {
            conflicts.forget(result);
        }
        let counted = u32::from(self.is_evidence(result));
        if let Some(state) = self.slot(result, NodeKind::Result).and_then(|s| self.results.get_mut(s)) {
            state.superseded = true;
            self.totals.evidence -= counted;
        }
    }

    /// Input from outside for somebody: they, and whoever ended on their word, are at work again.
    pub(super) fn tell(&mut self, activation: NodeId, record: &Arc<Record>) {
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

    pub(super) fn reopen(&mut self, activation: NodeId) {
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
}

fn is_settled(run: &ToolRun) -> bool {
    matches!(run.state, RunState::Settled(_))
}

/// A transcript with its first entry, and room for a few turns.
fn begun(first: Entry) -> Vec<Entry> {
    let mut transcript = Vec::with_capacity(16);
    transcript.push(first);
    transcript
}
