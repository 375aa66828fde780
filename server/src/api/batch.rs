//! `/api/batches`: a queue of tasks, and what became of each.

use super::openapi::{OfRun, Said, doc};
use super::runs::NewRun;
use crate::access::Who;
use crate::batch::Item;
use crate::extract::{Input, Named, whole};
use crate::problem::Problem;
use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use countersign::{Reason, Status, Str};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Most runs of one batch at the same time.
const CONCURRENCY_MAX: usize = 64;

/// A queue of tasks.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewBatch {
    /// Tasks, as `POST /api/runs` takes them.
    #[schema(min_items = 1, max_items = 1000)]
    tasks: Vec<NewRun>,
    /// How many at the same time: 4, and up to 64.
    #[schema(minimum = 1, maximum = 64)]
    #[serde(default, deserialize_with = "whole")]
    concurrency: Option<usize>,
}

/// What a batch is called.
#[derive(Serialize, ToSchema)]
#[schema(as = BatchBegun)]
pub(super) struct Begun {
    batch: String,
    tasks: usize,
}

/// `POST /api/batches`.
#[utoipa::path(
    post, path = "/api/batches", tag = "batches",
    request_body = NewBatch,
    responses((status = 202, description = "its tasks wait for their turn", body = Begun), Said),
)]
pub(super) async fn start(
    State(state): State<AppState>,
    Extension(who): Extension<Who>,
    Input(new): Input<NewBatch>,
) -> Result<(StatusCode, Json<Begun>), Problem> {
    let at_a_time = new.concurrency.unwrap_or(4);
    if !(1..=CONCURRENCY_MAX).contains(&at_a_time) {
        return Err(Problem::Refused(format!("`concurrency: {at_a_time}` is not from 1 to {CONCURRENCY_MAX}")));
    }
    let orders = new.tasks.into_iter().map(NewRun::order).collect::<Result<Vec<_>, _>>()?;
    let tasks = orders.len();
    let batch = state.batches().begin(state.runs(), &who, orders, at_a_time).await?;
    Ok((StatusCode::ACCEPTED, Json(Begun { batch, tasks })))
}

/// Where a batch stands.
#[derive(Serialize, ToSchema)]
#[schema(as = BatchStanding)]
pub(super) struct Standing {
    batch: String,
    /// Whether every task has ended, is parked, or could not be started.
    settled: bool,
    tasks: Vec<Task>,
}

/// Where one of its tasks stands.
#[derive(Serialize, Default, ToSchema)]
#[schema(as = BatchTask)]
struct Task {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    run: Option<Str>,
    /// Where its run stands; missing while it waits for its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<doc::Status>)]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<doc::Reason>)]
    reason: Option<Reason>,
    /// Why it could not be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl From<Item> for Task {
    fn from(item: Item) -> Self {
        match item {
            Item::Queued => Self::default(),
            Item::Refused(why) => Self { refused: Some(why), ..Self::default() },
            Item::Started(run) => Self { run: Some(run.run), status: Some(run.status), reason: run.reason, refused: None },
        }
    }
}

/// `GET /api/batches/{batch}`.
#[utoipa::path(
    get, path = "/api/batches/{batch}", tag = "batches",
    params(("batch" = String, Path, description = "the batch")),
    responses((status = 200, description = "where each task stands", body = Standing), OfRun),
)]
pub(super) async fn show(State(state): State<AppState>, Extension(who): Extension<Who>, named: Named) -> Result<Json<Standing>, Problem> {
    let id = named.name("batch");
    let batch = state.batches().owned(state.runs(), &who, id).await?;
    let tasks: Vec<Task> = batch.items(state.runs()).await?.into_iter().map(Task::from).collect();
    let settled = tasks.iter().all(|task| task.refused.is_some() || task.status.is_some_and(|status| status != Status::InProgress));
    Ok(Json(Standing { batch: id.to_owned(), settled, tasks }))
}
