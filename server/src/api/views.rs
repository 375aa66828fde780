//! Views of a run: the decision, the report, the graph.

use super::openapi::{OfRun, doc};
use crate::extract::{Asked, Owned};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::shown;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use countersign::{Decision, GraphView, ROOT, Run, RunReport};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// What a picture may do when it is opened by itself: nothing.
const SANDBOX: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// The newest recorded ruling; before the first, what the gate would say now.
fn ruling(run: &Run) -> Decision {
    run.ledger().last_decision(ROOT).cloned().unwrap_or_else(|| run.decide())
}

/// `GET /api/runs/{run}/decision`. The answer's text is that of the gate's own final.
#[utoipa::path(
    get, path = "/api/runs/{run}/decision", tag = "views",
    params(("run" = String, Path, description = "the run")),
    responses((status = 200, description = "the newest ruling", body = doc::Ruling), OfRun),
)]
pub(super) async fn decision(State(state): State<AppState>, owned: Owned) -> Result<Json<Decision>, Problem> {
    let run = state.runs().read(&owned.run).await?;
    let mut decision = shown(&ruling(&run));
    decision.final_text = run.final_answer().map(|answer| answer.text().clone()).filter(|_| decision.finalizable);
    Ok(Json(decision))
}

/// A form of the report.
#[derive(Deserialize, Default, Clone, Copy, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportForm {
    #[default]
    Json,
    Markdown,
}

/// Which form of the report.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ReportAs {
    #[serde(default)]
    format: ReportForm,
}

/// `GET /api/runs/{run}/report`.
#[utoipa::path(
    get, path = "/api/runs/{run}/report", tag = "views",
    params(("run" = String, Path, description = "the run"), ReportAs),
    responses(
        (
            status = 200,
            description = "conclusions, evidence, risks, next actions",
            content((Object = "application/json"), (String = "text/markdown")),
        ),
        OfRun,
    ),
)]
pub(super) async fn report(State(state): State<AppState>, owned: Owned, Asked(asked): Asked<ReportAs>) -> Result<Response, Problem> {
    let run = state.runs().read(&owned.run).await?;
    let report = RunReport::of(run.ledger(), &shown_with_text(&run));
    Ok(match asked.format {
        ReportForm::Json => Json(report).into_response(),
        ReportForm::Markdown => text("text/markdown; charset=utf-8", report.to_markdown()),
    })
}

fn shown_with_text(run: &Run) -> Decision {
    let ruling = ruling(run);
    Decision { final_text: ruling.final_text.clone(), ..shown(&ruling) }
}

/// A form of the graph.
#[derive(Deserialize, Default, Clone, Copy, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum GraphForm {
    #[default]
    Json,
    Dot,
    Mermaid,
    Svg,
}

/// Which form of the graph.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct GraphAs {
    #[serde(default)]
    format: GraphForm,
}

/// `GET /api/runs/{run}/graph`.
#[utoipa::path(
    get, path = "/api/runs/{run}/graph", tag = "views",
    params(("run" = String, Path, description = "the run"), GraphAs),
    responses(
        (
            status = 200,
            description = "the evidence graph",
            content(
                (Object = "application/json"),
                (String = "text/vnd.graphviz"),
                (String = "text/plain"),
                (String = "image/svg+xml"),
            ),
        ),
        OfRun,
    ),
)]
pub(super) async fn graph(State(state): State<AppState>, owned: Owned, Asked(asked): Asked<GraphAs>) -> Result<Response, Problem> {
    let run = state.runs().read(&owned.run).await?;
    let view = GraphView::of(run.ledger(), run.ledger().last_decision(ROOT));
    Ok(match asked.format {
        GraphForm::Json => text("application/json", view.to_json()),
        GraphForm::Dot => text("text/vnd.graphviz; charset=utf-8", view.to_dot()),
        GraphForm::Mermaid => text("text/plain; charset=utf-8", view.to_mermaid()),
        GraphForm::Svg => {
            let mut picture = text("image/svg+xml", view.to_svg());
            picture.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
            picture
        }
    })
}

fn text(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
}
