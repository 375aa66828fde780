//! Facts of a loop that is not ours, told by that loop's own names.
//!
//! A hand-written loop, an imported trace or a scenario knows calls, sub-agents and steps by labels that
//! may be blank, repeated or late. A witness turns what it is told into events of the vocabulary, keyed by
//! position, and keeps what could not be placed in [`Witness::refused`]: nothing is dropped silently.

mod placed;
mod plan;
mod said;

pub use said::{ForeignCall, ForeignCandidate, ForeignReply, Refused};

use crate::decision::Decision;
use crate::event::{
    Call, CancelWhen, CandidateMade, Cause, Cut, Declared, Disposed, Disposition, Event, Finish, GuardVerdict, NudgeBy, Outcome, ReplyExtra, Report,
    Resolution, ResumedBy, RunStarted, Via,
};
use crate::gate::Gate;
use crate::ledger::{AppendError, RunState};
use crate::node::{NodeId, ROOT, Str};
use crate::run::Run;
use indexmap::IndexMap;
use std::sync::Arc;

#[derive(Default)]
struct Names {
    agents: IndexMap<Str, NodeId>,
    calls: IndexMap<Str, Vec<NodeId>>,
    children: IndexMap<Str, NodeId>,
    replies: IndexMap<Str, NodeId>,
    transfers: IndexMap<Str, NodeId>,
    jobs: IndexMap<Str, NodeId>,
    /// Jobs known only because a call's result said that it goes on, by the call's name.
    implied: IndexMap<NodeId, Str>,
    approvals: IndexMap<Str, Vec<NodeId>>,
    questions: IndexMap<Str, NodeId>,
}

/// A run known from what it is told.
pub struct Witness {
    run: Run,
    at_ms: u64,
    names: Names,
    plans: u32,
    /// What could not be placed, in order.
    pub refused: Vec<Refused>,
}

impl Witness {
    /// Begins to listen.
    pub fn new(gate: Arc<Gate>, start: RunStarted, at_ms: u64) -> Result<Self, AppendError> {
        let run = Run::start(gate, start, at_ms)?;
        Ok(Self { run, at_ms, names: Names::default(), plans: 0, refused: Vec::new() })
    }

    /// The time of what is told from here on, in milliseconds since the Unix epoch.
    pub fn at(&mut self, at_ms: u64) {
        self.at_ms = at_ms;
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The result node of a sub-agent's reply.
    pub fn reply_of(&self, id: &str) -> Option<NodeId> {
        self.names.replies.get(id).copied()
    }

    /// The node of a call, a sub-agent's reply or a job, by its name; the newest where a name repeats.
    pub fn known_as(&self, name: &str) -> Option<NodeId> {
        let call = self.names.calls.get(name.trim()).and_then(|runs| runs.last()).copied();
        call.or_else(|| self.reply_of(name)).or_else(|| self.names.jobs.get(name).copied())
    }

    /// Asks the gate and records what it says: this is where a final is made.
    pub fn rule(&mut self) -> Result<Arc<Decision>, AppendError> {
        self.run.rule(ROOT, self.at_ms)
    }

    /// Asks the gate and records nothing.
    pub fn decide(&self) -> Decision {
        self.run.decide()
    }

    /// An agent answered. Returns its reply.
    pub fn reply(&mut self, agent: &str, text: &str, finish: Finish, extra: ReplyExtra) -> Option<NodeId> {
        let activation = self.agent(agent)?;
        let extra = (extra != ReplyExtra::default()).then(|| Box::new(extra));
        self.replied(activation, text, finish, Box::new([]), extra)
    }

    /// A model call failed.
    pub fn model_failed(&mut self, agent: &str, why: &str, partial: Option<&str>) {
        if let Some(activation) = self.agent(agent) {
            self.put(Event::ModelFailed { activation, why: why.into(), partial: partial.map(Str::from), lasting: false });
        }
    }

    /// An agent called a tool. Returns the tool run.
    pub fn call(&mut self, said: &ForeignCall<'_>) -> Option<NodeId> {
        let activation = self.agent(said.agent)?;
        self.called(activation, said)
    }

    /// A sub-agent that has begun called a tool; `child` is the id under which it did. Returns the tool run.
    pub fn child_called(&mut self, child: &str, said: &ForeignCall<'_>) -> Option<NodeId> {
        match self.names.children.get(child).copied() {
            Some(activation) => self.called(activation, said),
            None => {
                self.unknown("sub-agent", child);
                None
            }
        }
    }

    /// A call has a result. A second one changes nothing and is kept as late, unless the first said that the
    /// work goes on and nobody else tells of its end.
    pub fn result(&mut self, id: &str, outcome: Outcome, text: &str, cut: Option<Cut>) {
        let ended = self.ledger().has_ended();
        match self.open_call(id).or_else(|| self.by_exclusion(id)) {
            Some(run) if !ended => {
                self.put(Event::ToolSettled { call: run, outcome, text: text.into(), cut: cut.map(Box::new) });
            }
            None if self.implied_job(id).is_some() && !ended => self.job_ended(id.trim(), outcome, text),
            _ => self.late(id, outcome, text),
        }
    }

    /// A call goes on as a background job; what it returned is a receipt.
    pub fn goes_on(&mut self, id: &str, text: &str) {
        let Some(run) = self.open_call(id).or_else(|| self.by_exclusion(id)) else { return self.late(id, Outcome::Completed, text) };
        if self.ledger().tool_run(run).is_some_and(|r| r.job.is_none())
            && let Some(job) = self.start_job(None, Some(run), id)
        {
            let name: Str = id.trim().into();
            self.names.implied.insert(job, name.clone());
            self.names.jobs.entry(name).or_insert(job);
        }
        self.put(Event::ToolSettled { call: run, outcome: Outcome::Completed, text: text.into(), cut: None });
    }

    /// Work goes on outside the turn.
    pub fn job_started(&mut self, id: &str, call: Option<&str>, owner: Option<&str>, what: &str) {
        if self.names.jobs.get(id).is_some_and(|j| self.ledger().job(*j).is_some_and(|j| j.outcome.is_none()) && !self.names.implied.contains_key(j))
        {
            return self.refused.push(AppendError::KeyTaken { key: id.into() }.into());
        }
        let run = call.and_then(|c| self.names.calls.get(c.trim()).and_then(|runs| runs.last()).copied());
        let known = run.and_then(|r| self.ledger().tool_run(r)).and_then(|r| r.job);
        if let Some(said) = known.and_then(|job| self.names.implied.shift_remove(&job)) {
            self.names.jobs.shift_remove(&said);
        }
        if let Some(job) = known.or_else(|| self.start_job(owner, run, what)) {
            self.names.jobs.insert(id.into(), job);
        }
    }

    /// A job has its outcome.
    pub fn job_ended(&mut self, id: &str, outcome: Outcome, text: &str) {
        match self.names.jobs.get(id).copied() {
            Some(job) => {
                self.put(Event::BackgroundEnded { job, outcome, text: text.into() });
            }
            None => self.unknown("background job", id),
        }
    }

    /// A sub-agent began, or was put to work again: then what it said before counts no more.
    pub fn child_started(&mut self, id: &str, agent: &str, parent: Option<&str>, call: Option<&str>) {
        match self.names.children.get(id).copied() {
            Some(child) if self.is_at_work(child) => self.refused.push(AppendError::KeyTaken { key: id.into() }.into()),
            Some(child) => {
                self.put(Event::InputArrived { activation: child, text: "".into(), queued: None });
            }
            None => {
                let run = call.and_then(|c| self.open_call(c));
                let waits = |r: &NodeId| self.ledger().tool_run(*r).is_some_and(|r| matches!(r.state, RunState::Requested | RunState::Running));
                let via = run.filter(waits).map_or(Via::Child, Via::Call);
                self.start_child(id, agent, parent, via);
            }
        }
    }

    /// A sub-agent ended, whether or not its start was seen. Its reply closes the call that began it.
    pub fn child_replied(&mut self, said: &ForeignReply<'_>) {
        let known = self.names.children.get(said.id).copied();
        let open = known.filter(|c| self.is_at_work(*c));
        if open.is_none() && self.names.replies.contains_key(said.id) {
            return;
        }
        let transfer = match (said.transfer, open) {
            (Some(named), _) => self.names.transfers.get(named).copied(),
            (None, None) => self.transfer_to(said.agent),
            (None, Some(_)) => None,
        };
        let transfer = transfer.filter(|t| open.is_none() && self.ledger().tool_run(*t).is_some_and(|r| r.state == RunState::Requested));
        let child = open.or_else(|| self.start_child(said.id, said.agent, said.parent, transfer.map_or(Via::Child, Via::Call)));
        let Some(activation) = child else { return };
        let outcome = match said.outcome {
            Outcome::Completed if said.text.is_some_and(|t| t.trim().is_empty()) => Outcome::Empty,
            outcome => outcome,
        };
        let report = (said.report != Report::default()).then(|| Box::new(said.report.clone()));
        let Some(result) = self.put(Event::ActivationEnded { activation, outcome, text: said.text.unwrap_or_default().into(), data: None, report })
        else {
            return;
        };
        self.names.replies.insert(said.id.into(), result);
        let call = self.ledger().activation(activation).and_then(|a| match a.via {
            Via::Call(call) if transfer.is_none() => Some(call),
            _ => None,
        });
        if let Some(call) = call.filter(|c| self.ledger().tool_run(*c).is_some_and(|r| !matches!(r.state, RunState::Settled(_)))) {
            self.put(Event::Returned { call, result });
        }
    }

    /// An agent transferred to another.
    pub fn transferred(&mut self, id: &str, from: &str, to: &str, task: &str, terminal: bool) {
        let Some(activation) = self.agent(from) else { return };
        let declared = Declared { terminal, ..Declared::of(crate::event::CallKind::Transfer) };
        let call = Call { name: format!("transfer_to_{to}").into(), args: task.into(), label: None, declared, step: None, reads: None };
        if let Some(reply) = self.replied(activation, "", Finish::ToolCalls, Box::new([call]), None) {
            self.names.transfers.insert(id.into(), NodeId(reply.0 + 1));
        }
    }

    /// Control came back from a transfer.
    pub fn returned(&mut self, id: &str, outcome: Outcome) {
        let Some(call) = self.names.transfers.get(id).copied() else { return self.unknown("transfer", id) };
        let Some(run) = self.ledger().tool_run(call) else { return };
        let result = run.child.and_then(|c| self.ledger().activation(c)).filter(|c| !c.open).and_then(|c| c.result);
        match (run.state, result) {
            (RunState::Settled(_), _) => self.put(Event::LateResult { call, outcome, text: "".into() }),
            (_, Some(result)) => self.put(Event::Returned { call, result }),
            (_, None) => self.put(Event::ToolSettled { call, outcome, text: "".into(), cut: None }),
        };
    }

    /// Replies of sub-agents were worked in, and disagreements settled by key.
    pub fn reconciled(&mut self, by: &str, replies: &[&str], resolved: &[&str]) {
        let Some(by) = self.agent(by) else { return };
        let mut dispositions = Vec::new();
        for id in replies {
            match self.names.replies.get(*id).copied() {
                Some(result) => dispositions.push(Disposition { result, disposition: Disposed::Adopted, why: "".into() }),
                None => self.unknown("sub-agent reply", id),
            }
        }
        let resolved = resolved.iter().map(|key| Resolution { key: self.conflict_key(key), why: "".into() }).collect();
        self.put(Event::Reconciled { by, dispositions, resolved });
    }

    /// An approval was asked for, of a call or a step. An id that several open calls share covers them all.
    pub fn approval_requested(&mut self, id: &str, of: &str) {
        let mut on: Vec<NodeId> = self.open_calls(of);
        if on.is_empty() {
            on.extend(self.ledger().live_step_named(ROOT, of));
        }
        if on.is_empty() {
            return self.unknown("open call or step", of);
        }
        for node in on {
            if let Some(approval) = self.put(Event::ApprovalRequested { on: node }) {
                self.names.approvals.entry(id.into()).or_default().push(approval);
            }
        }
    }

    /// A person granted or denied.
    pub fn approval_settled(&mut self, id: &str, granted: bool, why: &str) {
        let Some(approvals) = self.names.approvals.get(id).cloned() else { return self.unknown("approval", id) };
        for approval in approvals {
            self.put(Event::ApprovalSettled { approval, granted, by: "user".into(), why: why.into(), args: None, lapsed: false });
        }
    }

    /// A question was put to the user.
    pub fn asked_user(&mut self, id: &str, text: &str) {
        let Some(activation) = self.agent(&self.owner()) else { return };
        if let Some(question) = self.put(Event::QuestionAsked { activation, call: None, text: text.into() }) {
            self.names.questions.insert(id.into(), question);
        }
    }

    /// Whether a question of this name is open.
    pub fn asks_user(&self, id: &str) -> bool {
        self.names.questions.get(id).and_then(|q| self.ledger().question(*q)).is_some_and(|q| !q.answered)
    }

    /// The user answered.
    pub fn user_answered(&mut self, id: &str, text: &str) {
        match self.names.questions.get(id).copied() {
            Some(question) => {
                self.put(Event::QuestionAnswered { question, text: text.into() });
            }
            None => self.unknown("question", id),
        }
    }

    /// Somebody would like this to be the answer.
    pub fn candidate(&mut self, said: &ForeignCandidate<'_>) -> Option<NodeId> {
        let by = self.agent(said.agent)?;
        let mut uses = Vec::new();
        for id in &said.uses {
            match self.names.replies.get(*id).copied() {
                Some(result) => uses.push(result),
                None => self.unknown("sub-agent reply", id),
            }
        }
        // Whatever was read by then is what the words rest on: a foreign loop does not say it more closely.
        let mut rests_on: Vec<NodeId> = self.names.replies.values().copied().collect();
        for activation in self.names.agents.values().filter_map(|a| self.ledger().activation(*a)) {
            rests_on.extend(activation.last_reply);
            rests_on.extend(activation.unread());
        }
        self.put(Event::CandidateMade(Box::new(CandidateMade {
            scope: ROOT,
            by,
            text: said.text.into(),
            form: said.form,
            finish: said.finish,
            from: said.from,
            rests_on,
            uses,
            synthesis: false,
            uncertainties: Vec::new(),
            next_actions: Vec::new(),
        })))
    }

    /// A guard or hook judged the newest candidate.
    pub fn guard_spoke(&mut self, guard: &str, verdict: GuardVerdict) {
        match self.ledger().activation(ROOT).and_then(|a| a.candidate) {
            Some(candidate) => {
                self.put(Event::GuardSpoke { candidate, guard: guard.into(), verdict });
            }
            None => self.unknown("candidate", "newest"),
        }
    }

    /// An agent was told to go on.
    pub fn nudged(&mut self, by: NudgeBy, agent: Option<&str>, text: &str) {
        let owner = self.owner();
        if let Some(activation) = self.agent(agent.unwrap_or(&owner)) {
            self.put(Event::Nudged { activation, by, text: text.into() });
        }
    }

    /// A person asked the owner of the answer for something, or for something more.
    pub fn asked(&mut self, text: &str) {
        if let Some(activation) = self.agent(&self.owner()) {
            self.put(Event::InputArrived { activation, text: text.into(), queued: None });
        }
    }

    /// The owner of the answer states that a governance rule is met, or why it is not.
    pub fn attested(&mut self, rule: &str, statement: &str, refs: Vec<NodeId>, waived: Option<&str>) -> Option<NodeId> {
        let by = self.agent(&self.owner())?;
        self.put(Event::Attested { by, rule: rule.into(), statement: statement.into(), refs, waived: waived.map(Str::from) })
    }

    /// A fact that somebody wants remembered, such as a finding; `data` is JSON text.
    pub fn recorded(&mut self, kind: &str, data: &str, rests_on: Vec<NodeId>) -> Option<NodeId> {
        self.put(Event::Note { kind: kind.into(), data: data.into(), rests_on })
    }

    /// State changed from outside the run.
    pub fn edited(&mut self, by: &str) {
        self.put(Event::Edited { by: by.into() });
    }

    /// The user wants the run cancelled.
    pub fn cancel_requested(&mut self, by: &str) {
        self.put(Event::CancelRequested { by: by.into(), when: CancelWhen::AtOnce });
    }

    /// The loop ended.
    pub fn stopped(&mut self, cause: Cause, why: &str) {
        self.put(Event::Stopped { cause, why: why.into() });
    }

    /// The process died.
    pub fn crashed(&mut self) {
        self.put(Event::Crashed);
    }

    /// The run was taken up again: after a crash by recovery, else by a person.
    pub fn resumed(&mut self, started: bool) {
        let by = if self.ledger().totals().crashed { ResumedBy::Crash } else { ResumedBy::Person };
        self.taken_up(by, started);
    }

    /// The run was taken up again by somebody in particular: a person grants a fresh allowance.
    pub fn taken_up(&mut self, by: ResumedBy, started: bool) {
        self.put(Event::Resumed { by, started, limits: None });
    }
}
