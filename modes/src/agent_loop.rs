//! One agent: a model, its tools, and a transcript that the ledger keeps. Advances by one turn at a time.

use crate::agent::{Agent, Agents, Machine};
use crate::closing::{had_its_chances, last_words};
use crate::output::{AttestArgs, Ended, RecordArgs};
use crate::tool::{Parse, ToolKind, ToolSpec};
use crate::want::{Act, Out};
use countersign_core::ledger::{Activation, Ledger, ToolRun};
use countersign_core::{Call, Cause, Event, Finish, NodeId, NudgeBy, Outcome, RunState, Str, Via};
use serde::de::DeserializeOwned;

/// How often an agent is reminded of the form in which it has to end.
const REMINDERS: u32 = 2;

pub(crate) fn agent_loop(ledger: &Ledger, agents: &Agents, agent: &Agent, act: &Activation, out: &mut Out) {
    if act.due {
        return match last_word(ledger, act) {
            Some(text) => out.events.push(ended(act.id, Outcome::Completed, text)),
            None => turn(ledger, agent, act, out),
        };
    }
    if act.last_reply.is_none() {
        return;
    }
    if act.calls.is_empty() {
        return finish(ledger, agent, act, out);
    }
    if let Some((cause, why)) = over_called(ledger) {
        return out.events.push(Event::Stopped { cause, why: why.into() });
    }
    let lone = act.calls.len() == 1;
    for node in act.calls.clone().map(NodeId) {
        if let Some(run) = ledger.tool_run(node)
            && let Some(call) = ledger.call(run)
        {
            One { ledger, agents, agent, act, run, call, lone }.advance(out);
        }
    }
}

/// The words of the specialist to whom this agent handed the answer over for good: it takes no further turn.
fn last_word(ledger: &Ledger, act: &Activation) -> Option<Str> {
    let call = ledger.terminal_transfer().filter(|call| act.calls.contains(&call.0))?;
    let result = ledger.tool_run(call)?.child.and_then(|c| ledger.activation(c))?.result?;
    match ledger.made_by(result)? {
        Event::ActivationEnded { text, .. } => Some(text.clone()),
        _ => None,
    }
}

/// The model's next turn, unless a limit stands in its way.
fn turn(ledger: &Ledger, agent: &Agent, act: &Activation, out: &mut Out) {
    let (limits, totals) = (ledger.limits(), ledger.totals());
    let tokens = totals.usage.input_tokens + totals.usage.output_tokens;
    let stop = match () {
        () if totals.turns >= limits.turns => Some((Cause::TurnLimit, format!("{} turns were taken", totals.turns))),
        () if tokens > limits.tokens => Some((Cause::Budget, format!("{tokens} tokens were used"))),
        () if totals.usage.cost_micros > limits.cost_micros => Some((Cause::Budget, "the cost limit was reached".into())),
        () if ledger.seq() >= limits.events => Some((Cause::Budget, format!("{} events were recorded", ledger.seq()))),
        () if act.repeats >= limits.repeats.saturating_mul(2) => Some((Cause::Repeating, "the same call gave the same result over and over".into())),
        () => None,
    };
    if let Some((cause, why)) = stop {
        return out.events.push(Event::Stopped { cause, why: why.into() });
    }
    if act.failures > ledger.policy().retries {
        return out.events.push(ended(act.id, Outcome::Failed, last_failure(ledger, act)));
    }
    if agent.turns.is_some_and(|most| act.turns >= most) {
        return out.events.push(ended(act.id, Outcome::CutOff, last_words(ledger, act.id)));
    }
    if act.repeats >= limits.repeats && !act.told {
        let text = "You have made the same call and got the same result several times. Do something else, or conclude with what you have.";
        return out.events.push(Event::Nudged { activation: act.id, by: NudgeBy::Repeat, text: text.into() });
    }
    out.acts.push(Act::CallModel(act.id));
}

/// The limit on calls or transfers that the newest reply went over: none of its calls is begun then.
fn over_called(ledger: &Ledger) -> Option<(Cause, String)> {
    let (limits, totals) = (ledger.limits(), ledger.totals());
    match () {
        () if totals.tool_calls > limits.tool_calls => Some((Cause::Budget, format!("{} tools were called", totals.tool_calls))),
        () if totals.transfers > limits.transfers => Some((Cause::TransferLimit, format!("{} transfers were asked for", totals.transfers))),
        () if totals.same_transfers.1 > limits.same_transfers => Some((Cause::TransferLimit, "the same transfer came over and over".into())),
        () => None,
    }
}

/// A reply without calls ends the activation, unless the agent owes structured output.
fn finish(ledger: &Ledger, agent: &Agent, act: &Activation, out: &mut Out) {
    let Some((text, finish, _)) = act.last_reply.and_then(|n| ledger.reply(n)) else { return };
    let required = agent.tools.values().find_map(|tool| match &tool.kind {
        ToolKind::Terminal { parse, required: true } => Some((&tool.name, parse)),
        _ => None,
    });
    if let Some((name, parse)) = required {
        return owed(ledger, act, text, name, parse, out);
    }
    let outcome = match finish {
        Finish::Length | Finish::ContentFilter | Finish::Refusal => Outcome::CutOff,
        Finish::Stop | Finish::ToolCalls if text.trim().is_empty() => Outcome::Empty,
        Finish::Stop | Finish::ToolCalls => Outcome::Completed,
    };
    out.events.push(ended(act.id, outcome, text.clone()));
}

/// Prose where structured output is owed: taken where it fits, else the agent is reminded, a bounded number of times.
fn owed(ledger: &Ledger, act: &Activation, text: &Str, name: &Str, parse: &Parse, out: &mut Out) {
    match parse(ledger, act.id, text) {
        Ok(done) => conclude(act, done, out),
        Err(_) if act.reminders < REMINDERS => {
            let text = format!("End by calling `{name}`; prose is not read.").into();
            out.events.push(Event::Nudged { activation: act.id, by: NudgeBy::Format, text });
        }
        Err(why) => out.events.push(ended(act.id, Outcome::Failed, format!("did not end by `{name}`: {why}").into())),
    }
}

/// One call of the newest reply, and what it needs next.
struct One<'a> {
    ledger: &'a Ledger,
    agents: &'a Agents,
    agent: &'a Agent,
    act: &'a Activation,
    run: &'a ToolRun,
    call: &'a Call,
    lone: bool,
}

impl One<'_> {
    fn advance(&self, out: &mut Out) {
        match self.run.state {
            RunState::Requested => self.requested(out),
            RunState::Running => self.come_back(out),
            RunState::AwaitingApproval | RunState::AwaitingAnswer | RunState::Background | RunState::Lost | RunState::Settled(_) => {}
        }
    }

    fn requested(&self, out: &mut Out) {
        let Some(tool) = self.agent.tools.get(&self.call.name) else {
            let known: Vec<&str> = self.agent.tools.keys().map(|k| &**k).collect();
            return self.settle(out, Outcome::Failed, &format!("there is no tool `{}`; there are: {}", self.call.name, known.join(", ")));
        };
        match &tool.kind {
            ToolKind::Run(declared) if declared.approval && !self.run.granted => out.events.push(Event::ApprovalRequested { on: self.run.id }),
            ToolKind::Run(_) => self.run(tool, out),
            ToolKind::Delegate { agent } | ToolKind::Transfer { agent, .. } => self.hand_over(agent, out),
            ToolKind::Terminal { parse, .. } => self.end(parse, out),
            ToolKind::AskUser => {
                let text = read::<serde_json::Value>(&self.call.args).ok().and_then(|v| v.get("question")?.as_str().map(Str::from));
                match text.filter(|t| !t.trim().is_empty()) {
                    Some(text) => out.events.push(Event::QuestionAsked { activation: self.act.id, call: Some(self.run.id), text }),
                    None => self.settle(out, Outcome::Failed, "say what to ask, in `question`"),
                }
            }
            ToolKind::Attest => self.attest(out),
            ToolKind::Record => self.record(out),
        }
    }

    fn run(&self, tool: &ToolSpec, out: &mut Out) {
        let declared = tool.declared();
        if declared.background {
            let what = self.call.name.clone();
            out.events.push(Event::BackgroundStarted { activation: self.act.id, call: Some(self.run.id), what });
        } else if !declared.idempotent {
            out.events.push(Event::ToolStarted { call: self.run.id });
        }
        out.acts.push(Act::RunTool(self.run.id));
    }

    fn hand_over(&self, to: &Str, out: &mut Out) {
        let task = read::<serde_json::Value>(&self.call.args).ok().and_then(|v| v.get("task")?.as_str().map(Str::from));
        let Some(prompt) = task.filter(|t| !t.trim().is_empty()) else {
            return self.settle(out, Outcome::Failed, "say what is to be done, in `task`");
        };
        if self.depth() > self.ledger.limits().depth {
            return self.settle(out, Outcome::Rejected, "sub-agents may not go deeper here; do it yourself");
        }
        let Some(agent) = self.agents.get(to) else {
            return self.settle(out, Outcome::Failed, &format!("there is no agent `{to}`"));
        };
        let rules = match &agent.machine {
            Machine::Mode(mode) => Some(Box::new(mode.rules())),
            Machine::Loop => None,
        };
        let key = format!("call/{}", self.run.id).into();
        let via = Via::Call(self.run.id);
        out.events.push(Event::ActivationStarted { parent: self.act.id, agent: agent.name.clone(), key, prompt, via, rests_on: Box::new([]), rules });
    }

    /// How many sub-agents a new one would make in a row.
    fn depth(&self) -> u32 {
        let mut depth = 1;
        let mut at = Some(self.act);
        while let Some(act) = at {
            depth += u32::from(matches!(act.via, Via::Call(_)));
            at = act.parent.and_then(|p| self.ledger.activation(p));
        }
        depth
    }

    /// A sub-agent that has ended gives its result back, once.
    fn come_back(&self, out: &mut Out) {
        let child = self.run.child.and_then(|c| self.ledger.activation(c));
        let Some(result) = child.filter(|c| !c.open).and_then(|c| c.result) else { return };
        out.events.push(Event::Returned { call: self.run.id, result });
    }

    /// A terminal call. Beside other calls it was written before their results were known.
    fn end(&self, parse: &Parse, out: &mut Out) {
        if !self.lone {
            return self.settle(out, Outcome::Rejected, "call it alone, once the other results are in");
        }
        match parse(self.ledger, self.act.id, &self.call.args) {
            Err(why) => {
                self.settle(out, Outcome::Failed, &format!("does not fit: {why}"));
                // This one is not settled yet.
                if had_its_chances(self.ledger, self.act.id, 1) {
                    out.events.push(ended(self.act.id, Outcome::CutOff, format!("did not end by `{}`: {why}", self.call.name).into()));
                }
            }
            Ok(done) => {
                self.settle(out, Outcome::Completed, "recorded");
                conclude(self.act, done, out);
            }
        }
    }

    fn attest(&self, out: &mut Out) {
        match read::<AttestArgs>(&self.call.args).and_then(|args| Ok((self.known(&args.refs)?, args))) {
            Ok((refs, args)) if self.ledger.policy().governance.as_ref().is_some_and(|g| g.rules.iter().any(|r| *r.id == *args.rule)) => {
                let (rule, statement) = (args.rule.as_str().into(), args.statement.as_str().into());
                out.events.push(Event::Attested { by: self.act.id, rule, statement, refs, waived: args.waived.as_deref().map(Str::from) });
                self.settle(out, Outcome::Completed, "attested");
            }
            Ok((_, args)) => self.settle(out, Outcome::Failed, &format!("the governance profile has no rule `{}`", args.rule)),
            Err(why) => self.settle(out, Outcome::Failed, &why),
        }
    }

    fn record(&self, out: &mut Out) {
        match read::<RecordArgs>(&self.call.args).and_then(|args| Ok((self.known(&args.refs)?, args))) {
            Ok((mut rests_on, args)) => {
                rests_on.push(self.act.id);
                let data = serde_json::to_string(&args.fact).unwrap_or_default().into();
                out.events.push(Event::Note { kind: args.kind.as_str().into(), data, rests_on });
                self.settle(out, Outcome::Completed, "recorded");
            }
            Err(why) => self.settle(out, Outcome::Failed, &why),
        }
    }

    fn known(&self, refs: &[u32]) -> Result<Vec<NodeId>, String> {
        let known = |n: &u32| self.ledger.data(NodeId(*n)).map(|_| NodeId(*n)).ok_or_else(|| format!("nothing has the id {n}"));
        refs.iter().map(known).collect()
    }

    fn settle(&self, out: &mut Out, outcome: Outcome, text: &str) {
        out.events.push(Event::ToolSettled { call: self.run.id, outcome, text: text.into(), cut: None });
    }
}

/// Ends an activation with what its terminal call came to.
fn conclude(act: &Activation, done: Ended, out: &mut Out) {
    if !done.dispositions.is_empty() || !done.resolved.is_empty() {
        out.events.push(Event::Reconciled { by: act.id, dispositions: done.dispositions, resolved: done.resolved });
    }
    let (text, data, report) = (done.text.into(), done.data.map(Str::from), done.report.map(Box::new));
    out.events.push(Event::ActivationEnded { activation: act.id, outcome: Outcome::Completed, text, data, report });
}

fn ended(activation: NodeId, outcome: Outcome, text: Str) -> Event {
    Event::ActivationEnded { activation, outcome, text, data: None, report: None }
}

/// What the provider said when it failed for good.
fn last_failure(ledger: &Ledger, act: &Activation) -> Str {
    let failure = ledger.log().iter().rev().find_map(|r| match &r.event {
        Event::ModelFailed { activation, why, .. } if *activation == act.id => Some(why.clone()),
        _ => None,
    });
    failure.unwrap_or_else(|| "the model failed".into())
}

fn read<T: DeserializeOwned>(args: &str) -> Result<T, String> {
    serde_json::from_str(args).map_err(|e| format!("the arguments do not fit: {e}"))
}
