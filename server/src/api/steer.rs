//! What people say to a run.

use super::card::decided;
use super::openapi::{ToRun, doc};
use crate::extract::{Input, Named, Owned};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::Phase;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign::live::Command;
use countersign::{CancelWhen, Finding, NodeId, Outcome, Run, Str};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// That something was said to a run; what comes of it is on the stream.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Taken {
    #[schema(value_type = String)]
    run: Str,
    /// What the run goes on with, where it was told to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<doc::Missing>>)]
    missing_checks: Option<Vec<Finding>>,
}

type Answer = Result<(StatusCode, Json<Taken>), Problem>;

/// Says something to a run that has not ended.
async fn say(state: &AppState, owned: Owned, command: Command) -> Answer {
    is_open(&owned)?;
    state.runs().tell(&owned.run, vec![command]).await?;
    Ok((StatusCode::ACCEPTED, Json(Taken { run: owned.run.run, missing_checks: None })))
}

fn is_open(owned: &Owned) -> Result<(), Problem> {
    match owned.run.status.is_terminal() {
        true => Err(Problem::Conflict(format!("run `{}` has ended ({}); start a new one", owned.run.run, owned.run.status.name()))),
        false => Ok(()),
    }
}

/// When a cancellation takes hold.
#[derive(Deserialize, Clone, Copy, ToSchema)]
#[serde(rename_all = "snake_case")]
enum When {
    Now,
    AfterReply,
    AfterTools,
}

/// How to cancel.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    when: When,
}

/// `POST /api/runs/{run}/cancel`.
#[utoipa::path(
    post, path = "/api/runs/{run}/cancel", tag = "people",
    params(("run" = String, Path, description = "the run")),
    request_body = Cancel,
    responses((status = 202, description = "it was said; the stream tells what comes of it", body = Taken), ToRun),
)]
pub(super) async fn cancel(State(state): State<AppState>, owned: Owned, Input(asked): Input<Cancel>) -> Answer {
    let when = match asked.when {
        When::Now => CancelWhen::AtOnce,
        When::AfterReply => CancelWhen::AfterReply,
        When::AfterTools => CancelWhen::AfterTools,
    };
    let by = owned.who.0.clone();
    say(&state, owned, Command::Cancel { by, when }).await
}

/// What a person says to a request for approval.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    granted: bool,
    #[serde(default)]
    why: String,
    /// Other arguments to run it with.
    arguments: Option<serde_json::Value>,
}

/// `POST /api/runs/{run}/approvals/{approval}`.
#[utoipa::path(
    post, path = "/api/runs/{run}/approvals/{approval}", tag = "people",
    params(
        ("run" = String, Path, description = "the run"),
        ("approval" = u64, Path, description = "the approval, by its number"),
    ),
    request_body = Approval,
    responses((status = 202, description = "it was said; the stream tells what comes of it", body = Taken), ToRun),
)]
pub(super) async fn approve(State(state): State<AppState>, owned: Owned, named: Named, Input(said): Input<Approval>) -> Answer {
    let (approval, run) = waiting(&state, &owned, &named, "approval", |run| run.ledger().open().approvals.iter().collect()).await?;
    let args = said.arguments.map(|arguments| state.runs().fitting(&owned.run, &run, approval, &arguments)).transpose()?;
    let by = owned.who.0.clone();
    say(&state, owned, Command::Approve { approval, granted: said.granted, by, why: said.why.into(), args }).await
}

/// What the path names, where it is among what waits for a person in a run that has not ended; and the run.
async fn waiting(state: &AppState, owned: &Owned, named: &Named, what: &'static str, of: fn(&Run) -> Vec<NodeId>) -> Result<(NodeId, Run), Problem> {
    is_open(owned)?;
    let node = named.node(what)?;
    let run = state.runs().read(&owned.run).await?;
    let open = of(&run);
    if open.contains(&node) {
        return Ok((node, run));
    }
    let there: Vec<Str> = open.iter().map(|node| node.to_string().into()).collect();
    Err(Problem::missing(what, node, &there))
}

/// A text.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AnswerToQuestion)]
pub(super) struct Reply {
    text: String,
}

/// `POST /api/runs/{run}/questions/{question}`.
#[utoipa::path(
    post, path = "/api/runs/{run}/questions/{question}", tag = "people",
    params(
        ("run" = String, Path, description = "the run"),
        ("question" = u64, Path, description = "the question, by its number"),
    ),
    request_body = Reply,
    responses((status = 202, description = "it was said; the stream tells what comes of it", body = Taken), ToRun),
)]
pub(super) async fn answer(State(state): State<AppState>, owned: Owned, named: Named, Input(said): Input<Reply>) -> Answer {
    let (question, _) = waiting(&state, &owned, &named, "question", |run| run.ledger().open().questions.iter().collect()).await?;
    say(&state, owned, Command::Answer { question, text: said.text.into() }).await
}

/// A message to the run.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Message {
    #[schema(min_length = 1, pattern = r"\S")]
    text: String,
    /// Whether it waits until the answer would be accepted.
    #[serde(default)]
    follow_up: bool,
}

/// `POST /api/runs/{run}/messages`.
#[utoipa::path(
    post, path = "/api/runs/{run}/messages", tag = "people",
    params(("run" = String, Path, description = "the run")),
    request_body = Message,
    responses((status = 202, description = "it was said; the stream tells what comes of it", body = Taken), ToRun),
)]
pub(super) async fn message(State(state): State<AppState>, owned: Owned, Input(said): Input<Message>) -> Answer {
    if said.text.trim().is_empty() {
        return Err(Problem::Refused("`text` is blank; say something".to_owned()));
    }
    let text = said.text.into();
    say(&state, owned, if said.follow_up { Command::FollowUp(text) } else { Command::Steer(text) }).await
}

/// `POST /api/runs/{run}/continue`: a blocked run goes on, and its agent is told what is missing.
#[utoipa::path(
    post, path = "/api/runs/{run}/continue", tag = "people",
    params(("run" = String, Path, description = "the run")),
    responses((status = 202, description = "it was said; the stream tells what comes of it", body = Taken), ToRun),
)]
pub(super) async fn go_on(State(state): State<AppState>, owned: Owned) -> Answer {
    is_open(&owned)?;
    let run = state.runs().read(&owned.run).await?;
    if let Some(why) = cannot_go_on(&run) {
        return Err(Problem::Conflict(format!("run `{}` {why}", owned.run.run)));
    }
    let missing = decided(&run).map(|decision| decision.missing_checks);
    state.runs().resume(&owned.run).await?;
    Ok((StatusCode::ACCEPTED, Json(Taken { run: owned.run.run, missing_checks: missing })))
}

fn cannot_go_on(run: &Run) -> Option<&'static str> {
    match Phase::of_log(run.ledger().log(), false) {
        Phase::AwaitingApproval => Some("waits for a person: grant, deny or answer first"),
        _ if !run.ledger().open().lost.is_empty() => Some("has calls whose outcome nobody knows: say what became of them first, by `resolve`"),
        Phase::Blocked => None,
        _ => Some("is under way; there is nothing to continue"),
    }
}

/// What became of a call whose process died under it.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Fate {
    /// It did what it was asked.
    Completed,
    /// It failed, or never ran.
    Failed,
    /// Nobody knows; it may be run again.
    Retry,
}

/// How a lost call is resolved.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Resolution {
    outcome: Fate,
    /// What is known of it, for the agent.
    #[serde(default)]
    text: String,
}

/// `POST /api/runs/{run}/resolve/{call}`.
#[utoipa::path(
    post, path = "/api/runs/{run}/resolve/{call}", tag = "people",
    params(
        ("run" = String, Path, description = "the run"),
        ("call" = u64, Path, description = "the lost call, by its number"),
    ),
    request_body = Resolution,
    responses((status = 202, description = "it was said; the stream tells what comes of it", body = Taken), ToRun),
)]
pub(super) async fn resolve(State(state): State<AppState>, owned: Owned, named: Named, Input(said): Input<Resolution>) -> Answer {
    let (call, _) = waiting(&state, &owned, &named, "call", |run| run.ledger().open().lost.iter().collect()).await?;
    let outcome = match said.outcome {
        Fate::Completed => Some(Outcome::Completed),
        Fate::Failed => Some(Outcome::Failed),
        Fate::Retry => None,
    };
    let by = owned.who.0.clone();
    say(&state, owned, Command::Resolve { call, outcome, text: said.text.into(), by }).await
}
