//! The routes. Everything below `/api` needs a token or a session; what concerns one run goes through `Owned`.

mod batch;
mod card;
mod events;
mod gate;
mod guard;
mod openapi;
mod runs;
mod session;
mod steer;
mod stream;
mod views;
mod workflow;

use crate::problem::Problem;
use crate::state::AppState;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Uri, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

/// Every route of a server.
pub(crate) fn router(state: AppState) -> Router {
    let one = Router::new()
        .route("/", get(card::show))
        .route("/stream", get(stream::stream))
        .route("/events", get(events::list))
        .route("/decision", get(views::decision))
        .route("/report", get(views::report))
        .route("/graph", get(views::graph))
        .route("/cancel", post(steer::cancel))
        .route("/approvals/{approval}", post(steer::approve))
        .route("/questions/{question}", post(steer::answer))
        .route("/messages", post(steer::message))
        .route("/continue", post(steer::go_on))
        .route("/resolve/{call}", post(steer::resolve));
    let api = Router::new()
        .route("/api/runs", post(runs::start).get(runs::list))
        .nest("/api/runs/{run}", one)
        .route("/api/batches", post(batch::start))
        .route("/api/batches/{batch}", get(batch::show))
        .route("/api/workflows", post(workflow::start))
        .route("/api/gate", post(gate::decide))
        .route("/metrics", get(metrics))
        .route_layer(from_fn_with_state(state.clone(), guard::redacted))
        .route_layer(from_fn_with_state(state.clone(), guard::token));
    Router::new()
        .merge(api)
        .merge(crate::page::router(&state))
        .route("/session", post(session::begin).delete(session::end))
        .route("/health", get(health))
        .route("/openapi.json", get(openapi::show))
        .fallback(nothing)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn(guard::headers))
        .layer(from_fn_with_state(state.clone(), guard::origin))
        .with_state(state)
}

/// Whether the server is there.
#[utoipa::path(
    get, path = "/health", tag = "server",
    security(()),
    responses((status = 200, description = "it is", body = String, content_type = "text/plain"), openapi::Asked),
)]
async fn health() -> &'static str {
    "ok\n"
}

/// What is counted, for Prometheus. It needs a token as well.
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses(
        (status = 200, description = "OpenMetrics text", body = String, content_type = "application/openmetrics-text"),
        openapi::Asked,
    ),
)]
async fn metrics(State(state): State<AppState>) -> Response {
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], state.runs().metrics().text(state.runs().at_work(), &state.runs().pending())).into_response()
}

async fn nothing(uri: Uri) -> Problem {
    Problem::NoPath(uri.path().to_owned())
}

async fn no_method(request: Request) -> Problem {
    Problem::NoMethod(request.uri().path().to_owned())
}
