//! The one place that says what happens next in an activation. Pure: ledger in, facts and acts out.

use crate::agent::{Agents, Machine};
use crate::agent_loop::agent_loop;
use crate::closing::closing;
use crate::mode::Mode;
use crate::want::Out;
use crate::work::{Pass, Work};
use countersign_core::ledger::Ledger;
use countersign_core::{Cause, Event, NodeId, Outcome, ROOT, Record, Str};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What happens next in an activation. Nothing, where it has ended or waits.
pub fn step(ledger: &Ledger, agents: &Agents, mode: &dyn Mode, activation: NodeId, out: &mut Out) {
    let Some(act) = ledger.activation(activation).filter(|a| a.open) else { return };
    if ledger.has_ended() || ledger.totals().stop.is_some() {
        return;
    }
    if activation == ROOT {
        return advance(ledger, agents, mode, activation, out);
    }
    match agents.get(&act.agent) {
        Some(agent) => match &agent.machine {
            Machine::Mode(inner) => advance(ledger, agents, &**inner, activation, out),
            Machine::Loop => agent_loop(ledger, agents, agent, act, out),
        },
        None => {
            let text: Str = format!("no agent is called `{}`", act.agent).into();
            out.events.push(Event::ActivationEnded { activation, outcome: Outcome::Failed, text, data: None, report: None });
        }
    }
}

/// Runs a mode from the top. It ends in a candidate, or in what it waits for.
fn advance(ledger: &Ledger, agents: &Agents, mode: &dyn Mode, scope: NodeId, out: &mut Out) {
    let mut pass = Pass::default();
    let flow = catch_unwind(AssertUnwindSafe(|| mode.advance(&mut Work::new(ledger, agents, scope, &mut pass))));
    out.passes += 1;
    let (answer, panicked) = match flow {
        Ok(Ok(answer)) => (Some(answer), None),
        Ok(Err(_)) => (None, None),
        Err(panic) => (None, Some(format!("the mode panicked: {}", message(&*panic)))),
    };
    let stuck = answer.is_none() && !pass.waiting;
    let nothing = || stuck.then(|| (Cause::ModeError, "the mode waits for nothing: it returned an error that `Work` did not give it".into()));
    let failed = panicked.or(pass.error).map(|why| (Cause::ModeError, why));
    match failed.or(pass.stop).or_else(nothing) {
        Some((cause, why)) if scope == ROOT => out.events.push(Event::Stopped { cause, why: why.into() }),
        // A mode used as an agent fails as an agent does: its parent decides what that means.
        Some((cause, why)) => {
            out.events.append(&mut closing(ledger, scope, Outcome::Cancelled, "the mode that asked for it ended"));
            let outcome = match cause {
                Cause::TurnLimit | Cause::ReplanLimit | Cause::TransferLimit | Cause::Budget => Outcome::CutOff,
                Cause::Timeout => Outcome::TimedOut,
                _ => Outcome::Failed,
            };
            out.events.push(Event::ActivationEnded { activation: scope, outcome, text: why.into(), data: None, report: None });
        }
        None => {
            if out.events.is_empty() {
                out.events = pass.events;
            } else {
                out.events.append(&mut pass.events);
            }
            out.answer = answer;
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

/// Whose machine may have something to do after this event.
pub fn touched(ledger: &Ledger, record: &Record) -> Option<NodeId> {
    let newest = || NodeId(ledger.node_count().saturating_sub(1));
    match &record.event {
        Event::RunStarted(_) => Some(ROOT),
        Event::ActivationStarted { .. } => Some(newest()),
        Event::ModelReplied { activation, .. }
        | Event::ModelFailed { activation, .. }
        | Event::Nudged { activation, .. }
        | Event::Continued { activation }
        | Event::InputArrived { activation, .. } => Some(*activation),
        Event::ToolSettled { call, .. } | Event::Returned { call, .. } | Event::Retried { call, .. } => Some(ledger.owner(*call)),
        Event::ApprovalSettled { approval, .. } => Some(ledger.owner(*approval)),
        Event::BackgroundStarted { activation, .. } => Some(*activation),
        Event::BackgroundEnded { job, .. } => Some(ledger.owner(*job)),
        Event::QuestionAnswered { question, .. } => Some(ledger.owner(*question)),
        Event::ActivationEnded { activation, .. } => ledger.activation(*activation).and_then(|a| a.parent),
        Event::PlanMade { scope, .. } => Some(*scope),
        Event::ApprovalRequested { .. }
        | Event::QuestionAsked { .. }
        | Event::ToolStarted { .. }
        | Event::LateResult { .. }
        | Event::StepSettled { .. }
        | Event::StepReopened { .. }
        | Event::Reconciled { .. }
        | Event::CandidateMade(_)
        | Event::GuardSpoke { .. }
        | Event::Decided { .. }
        | Event::Attested { .. }
        | Event::InputQueued { .. }
        | Event::Edited { .. }
        | Event::CancelRequested { .. }
        | Event::Stopped { .. }
        | Event::Crashed
        | Event::Resumed { .. }
        | Event::Note { .. } => None,
    }
}
