//! What is wrong with a request, and the way out: problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign::{BuildError, DriveError, JournalError, Str};
use serde::Serialize;

/// Why a request was not carried out. Nothing was changed by it.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// No token, or one that is not known here.
    #[error("this needs a token: send `Authorization: Bearer TOKEN`, or sign in at `/`")]
    NoToken,
    /// It came under a name that this server does not have, or from a page of somebody else.
    #[error("requests {0}")]
    Foreign(String),
    /// There is nothing at this path.
    #[error("there is nothing at `{0}`; `/openapi.json` lists what there is")]
    NoPath(String),
    /// The path is there, and not for this method.
    #[error("`{0}` is not done with this method; `/openapi.json` says which there are")]
    NoMethod(String),
    /// No run of this owner has this id. Whether another owner's has is not said.
    #[error("you have no run `{0}`; `GET /api/runs` lists yours")]
    NoRun(String),
    /// Something named in the path is not there.
    #[error("{what} `{name}` is not there: {way_out}")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// As it was named.
        name: String,
        /// What there is instead.
        way_out: String,
    },
    /// The input cannot be read.
    #[error("{0}")]
    Malformed(String),
    /// The input is not JSON by its own account.
    #[error("send `Content-Type: application/json`, not `{0}`")]
    NotJson(String),
    /// It is too large.
    #[error("the body has more than {0} bytes; send less at a time")]
    TooLarge(usize),
    /// The input can be read, and may not be.
    #[error("{0}")]
    Refused(String),
    /// It does not fit how the run stands.
    #[error("{0}")]
    Conflict(String),
    /// Too much at once.
    #[error("{0}")]
    Busy(String),
    /// The server is going down.
    #[error("the server is shutting down; runs go on when it is back")]
    Leaving,
    /// The agents of this server cannot meet the policy.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A run cannot go on.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

impl Problem {
    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::Foreign(_) => StatusCode::FORBIDDEN,
            Self::NoPath(_) | Self::NoRun(_) | Self::Missing { .. } | Self::Drive(DriveError::UnknownRun(_)) => StatusCode::NOT_FOUND,
            Self::NoMethod(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::NotJson(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Refused(_) | Self::Build(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Conflict(_) | Self::Drive(DriveError::Ended(_) | DriveError::Driven(_) | DriveError::Unfit { .. }) => StatusCode::CONFLICT,
            Self::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Leaving => StatusCode::SERVICE_UNAVAILABLE,
            Self::Journal(why) | Self::Drive(DriveError::Journal(why)) if is_away(why) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Journal(_) | Self::Drive(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Something that a run does not have, with those that it has.
    pub fn missing(what: &'static str, name: impl ToString, there: &[Str]) -> Self {
        let way_out = if there.is_empty() { "there is none".to_owned() } else { format!("there are: {}", there.join(", ")) };
        Self::Missing { what, name: name.to_string(), way_out }
    }
}

/// Whether a journal may be there again in a moment.
fn is_away(why: &JournalError) -> bool {
    matches!(why, JournalError::Unreachable { .. } | JournalError::Busy { .. })
}

/// The body of such a response.
#[derive(Serialize)]
struct Details<'a> {
    title: &'a str,
    status: u16,
    detail: &'a str,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let detail = self.to_string();
        let detail = if status.is_server_error() && !matches!(self, Self::Leaving) {
            // What a journal says may name places of this machine.
            tracing::error!(why = detail, "a request failed");
            match status {
                StatusCode::SERVICE_UNAVAILABLE => "the journal cannot be reached at the moment; try again",
                _ => "the server failed; its log says why",
            }
        } else {
            &detail
        };
        let body = serde_json::to_vec(&Details { title: status.canonical_reason().unwrap_or("error"), status: status.as_u16(), detail });
        let mut response = (status, body.unwrap_or_default()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match status {
            StatusCode::UNAUTHORIZED => headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
            _ => None,
        };
        response
    }
}
