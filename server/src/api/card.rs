//! `GET /api/runs/{run}`: all that a task's card shows.

use super::openapi::{OfRun, doc};
use super::runs::Line;
use crate::extract::Owned;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{Phase, shown};
use axum::Json;
use axum::extract::State;
use countersign::{Decision, Ledger, NodeId, ROOT, Ref, Run, Str};
use serde::Serialize;
use utoipa::ToSchema;

/// A task's card.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Card {
    #[serde(flatten)]
    line: Line,
    #[schema(value_type = String)]
    task: Str,
    phase: Phase,
    message: Said,
    waiting: Waiting,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<doc::Ruling>)]
    decision: Option<Decision>,
}

/// What the user's message holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MessageHeld)]
struct Said {
    /// The answer, or why there will be none.
    #[schema(value_type = Option<String>)]
    content: Option<Str>,
    /// Text that is not final.
    #[schema(value_type = Option<String>)]
    candidate: Option<Str>,
    finalized: bool,
}

/// What people have to do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    approvals: Vec<WaitingApproval>,
    questions: Vec<WaitingQuestion>,
    lost: Vec<LostCall>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WaitingApproval {
    #[schema(value_type = u32)]
    approval: NodeId,
    #[schema(value_type = String)]
    on: Ref,
    #[schema(value_type = String)]
    name: Str,
    #[schema(value_type = String)]
    agent: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    arguments: Option<Str>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WaitingQuestion {
    #[schema(value_type = u32)]
    question: NodeId,
    #[schema(value_type = String)]
    agent: Str,
    #[schema(value_type = String)]
    text: Str,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LostCall {
    #[schema(value_type = u32)]
    call: NodeId,
    #[schema(value_type = String)]
    name: Str,
    #[schema(value_type = String)]
    agent: Str,
    #[schema(value_type = String)]
    arguments: Str,
}

/// `GET /api/runs/{run}`.
#[utoipa::path(
    get, path = "/api/runs/{run}", tag = "runs",
    params(("run" = String, Path, description = "the run")),
    responses((status = 200, description = "all that a card shows", body = Card), OfRun),
)]
pub(super) async fn show(State(state): State<AppState>, owned: Owned) -> Result<Json<Card>, Problem> {
    let run = state.runs().read(&owned.run).await?;
    let message = state.runs().journal().message(&owned.run.run).await?.unwrap_or_default();
    let ledger = run.ledger();
    Ok(Json(Card {
        task: ledger.started().map(|start| start.task.clone()).unwrap_or_default(),
        phase: Phase::of_log(ledger.log(), message.finalized),
        message: Said { content: message.content, candidate: message.candidate, finalized: message.finalized },
        waiting: Waiting::of(ledger),
        decision: decided(&run),
        line: owned.run.into(),
    }))
}

/// The newest recorded ruling, as people may see it. The answer's text stands in the message.
pub(super) fn decided(run: &Run) -> Option<Decision> {
    run.ledger().last_decision(ROOT).map(shown)
}

impl Waiting {
    fn of(ledger: &Ledger) -> Self {
        let open = ledger.open();
        Self {
            approvals: open.approvals.iter().filter_map(|node| WaitingApproval::of(ledger, node)).collect(),
            questions: open.questions.iter().filter_map(|node| WaitingQuestion::of(ledger, node)).collect(),
            lost: open.lost.iter().filter_map(|node| LostCall::of(ledger, node)).collect(),
        }
    }
}

fn agent(ledger: &Ledger, activation: NodeId) -> Str {
    ledger.activation(activation).map(|a| a.agent.clone()).unwrap_or_default()
}

impl WaitingApproval {
    fn of(ledger: &Ledger, approval: NodeId) -> Option<Self> {
        let on = ledger.approval(approval)?.on;
        let run = ledger.tool_run(on);
        let step = || ledger.step(on).and_then(|step| ledger.step_spec(step)).map(|spec| spec.id.clone());
        let name = run.and_then(|run| ledger.call(run)).map(|call| call.name.clone()).or_else(step).unwrap_or_default();
        let arguments = run.and_then(|run| ledger.args(run)).cloned();
        let agent = agent(ledger, ledger.owner(on));
        Some(Self { approval, on: ledger.reference(on), name, agent, arguments })
    }
}

impl WaitingQuestion {
    fn of(ledger: &Ledger, question: NodeId) -> Option<Self> {
        let asked = ledger.question(question)?;
        let text = match ledger.made_by(question)? {
            countersign::Event::QuestionAsked { text, .. } => text.clone(),
            _ => return None,
        };
        Some(Self { question, agent: agent(ledger, asked.activation), text })
    }
}

impl LostCall {
    fn of(ledger: &Ledger, node: NodeId) -> Option<Self> {
        let run = ledger.tool_run(node)?;
        let call = ledger.call(run)?;
        Some(Self { call: node, name: call.name.clone(), agent: agent(ledger, run.activation), arguments: call.args.clone() })
    }
}
