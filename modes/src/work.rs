//! All that a mode needs: questions, plans, an answer.

mod key;
mod plan;
mod reads;

pub use key::Key;
pub use plan::{PlanView, StepView};

use crate::agent::{Agents, Machine};
use crate::closing::had_its_chances;
use crate::mode::Answer;
use crate::output::{Conclusion, ReplanVerdict};
use countersign_core::ledger::{Activation, Asked, Ledger};
use countersign_core::{Cause, Event, Finish, Form, NodeId, Outcome, Policy, Report, Str, Via};
use reads::{Read, Reads};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fmt::Display;

/// "Not yet", or an error that was noted. Only `Work` makes one, so a mode cannot invent a reason to wait.
#[derive(Debug)]
pub struct Halt(());

/// What a mode has, or why it cannot go on for now. Pass it up with `?`.
pub type Flow<T> = Result<T, Halt>;

/// The newest conclusion of a question. A failed agent is a reply, not an error.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    ledger: &'a Ledger,
    /// The result node.
    pub result: NodeId,
}

/// A reply whose structured output has been read.
pub struct Typed<'a, T> {
    /// What it says.
    pub value: T,
    /// The reply.
    pub reply: Reply<'a>,
}

impl<'a> Reply<'a> {
    fn ended(self) -> Option<(Outcome, &'a Str, Option<&'a Str>, Option<&'a Report>)> {
        match self.ledger.event(self.ledger.result(self.result)?.seq)? {
            Event::ActivationEnded { outcome, text, data, report, .. } => Some((*outcome, text, data.as_ref(), report.as_deref())),
            _ => None,
        }
    }

    /// Whose words they are.
    pub fn by(self) -> NodeId {
        self.ledger.result(self.result).map_or(countersign_core::ROOT, |r| r.activation)
    }

    /// How the agent ended.
    pub fn outcome(self) -> Outcome {
        self.ended().map_or(Outcome::Lost, |(outcome, ..)| outcome)
    }

    /// The outcome in words, for a prompt.
    pub fn outcome_name(self) -> &'static str {
        match self.outcome() {
            Outcome::Completed => "done",
            Outcome::Empty => "came back empty",
            Outcome::CutOff => "was cut off",
            Outcome::Failed => "failed",
            Outcome::TimedOut => "timed out",
            Outcome::Cancelled => "was cancelled",
            Outcome::Rejected => "was refused",
            Outcome::Lost => "was lost",
        }
    }

    /// Its words.
    pub fn text(self) -> &'a str {
        self.ended().map_or("", |(_, text, ..)| text)
    }

    /// Its structured output, as JSON text.
    pub fn data(self) -> Option<&'a str> {
        self.ended().and_then(|(_, _, data, _)| data).map(|d| &**d)
    }

    /// Its claims and the like.
    pub fn report(self) -> Option<&'a Report> {
        self.ended().and_then(|(_, _, _, report)| report)
    }

    /// Whether the agent did what it was asked to do.
    pub fn ok(self) -> bool {
        self.outcome() == Outcome::Completed
    }

    /// Reads its structured output, or its words where it has none.
    pub fn parse<T: DeserializeOwned>(self) -> Result<T, String> {
        serde_json::from_str(self.data().unwrap_or_else(|| self.text())).map_err(|e| e.to_string())
    }
}

/// What is known of a question: that it was asked, or its name.
enum Found<'a> {
    /// The next of those that were asked.
    Next(&'a Asked),
    /// Asked, and met out of order.
    Apart(&'a Asked),
    New(Str),
}

/// One run of `advance`: what it noted.
#[derive(Default)]
pub(crate) struct Pass {
    pub(crate) events: Vec<Event>,
    pub(crate) error: Option<String>,
    pub(crate) stop: Option<(Cause, String)>,
    pub(crate) waiting: bool,
    /// Keys that were found or asked out of that order.
    used: BTreeSet<Str>,
    reads: Reads,
}

/// What a mode works with.
pub struct Work<'a> {
    ledger: &'a Ledger,
    /// Questions that were asked before this pass, in order.
    asked: &'a [Asked],
    agents: &'a Agents,
    scope: NodeId,
    prefix: String,
    pass: &'a mut Pass,
}

impl<'a> Work<'a> {
    pub(crate) fn new(ledger: &'a Ledger, agents: &'a Agents, scope: NodeId, pass: &'a mut Pass) -> Self {
        let asked = ledger.activation(scope).map(|a| a.asked.as_slice()).unwrap_or_default();
        Self { ledger, asked, agents, scope, prefix: String::new(), pass }
    }

    /// What this mode was given to do: the run's task, or the question of the activation that it works in.
    pub fn task(&self) -> Str {
        let asked = self.ledger.activation(self.scope).and_then(|a| self.ledger.event(a.started_seq));
        match asked {
            Some(Event::RunStarted(start)) => start.task.clone(),
            Some(Event::ActivationStarted { prompt, .. }) => prompt.clone(),
            _ => "".into(),
        }
    }

    /// Everything known.
    pub fn ledger(&self) -> &'a Ledger {
        self.ledger
    }

    /// The policy of the run.
    pub fn policy(&self) -> &'a Policy {
        self.ledger.policy()
    }

    /// A part of the work, such as the body of a loop: every key inside is prefixed by its name.
    pub fn within(&mut self, part: impl Display) -> Work<'_> {
        let prefix = format!("{}{part}/", self.prefix);
        Work { ledger: self.ledger, asked: self.asked, agents: self.agents, scope: self.scope, prefix, pass: self.pass }
    }

    /// Asks an agent a question, by a key that is used once in a pass. Yields until the answer is there.
    pub fn ask(&mut self, agent: &str, key: impl Key, prompt: impl Into<Str>) -> Flow<Reply<'a>> {
        let prompt = prompt.into();
        match self.recorded(&key)? {
            Found::New(name) => self.begin(agent, name, prompt, Via::Asked),
            Found::Next(asked) if self.is_same(agent, asked, &prompt) => self.read(asked),
            Found::Apart(asked) if self.is_same(agent, asked, &prompt) => self.read_apart(asked),
            Found::Apart(asked) => self.ask_anew(agent, asked, prompt, Via::Asked),
            Found::Next(asked) => {
                self.pass.reads.pass_over();
                self.ask_anew(agent, asked, prompt, Via::Asked)
            }
        }
    }

    /// As `ask`, with a prompt that is only built when it is needed. Once recorded it is not built again, so
    /// a long chain of questions stays cheap; a prompt that would come out otherwise goes unnoticed.
    pub fn ask_with<P: Into<Str>>(&mut self, agent: &str, key: impl Key, prompt: impl FnOnce() -> P) -> Flow<Reply<'a>> {
        match self.recorded(&key)? {
            Found::Next(asked) => self.read(asked),
            Found::Apart(asked) => self.read_apart(asked),
            Found::New(name) => self.begin(agent, name, prompt().into(), Via::Asked),
        }
    }

    /// As `ask`, for an agent that ends by structured output. A failed agent or output that does not fit is
    /// an error of the mode.
    pub fn ask_as<T: DeserializeOwned>(&mut self, agent: &str, key: impl Key, prompt: impl Into<Str>) -> Flow<Typed<'a, T>> {
        let reply = self.ask(agent, &key, prompt)?;
        if !reply.ok() {
            return Err(self.gave_up(reply));
        }
        match reply.parse() {
            Ok(value) => Ok(Typed { value, reply }),
            Err(why) => Err(self.fail(format!("`{agent}` on `{key}` gave output that does not fit: {why}"))),
        }
    }

    /// Ends this pass with a candidate: the words of a reply. Where its agent failed, the run stops instead.
    pub fn answer(&mut self, reply: Reply<'a>) -> Flow<Answer> {
        let text = reply.ended().map(|(_, text, ..)| text.clone()).unwrap_or_default();
        self.answer_with(reply, text)
    }

    /// As `answer`, with other words than the reply's own.
    pub fn answer_with(&mut self, reply: Reply<'a>, text: impl Into<Str>) -> Flow<Answer> {
        let by = reply.by();
        let act = self.ledger.activation(by);
        let from = act.and_then(|a| a.last_reply);
        let said = from.and_then(|node| self.ledger.reply(node));
        let finish = said.map_or(Finish::Stop, |(_, finish, _)| finish);
        match reply.outcome() {
            Outcome::Completed | Outcome::Empty => {}
            Outcome::CutOff if matches!(finish, Finish::Length | Finish::ContentFilter | Finish::Refusal) => {}
            _ => return Err(self.gave_up(reply)),
        }
        let text = text.into();
        let blank = text.trim().is_empty();
        let extra = said.and_then(|(_, _, extra)| extra);
        let form = match extra {
            Some(extra) if blank && extra.reasoning.is_some() => Form::ReasoningOnly,
            Some(extra) if extra.markup => Form::CallMarkup,
            _ => Form::Text,
        };
        let conclusion =
            reply.data().filter(|_| act.is_some_and(|a| self.ended_by_conclude(a))).and_then(|d| serde_json::from_str::<Conclusion>(d).ok());
        let list = |lines: &[String]| lines.iter().map(|l| Str::from(l.as_str())).collect();
        Ok(Answer {
            by,
            from,
            text,
            form,
            finish: if finish == Finish::ToolCalls { Finish::Stop } else { finish },
            rests_on: self.pass.reads.frontier(self.asked),
            synthesis: conclusion.is_some() || reply.data().is_some_and(|d| serde_json::from_str::<ReplanVerdict>(d).is_ok()),
            uncertainties: conclusion.as_ref().map(|c| list(&c.uncertainties)).unwrap_or_default(),
            next_actions: conclusion.as_ref().map(|c| list(&c.next_actions)).unwrap_or_default(),
        })
    }

    /// The result of the specialist to whom the answer was handed over for good, once it has ended.
    pub fn handed_over(&self) -> Option<Reply<'a>> {
        let call = self.ledger.terminal_transfer()?;
        let child = self.ledger.tool_run(call)?.child.and_then(|c| self.ledger.activation(c))?;
        child.result.map(|result| Reply { ledger: self.ledger, result })
    }

    /// The mode cannot go on, for a reason that is its own fault.
    pub fn fail(&mut self, why: impl Into<String>) -> Halt {
        self.pass.error.get_or_insert(why.into());
        Halt(())
    }

    /// The run is to stop, for a reason that is not the mode's fault.
    pub fn stop(&mut self, cause: Cause, why: impl Into<String>) -> Halt {
        self.pass.stop.get_or_insert((cause, why.into()));
        Halt(())
    }

    /// An agent on whom the mode depends did not do what it was asked: a provider that failed, a limit.
    fn gave_up(&mut self, reply: Reply<'a>) -> Halt {
        let agent = self.ledger.activation(reply.by());
        let cause = match reply.outcome() {
            Outcome::CutOff if had_its_chances(self.ledger, reply.by(), 0) => Cause::ReplanLimit,
            Outcome::CutOff => Cause::TurnLimit,
            Outcome::TimedOut => Cause::Timeout,
            _ if agent.is_some_and(|a| a.failures > 0) => Cause::ProviderError,
            _ => Cause::Error,
        };
        let name = agent.map_or("an agent", |a| &a.agent);
        self.stop(cause, format!("`{name}` {}: {}", reply.outcome_name(), reply.text()))
    }

    fn ended_by_conclude(&self, act: &Activation) -> bool {
        let calls = act.calls.clone().filter_map(|n| self.ledger.tool_run(NodeId(n)));
        calls.filter_map(|run| self.ledger.call(run)).any(|call| &*call.name == "conclude")
    }

    /// The recorded question of this key. Looks first where the last pass found it.
    fn recorded(&mut self, key: &impl Key) -> Flow<Found<'a>> {
        let asked = self.asked;
        let is = |next: &Asked| match key.number() {
            Some(number) if self.prefix.is_empty() => next.number == Some(number),
            _ => next.key.strip_prefix(self.prefix.as_str()).is_some_and(|rest| key.is(rest)),
        };
        if let Some(next) = asked.get(self.pass.reads.in_order).filter(|next| is(next)) {
            self.pass.reads.in_order += 1;
            return Ok(Found::Next(next));
        }
        self.out_of_order(key.within(&self.prefix))
    }

    fn out_of_order(&mut self, name: Str) -> Flow<Found<'a>> {
        let known = if self.asked.is_empty() { None } else { self.ledger.asked(self.scope, &name) };
        let at = known.and_then(|a| a.asked_at).map(|at| at as usize);
        let found = at.and_then(|at| self.asked.get(at));
        let before = at.is_some_and(|at| at < self.pass.reads.in_order);
        if before || !self.pass.used.insert(name.clone()) {
            return Err(self.fail(format!("key `{name}` is asked twice in one pass; name each question differently, or use `within`")));
        }
        Ok(found.map_or(Found::New(name), Found::Apart))
    }

    /// What a recorded question was asked of whom in which words.
    fn words(&self, asked: &Asked) -> (&'a str, &'a str) {
        match self.ledger.event(asked.started_seq) {
            Some(Event::ActivationStarted { agent, prompt, .. }) => (agent, prompt),
            _ => ("", ""),
        }
    }

    fn is_same(&self, agent: &str, asked: &Asked, prompt: &str) -> bool {
        self.words(asked) == (agent, prompt)
    }

    /// A recorded question in other words: the older one is superseded, where something was read that was not known yet
    /// when it was asked.
    fn ask_anew(&mut self, agent: &str, asked: &'a Asked, prompt: Str, via: Via) -> Flow<Reply<'a>> {
        if !self.pass.reads.any_since(self.asked, asked.started_seq) {
            let why = format!(
                "key `{}` was asked of `{}` in other words and is now asked of `{agent}`; the same key needs the same question",
                asked.key,
                self.words(asked).0
            );
            return Err(self.fail(why));
        }
        self.pass.waiting = true;
        if asked.answer.is_none() {
            return Err(Halt(()));
        }
        let key = asked.key.clone();
        self.begin(agent, key, prompt, via)
    }

    /// The answer to the question that was just found in order. `Reads` knows of it by that.
    fn read(&mut self, asked: &'a Asked) -> Flow<Reply<'a>> {
        match asked.answer {
            Some(result) => Ok(Reply { ledger: self.ledger, result }),
            None => {
                self.pass.waiting = true;
                Err(Halt(()))
            }
        }
    }

    fn read_apart(&mut self, asked: &'a Asked) -> Flow<Reply<'a>> {
        let reply = self.read(asked)?;
        self.pass.reads.add(Read { result: reply.result, seq: asked.answer_seq, asked: asked.started_seq });
        Ok(reply)
    }

    fn begin(&mut self, agent: &str, key: Str, prompt: Str, via: Via) -> Flow<Reply<'a>> {
        let Some(known) = self.agents.get(agent) else {
            return Err(self.fail(format!("no agent is called `{agent}`; add it to the run's agents")));
        };
        let rules = match &known.machine {
            Machine::Mode(mode) => Some(Box::new(mode.rules())),
            Machine::Loop => None,
        };
        let rests_on = self.pass.reads.frontier(self.asked).into_boxed_slice();
        self.pass.events.push(Event::ActivationStarted { parent: self.scope, agent: known.name.clone(), key, prompt, via, rests_on, rules });
        self.pass.waiting = true;
        Err(Halt(()))
    }
}

/// Side by side: every question has been asked by the time that this looks at the answers.
pub fn all<T>(flows: impl IntoIterator<Item = Flow<T>>) -> Flow<Vec<T>> {
    let flows: Vec<Flow<T>> = flows.into_iter().collect();
    flows.into_iter().collect()
}
