//! `/session`: the page's exchange of the token for a cookie.

use super::openapi::{Asked as Refusals, Said};
use crate::access::Sessions;
use crate::extract::Input;
use crate::problem::Problem;
use crate::server::Peer;
use crate::state::AppState;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

/// The token, in a body: never in an address.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignIn {
    /// The token.
    token: String,
}

/// `POST /session`.
#[utoipa::path(
    post, path = "/session", tag = "session",
    security(()),
    request_body = SignIn,
    responses(
        (
            status = 204,
            description = "the cookie is set",
            headers(("set-cookie" = String, description = "a cookie that scripts cannot read")),
        ),
        Said,
    ),
)]
pub(super) async fn begin(
    State(state): State<AppState>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Input(sign_in): Input<SignIn>,
) -> Result<Response, Problem> {
    let Some(who) = state.tokens().who(sign_in.token.trim()) else {
        peer.map_or(Ok(()), |Extension(Peer(from))| state.pace().stranger(from))?;
        return Err(Problem::NoToken);
    };
    let id = state.sessions().begin(who).map_err(Problem::Busy)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, Sessions::set_cookie(&id, &headers))]).into_response())
}

/// `DELETE /session`.
#[utoipa::path(
    delete, path = "/session", tag = "session",
    security(()),
    responses(
        (
            status = 204,
            description = "the cookie is gone",
            headers(("set-cookie" = String, description = "it ends at once")),
        ),
        Refusals,
    ),
)]
pub(super) async fn end(State(state): State<AppState>, headers: HeaderMap) -> Response {
    state.sessions().end(&headers);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, Sessions::drop_cookie())]).into_response()
}
