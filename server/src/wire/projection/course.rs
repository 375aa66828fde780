//! The course of a run: what it is told, how it is stopped and taken up again. What an agent is told by the gate, a
//! guard or the loop is never said: only that it was told, and why.

use super::View;
use crate::wire::event::WireEvent;
use countersign::event::Cause;
use countersign::{CancelWhen, Event, GuardVerdict, NodeId, NudgeBy, ROOT, ResumedBy};

/// What a reader is shown of a record of this kind. Others are told elsewhere, so nothing is said of them here.
pub(super) fn of(view: &View<'_>, event: &Event) -> Vec<WireEvent> {
    match event {
        Event::RunStarted(_) => view.progress("the run has begun", None),
        Event::ModelFailed { activation, .. } => view.progress("a call of the model failed", Some(view.agent(*activation))),
        Event::ToolStarted { call } => named(view, *call, "is running"),
        Event::BackgroundStarted { activation, .. } => view.progress("work goes on in the background", Some(view.agent(*activation))),
        Event::CandidateMade(made) => view.progress("a mode inside the run has an answer", Some(view.agent(made.by))),
        Event::GuardSpoke { guard, verdict, .. } => view.progress(guarded(guard, verdict), None),
        Event::Decided { scope, decision, .. } if *scope != ROOT => {
            let note = if decision.finalizable { "a mode inside the run is done" } else { "a mode inside the run is not done yet" };
            view.progress(note, Some(view.agent(*scope)))
        }
        Event::Nudged { activation, by, .. } => nudged(view, *activation, *by),
        Event::Continued { activation } => {
            vec![WireEvent::FinalizationAutoContinue { agent: view.agent(*activation), context_injection: false }]
        }
        Event::InputQueued { .. } => view.progress("a message waits until the answer would be accepted", None),
        Event::InputArrived { activation, .. } => view.progress("a message was read", Some(view.agent(*activation))),
        Event::Attested { by, rule, .. } => view.progress(format!("rule `{rule}` is attested"), Some(view.agent(*by))),
        Event::Edited { .. } => view.progress("something changed outside the run", None),
        Event::CancelRequested { when, .. } => view.progress(cancelling(*when), None),
        Event::Stopped { cause, .. } => view.progress(stopped(*cause), None),
        Event::Crashed => view.progress("the process of the run died", None),
        Event::Resumed { by: ResumedBy::Person, .. } => view.progress("the run was taken up again by a person", None),
        Event::Resumed { by: ResumedBy::Crash, .. } => view.progress("the run was taken up again after its process was gone", None),
        Event::Retried { call, .. } => named(view, *call, "is run again"),
        Event::Note { kind, .. } => view.progress(format!("a fact of kind `{kind}` was recorded"), None),
        Event::ActivationStarted { .. }
        | Event::ModelReplied { .. }
        | Event::ApprovalRequested { .. }
        | Event::ApprovalSettled { .. }
        | Event::QuestionAsked { .. }
        | Event::QuestionAnswered { .. }
        | Event::ToolSettled { .. }
        | Event::LateResult { .. }
        | Event::BackgroundEnded { .. }
        | Event::Returned { .. }
        | Event::PlanMade { .. }
        | Event::StepSettled { .. }
        | Event::StepReopened { .. }
        | Event::Reconciled { .. }
        | Event::ActivationEnded { .. }
        | Event::Decided { .. } => Vec::new(),
    }
}

fn named(view: &View<'_>, call: NodeId, what: &str) -> Vec<WireEvent> {
    let Some(run) = view.ledger.tool_run(call) else { return Vec::new() };
    let name = view.ledger.call(run).map(|call| call.name.clone()).unwrap_or_default();
    view.progress(format!("`{name}` {what}"), Some(view.agent(run.activation)))
}

fn guarded(guard: &str, verdict: &GuardVerdict) -> String {
    match verdict {
        GuardVerdict::Accept => format!("guard `{guard}` accepts the answer"),
        GuardVerdict::Nudge(_) => format!("guard `{guard}` asks for a second look"),
        GuardVerdict::Stop(_) => format!("guard `{guard}` ends the run"),
        GuardVerdict::Panicked(_) => format!("guard `{guard}` panicked"),
    }
}

fn nudged(view: &View<'_>, activation: NodeId, by: NudgeBy) -> Vec<WireEvent> {
    let why = match by {
        NudgeBy::Gate => "something is missing, and the agent goes on with it",
        NudgeBy::Guard => "a guard asked for a second look, and the agent takes it",
        NudgeBy::Hook => "a hook asked the agent to go on",
        NudgeBy::Repeat => "the agent made the same call over and over, and was told so",
        NudgeBy::Format => "the agent was reminded of the form in which it has to end",
    };
    let note = WireEvent::Progress { phase: view.phase, note: why.to_owned(), agent: Some(view.agent(activation)) };
    vec![note, WireEvent::Nudge { agent: view.agent(activation), note: why.to_owned() }]
}

fn cancelling(when: CancelWhen) -> &'static str {
    match when {
        CancelWhen::AtOnce => "the run is being cancelled",
        CancelWhen::AfterReply => "the run is cancelled once the model has replied",
        CancelWhen::AfterTools => "the run is cancelled once its tools are done",
    }
}

fn stopped(cause: Cause) -> String {
    match cause {
        Cause::Pause => "the run stands still until it is taken up again".to_owned(),
        _ => format!("the loop stopped ({})", cause.name()),
    }
}
