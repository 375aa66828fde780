//! What agents and tools do. One arm each: a new kind of fact has to be given a place here.

use super::{View, clipped, concludes, course};
use crate::wire::event::{PlanStep, WireEvent};
use countersign::ledger::{StepState, ToolRun};
use countersign::{Call, CallKind, Event, NodeId, NodeKind, Outcome, Str};

/// What a reader is shown of a record that neither is a candidate of the run nor a ruling on it.
pub(super) fn of(view: &View<'_>, event: &Event) -> Vec<WireEvent> {
    match event {
        Event::ActivationStarted { agent, .. } => started(view, agent),
        Event::ModelReplied { activation, text, calls, extra, .. } => {
            let reasoning = extra.as_ref().and_then(|e| e.reasoning.clone());
            replied(view, *activation, text, reasoning, calls)
        }
        Event::ApprovalRequested { on } => requested(view, *on),
        Event::ApprovalSettled { approval, granted, by, why, .. } => {
            vec![WireEvent::ApprovalResolved { approval: *approval, granted: *granted, by: by.clone(), why: why.clone() }]
        }
        Event::QuestionAsked { activation, text, .. } => {
            let question = view.ledger.open().questions.iter().next_back();
            let asked = |question| WireEvent::QuestionAsked { question, agent: view.agent(*activation), text: text.clone() };
            question.map(asked).into_iter().collect()
        }
        Event::QuestionAnswered { question, text } => vec![WireEvent::QuestionAnswered { question: *question, text: text.clone() }],
        Event::ToolSettled { call, outcome, text, .. } => settled(view, *call, *outcome, text, false),
        Event::LateResult { call, outcome, text } => settled(view, *call, *outcome, text, true),
        Event::BackgroundEnded { job, outcome, text } => ended(view, *job, *outcome, text),
        Event::Returned { call, .. } => returned(view, *call),
        Event::PlanMade { scope, .. } => plan(view, *scope),
        Event::StepSettled { step, .. } | Event::StepReopened { step, .. } => {
            view.ledger.step(*step).map(|s| s.scope).map_or_else(Vec::new, |scope| plan(view, scope))
        }
        Event::Reconciled { by, dispositions, resolved } => {
            vec![WireEvent::ReasoningChain { agent: view.agent(*by), dispositions: dispositions.clone(), resolved: resolved.clone() }]
        }
        Event::ActivationEnded { activation, outcome, text, .. } if !concludes(view.ledger, *activation) => {
            let (activation, agent) = (*activation, view.agent(*activation));
            vec![WireEvent::AgentReply { activation, agent, outcome: *outcome, text: clipped(text) }]
        }
        // The words of whoever concludes are a candidate, or nothing.
        Event::ActivationEnded { .. } => Vec::new(),
        other => course::of(view, other),
    }
}

fn started(view: &View<'_>, agent: &Str) -> Vec<WireEvent> {
    let plans = view.ledger.rules(countersign::ROOT).is_some_and(|rules| rules.planner.as_ref() == Some(agent));
    match plans {
        true => vec![WireEvent::Planning { agent: agent.clone() }],
        false => view.progress(format!("`{agent}` is at work"), Some(agent.clone())),
    }
}

/// Words beside calls are thoughts; words alone are a candidate or a result, and told as such.
fn replied(view: &View<'_>, activation: NodeId, text: &Str, reasoning: Option<Str>, calls: &[Call]) -> Vec<WireEvent> {
    let agent = view.agent(activation);
    let said = Some(text.clone()).filter(|text| !calls.is_empty() && !text.trim().is_empty());
    let thoughts = reasoning.into_iter().chain(said).map(|text| WireEvent::Thinking { agent: agent.clone(), text: clipped(&text) });
    let made = view.ledger.activation(activation).map(|a| a.calls.clone()).unwrap_or_default();
    let acts = made.map(NodeId).filter_map(|node| called(view, view.ledger.tool_run(node)?));
    thoughts.chain(acts).collect()
}

/// A call. One that ends its agent carries what may be the answer, so it is not told; what the loop answers itself
/// is told as what comes of it.
fn called(view: &View<'_>, run: &ToolRun) -> Option<WireEvent> {
    let call = view.ledger.call(run)?;
    match run.declared.kind {
        CallKind::Run | CallKind::Delegate => Some(WireEvent::ToolCall {
            call: run.id,
            reference: view.ledger.reference(run.id),
            agent: view.agent(run.activation),
            name: call.name.clone(),
            arguments: clipped(&call.args),
        }),
        CallKind::Transfer => Some(WireEvent::Transfer { call: run.id, to: target(&call.name), returned: false }),
        CallKind::Terminal | CallKind::Loop => None,
    }
}

fn target(tool: &str) -> Str {
    countersign::ledger::target(tool).into()
}

fn requested(view: &View<'_>, on: NodeId) -> Vec<WireEvent> {
    let Some(approval) = view.ledger.open().approvals.iter().next_back() else { return Vec::new() };
    let run = view.ledger.tool_run(on);
    let step = || view.ledger.step(on).and_then(|step| view.ledger.step_spec(step)).map(|spec| spec.id.clone());
    let name = run.and_then(|run| view.ledger.call(run)).map(|call| call.name.clone()).or_else(step).unwrap_or_default();
    let arguments = run.and_then(|run| view.ledger.args(run)).cloned();
    vec![WireEvent::ApprovalRequested { approval, on: view.ledger.reference(on), name, arguments }]
}

fn settled(view: &View<'_>, call: NodeId, outcome: Outcome, text: &Str, late: bool) -> Vec<WireEvent> {
    let Some(run) = view.ledger.tool_run(call).filter(|run| run.declared.kind == CallKind::Run) else { return Vec::new() };
    let name = view.ledger.call(run).map(|call| call.name.clone()).unwrap_or_default();
    vec![WireEvent::ToolResult { call, name, outcome, text: clipped(text), late }]
}

fn ended(view: &View<'_>, job: NodeId, outcome: Outcome, text: &Str) -> Vec<WireEvent> {
    let call = view.ledger.job(job).and_then(|job| job.call);
    let name = call.and_then(|call| view.ledger.call(view.ledger.tool_run(call)?)).map(|call| call.name.clone()).unwrap_or_default();
    vec![WireEvent::ToolResult { call: call.unwrap_or(job), name, outcome, text: clipped(text), late: false }]
}

/// The result itself was told when its author ended.
fn returned(view: &View<'_>, call: NodeId) -> Vec<WireEvent> {
    let Some(run) = view.ledger.tool_run(call) else { return Vec::new() };
    let name = view.ledger.call(run).map(|call| call.name.clone()).unwrap_or_default();
    match view.ledger.data(call).map(|data| data.kind) {
        Some(NodeKind::Transfer) => vec![WireEvent::Transfer { call, to: target(&name), returned: true }],
        _ => view.progress(format!("the result of `{name}` is back"), Some(view.agent(run.activation))),
    }
}

fn plan(view: &View<'_>, scope: NodeId) -> Vec<WireEvent> {
    let Some(plan) = view.ledger.current_plan(scope) else { return Vec::new() };
    let step = |node: &NodeId| {
        let step = view.ledger.step(*node)?;
        let spec = view.ledger.step_spec(step)?;
        Some(PlanStep { step: step.id, id: spec.id.clone(), text: spec.text.clone(), state: state(step.state) })
    };
    vec![WireEvent::Plan { steps: plan.steps.iter().filter_map(step).collect() }]
}

fn state(state: StepState) -> &'static str {
    match state {
        StepState::Open => "open",
        StepState::Done => "done",
        StepState::CutOff => "cut_off",
        StepState::Blocked => "blocked",
        StepState::Dropped => "dropped",
    }
}
