//! `/api/batches`: a queue of tasks, and what became of each.

use super::runs::NewRun;
use crate::access::Who;
use crate::batch::Item;
use crate::extract::{Input, Named};
use crate::problem::Problem;
use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use countersign::{Reason, Status, Str};
use serde::{Deserialize, Serialize};

/// Most runs of one batch at the same time.
const CONCURRENCY_MAX: usize = 64;

/// A queue of tasks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewBatch {
    /// Tasks, as `POST /api/runs` takes them.
    tasks: Vec<NewRun>,
    /// How many at the same time: 4, and up to 64.
    concurrency: Option<usize>,
}

/// What a batch is called.
#[derive(Serialize)]
pub(super) struct Begun {
    batch: String,
    tasks: usize,
}

/// `POST /api/batches`.
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
    let batch = state.batches().begin(state.runs(), &who, orders, at_a_time)?;
    Ok((StatusCode::ACCEPTED, Json(Begun { batch, tasks })))
}

/// Where a batch stands.
#[derive(Serialize)]
pub(super) struct Standing {
    batch: String,
    /// Whether every task has ended, is parked, or could not be started.
    settled: bool,
    tasks: Vec<Task>,
}

/// Where one of its tasks stands.
#[derive(Serialize, Default)]
struct Task {
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Str>,
    /// Where its run stands; missing while it waits for its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    /// Why it could not be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// `GET /api/batches/{batch}`.
pub(super) async fn show(State(state): State<AppState>, Extension(who): Extension<Who>, named: Named) -> Result<Json<Standing>, Problem> {
    let id = named.name("batch");
    let mut tasks = Vec::new();
    for item in state.batches().owned(&who, id)?.items() {
        tasks.push(match item {
            Item::Queued => Task::default(),
            Item::Refused(why) => Task { refused: Some(why), ..Task::default() },
            Item::Started(run) => {
                let summary = state.runs().owned(&who, &run).await?;
                Task { run: Some(run), status: Some(summary.status), reason: summary.reason, refused: None }
            }
        });
    }
    let settled = tasks.iter().all(|task| task.refused.is_some() || task.status.is_some_and(|status| status != Status::InProgress));
    Ok(Json(Standing { batch: id.to_owned(), settled, tasks }))
}
