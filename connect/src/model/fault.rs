//! What went wrong with a call, and whether asking again can help.

use super::key::Key;
use super::settings::Patience;
use crate::said::said;
use countersign::{ModelError, Retry};
use genai::Error;
use std::time::Duration;

/// Longest text of a provider that is kept, in characters.
const SAID_CHARS_MAX: usize = 600;

/// A call that failed.
pub(super) struct Fault {
    message: String,
    partial: String,
    again: Again,
}

/// Whether asking again can help.
enum Again {
    Never,
    /// After the usual pause.
    Later,
    /// After what the provider asks for.
    After(Duration),
}

impl Fault {
    /// It took too long as a whole.
    pub(super) fn slow(limit: Duration) -> Self {
        Self { message: format!("the answer took longer than {limit:?}"), partial: String::new(), again: Again::Later }
    }

    /// The stream ended before the answer did.
    pub(super) fn cut() -> Self {
        Self { message: "the stream ended before the answer did".to_owned(), partial: String::new(), again: Again::Later }
    }

    /// A transcript was made shorter so that a call has lost its result, or a result its call.
    pub(super) fn unpaired() -> Self {
        let message = "the transcript was shortened between a call and its result; a compaction keeps them together".to_owned();
        Self { message, partial: String::new(), again: Again::Never }
    }

    /// With the text that had come by then.
    pub(super) fn with(mut self, partial: String) -> Self {
        self.partial = partial;
        self
    }

    /// What the runtime is told.
    pub(super) fn into_error(self, failures: u32, patience: Patience, key: Option<&Key>) -> ModelError {
        let message: String = key.map_or(self.message.clone(), |k| k.strike(&self.message)).chars().take(SAID_CHARS_MAX).collect();
        let retry = match self.again {
            Again::Never => Retry::Never,
            Again::Later => Retry::After(patience.pause(failures)),
            Again::After(wait) => Retry::After(patience.asked(wait)),
        };
        ModelError { message, partial: Some(self.partial).filter(|p| !p.is_empty()), retry }
    }
}

/// What an error of the crate means.
pub(super) fn of(error: Error) -> Fault {
    let (message, again) = match &error {
        Error::WebStream { error: inner, .. } => match inner.downcast_ref::<Error>() {
            Some(Error::HttpError { status, body, headers, .. }) => {
                let wait = headers.get("retry-after").and_then(|v| v.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
                (format!("the provider says {status}: {}", body.trim()), status_says(status.as_u16(), body, wait))
            }
            _ => (format!("the connection failed: {}", said(&**inner)), Again::Later),
        },
        Error::StreamParse { serde_error, .. } => (format!("the stream cannot be read: {serde_error}"), Again::Later),
        Error::ChatResponse { body, .. } => (format!("the provider says {body}"), kind_says(&body.to_string())),
        Error::Internal(_) | Error::JsonValueExt(_) | Error::SerdeJson(_) => (format!("the answer cannot be read: {error}"), Again::Later),
        _ => (error.to_string(), Again::Never),
    };
    Fault { message, partial: String::new(), again }
}

fn status_says(status: u16, body: &str, wait: Option<Duration>) -> Again {
    match status {
        // A quota that is used up is no matter of seconds.
        429 if body.contains("insufficient_quota") => Again::Never,
        408 | 409 | 425 | 429 | 500..=599 => wait.map_or(Again::Later, Again::After),
        _ => Again::Never,
    }
}

/// An error that comes as an event has no status; its kind says as much.
fn kind_says(body: &str) -> Again {
    let lasting = ["invalid_request", "authentication", "permission", "not_found", "insufficient_quota", "billing"];
    if lasting.iter().any(|kind| body.contains(kind)) { Again::Never } else { Again::Later }
}
