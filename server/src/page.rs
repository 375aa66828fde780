//! The page: what a person sees of runs, and does about them.
//!
//! ```text
//! log ──▶ HTML (here)        what stands: the conversation, what waits, the ruling
//! stream ─▶ scripts (assets) what happens: the timeline, previews, and when to fetch the HTML again
//! ```
//!
//! An answer is written by `conversation` from a [`Final`](countersign::Final) of the gate. Scripts never write one.
//!
//! | module | what it is |
//! |---|---|
//! | `frame` | what every page has, signing in, and what went wrong |
//! | `list` | the cards of runs, and the form that starts one |
//! | `run` | one run: its parts, and its evidence graph as data |
//! | `conversation` | what was said; a candidate is no answer |
//! | `prose` | the Markdown of an answer, laid out |
//! | `waiting` | what people have to do |
//! | `ruling` | the newest decision, with everything that is missing |
//! | `steering` | what people may do |
//! | `words` | phases and moments, for people |
//! | `assets` | styles and scripts |

mod assets;
mod conversation;
mod frame;
mod list;
mod prose;
mod ruling;
mod run;
mod steering;
mod waiting;
mod words;

use crate::problem::Problem;
use crate::state::AppState;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http_body_util::BodyExt;

/// The routes of the page.
pub(crate) fn router(state: &AppState) -> Router<AppState> {
    let pages = Router::new()
        .route("/", get(list::show))
        .route("/runs/{run}", get(run::show))
        .route_layer(from_fn(in_html))
        .route_layer(from_fn_with_state(state.clone(), signed_in));
    let data = Router::new().route("/runs/{run}/picture", get(run::picture)).route_layer(from_fn_with_state(state.clone(), signed_in));
    pages.merge(data).route("/assets/{file}", get(assets::show))
}

/// Lets a session pass, and shows anybody else how to sign in. Tokens are no way in here: nobody may guess them at
/// a place where guesses are not counted.
async fn signed_in(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let Some(who) = state.sessions().who(request.headers()) else {
        return (Problem::NoToken.status(), [(header::WWW_AUTHENTICATE, "Bearer")], frame::sign_in()).into_response();
    };
    if let Err(problem) = state.pace().request(&who) {
        return problem.into_response();
    }
    request.extensions_mut().insert(who);
    next.run(request).await
}

/// Shows a problem as a page.
async fn in_html(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    if response.headers().get(header::CONTENT_TYPE).is_none_or(|kind| kind != "application/problem+json") {
        return response;
    }
    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let problem: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let detail = problem.get("detail").and_then(|detail| detail.as_str()).unwrap_or("the server failed");
    (status, frame::problem(status, detail)).into_response()
}

/// A page.
struct Html(maud::Markup);

impl IntoResponse for Html {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], Body::from(self.0.into_string())).into_response()
    }
}
