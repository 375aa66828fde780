//! Where what is told belongs: names become nodes, by position where a name does not say.

use super::{ForeignCall, Refused, Witness};
use crate::event::{Call, Event, Finish, Outcome, ReplyExtra, Via};
use crate::ledger::{Ledger, RunState, target};
use crate::node::{NodeId, ROOT, Str};

impl Witness {
    pub(super) fn ledger(&self) -> &Ledger {
        self.run.ledger()
    }

    pub(super) fn owner(&self) -> Str {
        self.ledger().started().map_or_else(|| "main".into(), |s| s.rules.concluder(&s.policy).clone())
    }

    /// Appends one event and returns the newest node.
    pub(super) fn put(&mut self, event: Event) -> Option<NodeId> {
        match self.run.append(self.at_ms, [event]) {
            Ok(()) => Some(NodeId(self.ledger().node_count().saturating_sub(1))),
            Err(why) => {
                self.refused.push(why.into());
                None
            }
        }
    }

    pub(super) fn unknown(&mut self, what: &'static str, name: &str) {
        self.refused.push(Refused::Unknown { what, name: name.into() });
    }

    pub(super) fn agent(&mut self, name: &str) -> Option<NodeId> {
        if let Some(known) = self.names.agents.get(name) {
            return Some(*known);
        }
        let key: Str = format!("observed/{name}").into();
        let start = Event::ActivationStarted {
            parent: ROOT,
            agent: name.into(),
            key,
            prompt: "".into(),
            via: Via::Observed,
            rests_on: Box::new([]),
            rules: None,
        };
        let id = self.put(start)?;
        self.names.agents.insert(name.into(), id);
        Some(id)
    }

    /// Appends a reply and returns it: the newest node less its calls.
    pub(super) fn replied(
        &mut self,
        activation: NodeId,
        text: &str,
        finish: Finish,
        calls: Box<[Call]>,
        extra: Option<Box<ReplyExtra>>,
    ) -> Option<NodeId> {
        let saw = self.ledger().activation(activation).map_or(0, |a| a.transcript.len());
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let saw = u32::try_from(saw).unwrap_or(u32::MAX);
        let newest = self.put(Event::ModelReplied { activation, saw, finish, text: text.into(), calls, extra })?;
        Some(NodeId(newest.0.saturating_sub(count)))
    }

    /// A reply of one call; returns the tool run.
    pub(super) fn called(&mut self, activation: NodeId, said: &ForeignCall<'_>) -> Option<NodeId> {
        let call = Call {
            name: said.name.into(),
            args: said.args.into(),
            label: (!said.id.trim().is_empty()).then(|| said.id.trim().into()),
            declared: said.declared,
            step: said.step.and_then(|s| self.step(s)),
            reads: said.reads.and_then(|r| self.names.replies.get(r).copied()),
        };
        let reply = self.replied(activation, "", Finish::ToolCalls, Box::new([call]), None)?;
        let run = NodeId(reply.0 + 1);
        self.names.calls.entry(said.id.trim().into()).or_default().push(run);
        Some(run)
    }

    pub(super) fn start_job(&mut self, owner: Option<&str>, call: Option<NodeId>, what: &str) -> Option<NodeId> {
        let caller = call.and_then(|c| self.ledger().tool_run(c)).map(|r| r.activation);
        let fallback = self.owner();
        let activation = match caller {
            Some(caller) => caller,
            None => self.agent(owner.unwrap_or(&fallback))?,
        };
        self.put(Event::BackgroundStarted { activation, call, what: what.into() })
    }

    pub(super) fn start_child(&mut self, id: &str, agent: &str, parent: Option<&str>, via: Via) -> Option<NodeId> {
        let above = parent.and_then(|p| self.names.children.get(p).copied());
        let owner = self.owner();
        let parent = above.or_else(|| self.agent(&owner))?;
        let key: Str = format!("{}/{id}", self.ledger().node_count()).into();
        let start = Event::ActivationStarted { parent, agent: agent.into(), key, prompt: "".into(), via, rests_on: Box::new([]), rules: None };
        let child = self.put(start)?;
        self.names.children.insert(id.into(), child);
        Some(child)
    }

    pub(super) fn step(&self, name: &str) -> Option<NodeId> {
        self.ledger().live_step_named(ROOT, name)
    }

    /// The call to which a result of this id belongs: the oldest that still waits for one.
    pub(super) fn open_call(&self, id: &str) -> Option<NodeId> {
        let waits =
            |n: &&NodeId| self.ledger().tool_run(**n).is_some_and(|r| matches!(r.state, RunState::Requested | RunState::Running | RunState::Lost));
        let runs = self.names.calls.get(id.trim())?;
        runs.iter().find(waits).or_else(|| runs.iter().find(|n| self.is_open(**n))).copied()
    }

    /// A result without an id that is known: it belongs to the one open call to which it can belong.
    pub(super) fn by_exclusion(&self, id: &str) -> Option<NodeId> {
        let id = id.trim();
        if self.names.calls.contains_key(id) {
            return None;
        }
        let unnamed = self.names.calls.get("").map(Vec::as_slice).unwrap_or_default().iter();
        let all = self.names.calls.values().flatten();
        let mut open: Vec<NodeId> = if id.is_empty() { all.copied().collect() } else { unnamed.copied().collect() };
        open.retain(|n| self.is_open(*n));
        match open.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The job that the newest call of this name goes on as, where only the call told of it.
    pub(super) fn implied_job(&self, id: &str) -> Option<NodeId> {
        let call = self.names.calls.get(id.trim())?.last()?;
        let job = self.ledger().tool_run(*call)?.job?;
        let open = self.ledger().job(job).is_some_and(|j| j.outcome.is_none());
        (open && self.names.implied.contains_key(&job)).then_some(job)
    }

    pub(super) fn is_at_work(&self, child: NodeId) -> bool {
        self.ledger().activation(child).is_some_and(|a| a.open)
    }

    /// The transfer that a specialist who does not say so is answering: the oldest to it that waits.
    pub(super) fn transfer_to(&self, agent: &str) -> Option<NodeId> {
        let waits = |n: &&NodeId| {
            let run = self.ledger().tool_run(**n).filter(|r| r.state == RunState::Requested && r.child.is_none());
            run.and_then(|r| self.ledger().call(r)).is_some_and(|c| target(&c.name) == agent)
        };
        self.names.transfers.values().find(waits).copied()
    }

    pub(super) fn open_calls(&self, id: &str) -> Vec<NodeId> {
        let runs = self.names.calls.get(id.trim()).map(Vec::as_slice).unwrap_or_default();
        runs.iter().copied().filter(|n| self.is_open(*n)).collect()
    }

    pub(super) fn is_open(&self, call: NodeId) -> bool {
        self.ledger().tool_run(call).is_some_and(|r| !matches!(r.state, RunState::Settled(_) | RunState::Background))
    }

    pub(super) fn late(&mut self, id: &str, outcome: Outcome, text: &str) {
        match self.names.calls.get(id.trim()).and_then(|runs| runs.last()).copied() {
            Some(call) => {
                self.put(Event::LateResult { call, outcome, text: text.into() });
            }
            None => self.unknown("call", id),
        }
    }

    pub(super) fn conflict_key(&self, key: &str) -> Str {
        let reply = key.strip_prefix("verdict:").and_then(|id| self.names.replies.get(id));
        reply.map_or_else(|| key.into(), |node| format!("verdict:{node}").into())
    }
}
