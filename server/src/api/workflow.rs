//! `POST /api/workflows`: a run that another program starts, with the evidence that it requires.

use super::card::decided;
use super::openapi::{Said, doc};
use super::runs::{Line, created};
use crate::access::Who;
use crate::extract::{Input, whole};
use crate::problem::Problem;
use crate::runs::Order;
use crate::state::AppState;
use crate::tighten::ClientPolicy;
use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use countersign::Decision;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

/// How long a program may wait for its run, in milliseconds.
const WAIT_MAX_MS: u64 = 60_000;

/// A task of another program.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Workflow {
    /// What is to be done.
    #[schema(min_length = 1, pattern = r"\S")]
    task: String,
    /// What the answer has to rest on: at least one.
    #[schema(min_items = 1)]
    required_evidence: Vec<Evidence>,
    /// The profile that carries it out.
    profile: Option<String>,
    /// The mode in which it is to be carried out.
    mode: Option<String>,
    /// How long to wait for it to end or park before answering, in milliseconds: 0, and up to a minute.
    #[schema(value_type = Option<u64>, maximum = 60_000)]
    #[serde(default, deserialize_with = "whole")]
    wait_ms: Option<u64>,
}

/// What an answer may have to rest on.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Evidence {
    /// Completed work.
    Execution,
    /// A check that was run last and passed.
    Check,
    /// A check after the last write.
    FreshCheck,
}

/// The run, and the newest ruling on it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkflowBegun)]
pub(super) struct Begun {
    #[serde(flatten)]
    line: Line,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<doc::Ruling>)]
    decision: Option<Decision>,
}

/// `POST /api/workflows`.
#[utoipa::path(
    post, path = "/api/workflows", tag = "runs",
    request_body = Workflow,
    responses(
        (
            status = 201,
            description = "it has begun",
            body = Begun,
            headers(("location" = String, description = "where it stands")),
        ),
        Said,
    ),
)]
pub(super) async fn start(State(state): State<AppState>, Extension(who): Extension<Who>, Input(flow): Input<Workflow>) -> Result<Response, Problem> {
    if flow.required_evidence.is_empty() {
        return Err(Problem::Refused("`requiredEvidence` is empty; name `execution`, `check` or `fresh_check`, or use `POST /api/runs`".to_owned()));
    }
    let wait_ms = flow.wait_ms.unwrap_or(0);
    if wait_ms > WAIT_MAX_MS {
        return Err(Problem::Refused(format!("`waitMs: {wait_ms}` is more than {WAIT_MAX_MS}; wait on the run's stream instead")));
    }
    let asked = |evidence| flow.required_evidence.contains(&evidence).then_some(true);
    let policy = ClientPolicy {
        require_execution_evidence: Some(true),
        require_checks: asked(Evidence::Check).or(asked(Evidence::FreshCheck)),
        require_fresh_evidence: asked(Evidence::FreshCheck),
        ..ClientPolicy::default()
    };
    let order = Order { profile: flow.profile, mode: flow.mode, policy: Some(policy), ..Order::task(flow.task) };
    let begun = state.runs().start(&who, order).await?;
    // A run that is not done by then goes on.
    let _ = tokio::time::timeout(Duration::from_millis(wait_ms), state.runs().rest(&begun.run)).await;
    let run = state.runs().owned(&who, &begun.run).await?;
    let decision = decided(&state.runs().read(&run).await?);
    created(&run.run.clone(), Json(Begun { line: run.into(), decision }))
}
