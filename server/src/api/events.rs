//! `GET /api/runs/{run}/events`: the records themselves.

use super::openapi::{OfRun, doc};
use crate::extract::{Asked, Owned, page};
use crate::problem::Problem;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use countersign::Record;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Most records on one page.
const PAGE_MAX: usize = 1_000;

/// Which records.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Those after this one; 0 for all.
    #[serde(default)]
    #[param(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    after: u32,
    /// How many at most: 200, and up to 1,000.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
}

/// Records, in order.
#[derive(Serialize, ToSchema)]
#[schema(as = Records)]
pub(super) struct Page {
    #[schema(value_type = Vec<doc::Event>)]
    events: Vec<Arc<Record>>,
}

/// `GET /api/runs/{run}/events`.
#[utoipa::path(
    get, path = "/api/runs/{run}/events", tag = "runs",
    params(("run" = String, Path, description = "the run"), Which),
    responses((status = 200, description = "records, in order", body = Page), OfRun),
)]
pub(super) async fn list(State(state): State<AppState>, owned: Owned, Asked(which): Asked<Which>) -> Result<Json<Page>, Problem> {
    let most = page(which.limit, 200, PAGE_MAX)?;
    Ok(Json(Page { events: state.runs().journal().read(&owned.run.run, which.after, most).await? }))
}
