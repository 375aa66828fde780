//! A candidate: guards look at it, the gate rules, and what it says is done.

use super::Driver;
use crate::error::DriveError;
use crate::guard::{GuardSaid, GuardState, ToolUse};
use countersign_core::ledger::{Ledger, RunState};
use countersign_core::{
    CandidateMade, Cause, Decision, Event, Finish, GuardVerdict, Next, NodeId, NudgeBy, Outcome, ROOT, Reason, ResumedBy, Status, Str,
};
use countersign_modes::{Answer, closing};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Driver {
    /// Takes in what a mode would like to be the answer, and does what the gate says.
    pub(super) fn consider(&mut self, scope: NodeId, answer: Answer) -> Result<(), DriveError> {
        if self.is_known(scope, &answer) {
            return self.rule_again(scope);
        }
        self.put(Event::CandidateMade(Box::new(CandidateMade {
            scope,
            by: answer.by,
            text: answer.text,
            form: answer.form,
            finish: answer.finish,
            from: answer.from,
            rests_on: answer.rests_on,
            uses: Vec::new(),
            synthesis: answer.synthesis,
            uncertainties: answer.uncertainties,
            next_actions: answer.next_actions,
        })))?;
        self.judge(scope)
    }

    /// Asks for a ruling on the newest candidate, those who look before it first.
    fn judge(&mut self, scope: NodeId) -> Result<(), DriveError> {
        if scope == ROOT && self.would_be_final() {
            self.ask_guards()?;
            if self.run.ledger().totals().stop.is_some() {
                return Ok(());
            }
            if self.read_follow_up()? {
                return Ok(());
            }
        }
        let decision = self.run.rule(scope, self.at_ms)?;
        self.go_on(scope, &decision)
    }

    /// A candidate that is known: a process may have died before it was ruled on, or before what the ruling
    /// says was done.
    fn rule_again(&mut self, scope: NodeId) -> Result<(), DriveError> {
        let ledger = self.run.ledger();
        let Some(ruled) = ledger.activation(scope).and_then(|a| a.ruled_seq) else { return self.judge(scope) };
        let since = ledger.log().get(ruled as usize..).unwrap_or_default();
        let untouched =
            since.iter().all(|r| matches!(r.event, Event::Crashed | Event::Resumed { .. } | Event::InputQueued { .. } | Event::LateResult { .. }));
        match ledger.event(ruled) {
            Some(Event::Decided { decision, .. }) if untouched => {
                let decision = decision.clone();
                self.go_on(scope, &decision)
            }
            _ => Ok(()),
        }
    }

    /// A mode that is run again ends in the same candidate.
    fn is_known(&self, scope: NodeId, answer: &Answer) -> bool {
        let ledger = self.run.ledger();
        let Some((node, ruled)) = ledger.activation(scope).and_then(|a| Some((a.candidate?, a.ruled_seq))) else { return false };
        // Not ruled on before its process died: it is offered again, since a ruling right after a resume would be
        // about the resume, and grant a turn that a crash does not grant.
        if ruled.is_none() && ledger.totals().just_resumed {
            return false;
        }
        let newer = ledger.activation(answer.by).and_then(|a| a.result).is_none_or(|result| node > result);
        newer && ledger.candidate(node).is_some_and(|c| c.by == answer.by && c.from == answer.from && c.text == answer.text)
    }

    /// Whether there is a reason to look before the gate's ruling is recorded, and it would let this through.
    fn would_be_final(&self) -> bool {
        let waits = self.parts.guards.iter().any(|g| g.guard.is_some()) || self.run.ledger().queued().is_some();
        waits && self.run.decide().finalizable
    }

    /// Does what a ruling says.
    pub(super) fn go_on(&mut self, scope: NodeId, decision: &Decision) -> Result<(), DriveError> {
        match decision.next {
            Next::Deliver if scope == ROOT => Ok(()),
            Next::Deliver => {
                let text = decision.final_text.clone().unwrap_or_default();
                self.put(Event::ActivationEnded { activation: scope, outcome: Outcome::Completed, text, data: None, report: None })
            }
            Next::Nudge | Next::ResumeRun => {
                let anybody = || if scope == ROOT { self.concluder() } else { None };
                let Some(activation) = self.concluding(scope).or_else(anybody) else { return Ok(()) };
                let by = if decision.completion_reason == Reason::GuardRejected { NudgeBy::Guard } else { NudgeBy::Gate };
                let text = self.what_is_missing(decision).into();
                self.put(Event::Nudged { activation, by, text })
            }
            Next::Continue => self.concluding(scope).map_or(Ok(()), |activation| self.put(Event::Continued { activation })),
            Next::Stop if scope != ROOT => {
                let why = format!("not final: {}", decision.completion_reason.name());
                for event in closing(self.run.ledger(), scope, Outcome::Cancelled, &why) {
                    self.put(event)?;
                }
                let outcome = if decision.status == Status::Blocked { Outcome::CutOff } else { Outcome::Failed };
                self.put(Event::ActivationEnded { activation: scope, outcome, text: why.into(), data: None, report: None })
            }
            // What is waited for comes by itself; the rest is for a person, or is over.
            Next::ReturnControl | Next::Wait | Next::AskHuman | Next::Stop | Next::None => Ok(()),
        }
    }

    /// The agent whose words a scope's candidate is: through nested modes, to the one who can say them again.
    fn concluding(&self, scope: NodeId) -> Option<NodeId> {
        let ledger = self.run.ledger();
        let mut by = ledger.candidate(ledger.activation(scope)?.candidate?)?.by;
        while let Some(inner) = ledger.activation(by).and_then(|a| a.candidate).and_then(|n| ledger.candidate(n)) {
            by = inner.by;
        }
        Some(by)
    }

    /// The agent to whom input from outside goes: who concluded, else who owns the answer, else who is at work.
    pub(super) fn concluder(&self) -> Option<NodeId> {
        let ledger = self.run.ledger();
        let owner = ledger.rules(ROOT).map(|r| r.concluder(ledger.policy()));
        let asked = || ledger.activations().iter().rev().filter(|a| a.parent == Some(ROOT));
        let owns = asked().find(|a| Some(&a.agent) == owner).or_else(|| asked().next());
        self.concluding(ROOT).or_else(|| owns.map(|a| a.id))
    }

    /// Asks every guard, where the finish is a normal one, and records what each says.
    fn ask_guards(&mut self) -> Result<(), DriveError> {
        let ledger = self.run.ledger();
        let Some(node) = ledger.activation(ROOT).and_then(|a| a.candidate) else { return Ok(()) };
        let Some(made) = ledger.candidate(node).filter(|c| is_normal(ledger, c)) else { return Ok(()) };
        let tools = tool_uses(ledger);
        let mut said = Vec::new();
        for (at, plugin) in self.parts.guards.iter().enumerate() {
            let Some(guard) = &plugin.guard else { continue };
            // Two guards of one name are told apart by their place.
            let name: Str = if self.parts.guards.len() > 1 { format!("{}#{at}", guard.name()).into() } else { guard.name().into() };
            let nudges = nudges_of(ledger, &name);
            let state = GuardState { final_text: &made.text, turns: ledger.totals().turns, tools: &tools, nudges };
            let verdict = match catch_unwind(AssertUnwindSafe(|| guard.check(&state))) {
                Ok(GuardSaid::Accept) => GuardVerdict::Accept,
                Ok(GuardSaid::Nudge(text)) if text.trim().is_empty() => GuardVerdict::Accept,
                Ok(GuardSaid::Nudge(text)) if nudges >= plugin.cap() => {
                    GuardVerdict::Stop(format!("still not satisfied after {nudges} nudges: {text}").into())
                }
                Ok(GuardSaid::Nudge(text)) => GuardVerdict::Nudge(text.into()),
                Ok(GuardSaid::Stop(why)) => GuardVerdict::Stop(why.into()),
                Err(panic) => GuardVerdict::Panicked(super::act::message(&*panic).into()),
            };
            said.push((name, verdict));
        }
        self.record_guards(node, said)
    }

    fn record_guards(&mut self, candidate: NodeId, said: Vec<(Str, GuardVerdict)>) -> Result<(), DriveError> {
        let mut stop = None;
        for (guard, verdict) in said {
            if let GuardVerdict::Stop(why) = &verdict {
                stop = Some(why.clone());
            }
            self.put(Event::GuardSpoke { candidate, guard, verdict })?;
        }
        stop.map_or(Ok(()), |why| self.stop(Cause::Guard, &why))
    }

    /// After an accepted finish, the next message that is waiting is read instead of ending the run.
    fn read_follow_up(&mut self) -> Result<bool, DriveError> {
        let Some((seq, text)) = self.run.ledger().queued().map(|(seq, text)| (seq, text.clone())) else { return Ok(false) };
        let Some(activation) = self.concluder().filter(|_| self.run.decide().finalizable) else { return Ok(false) };
        self.put(Event::InputArrived { activation, text, queued: Some(seq) })?;
        Ok(true)
    }

    /// What an agent is told: every finding, by name, with what would settle it.
    fn what_is_missing(&self, decision: &Decision) -> String {
        let mut text = String::from("This is not final yet.");
        for finding in &decision.missing_checks {
            let subjects: Vec<String> = finding.subjects.iter().map(ToString::to_string).collect();
            let _ = write!(text, "\n- {}: {}. {}", finding.check, finding.message, finding.remedy);
            if !subjects.is_empty() {
                let _ = write!(text, " [{}]", subjects.join(", "));
            }
        }
        text
    }
}

/// How often a guard has nudged since a person last granted a fresh allowance. Counted from the log, so that a
/// crash gives no guard another go.
fn nudges_of(ledger: &Ledger, name: &str) -> u32 {
    let granted = |e: &Event| matches!(e, Event::Resumed { by: ResumedBy::Person, started: true, .. });
    let events = ledger.log().iter().rev().map(|r| &r.event).take_while(|e| !granted(e));
    let nudged = |e: &&Event| matches!(e, Event::GuardSpoke { guard, verdict: GuardVerdict::Nudge(_), .. } if **guard == *name);
    u32::try_from(events.filter(nudged).count()).unwrap_or(u32::MAX)
}

/// A finish by text without calls, or by a synthesis. Not a cut, and not another terminal tool.
fn is_normal(ledger: &Ledger, made: &CandidateMade) -> bool {
    let by_tool = ledger.activation(made.by).is_some_and(|a| !a.calls.is_empty());
    made.finish == Finish::Stop && (made.synthesis || !by_tool)
}

fn tool_uses(ledger: &Ledger) -> Vec<ToolUse> {
    let named = |run: &countersign_core::ledger::ToolRun| {
        let name = ledger.call(run)?.name.clone();
        Some(ToolUse { name, allowed: run.state != RunState::Settled(Outcome::Rejected) })
    };
    ledger.tool_runs().iter().filter_map(named).collect()
}
