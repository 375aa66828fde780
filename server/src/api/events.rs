//! `GET /api/runs/{run}/events`: the records themselves.

use crate::extract::{Asked, Owned};
use crate::problem::Problem;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use countersign::Record;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most records on one page.
const PAGE_MAX: usize = 1_000;

/// Which records.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// Those after this one; 0 for all.
    #[serde(default)]
    after: u32,
    /// How many at most: 200, and up to 1,000.
    limit: Option<usize>,
}

/// Records, in order.
#[derive(Serialize)]
pub(super) struct Page {
    events: Vec<Arc<Record>>,
}

/// `GET /api/runs/{run}/events`.
pub(super) async fn list(State(state): State<AppState>, owned: Owned, Asked(which): Asked<Which>) -> Result<Json<Page>, Problem> {
    let most = which.limit.unwrap_or(200).clamp(1, PAGE_MAX);
    Ok(Json(Page { events: state.runs().journal().read(&owned.run.run, which.after, most).await? }))
}
