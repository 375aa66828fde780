//! Texts that stand where an answer should and are none: errors that a client library put there, and limits that a
//! framework did.
//!
//! Whole texts only. An answer that *mentions* an error is an answer.

/// The longest text that is looked at: an error is a line, not an essay.
const BYTES_MAX: usize = 400;

/// What client libraries say of a call that failed, when nothing else is said.
const WHOLE: &[&str] =
    &["connection error", "request timed out", "internal server error", "rate limit exceeded", "service unavailable", "overloaded", "bad gateway"];

/// How such a text begins where it goes on with particulars.
const BEGINNINGS: &[&str] = &["api error", "error code: 4", "error code: 5", "error: connection error", "error: request timed out"];

/// What frameworks say in the agent's place when a limit has ended its run.
const LIMITS: &[&str] = &[
    "agent stopped due to iteration limit or time limit",
    "agent stopped due to max iterations",
    "max turns reached",
    "maximum number of turns reached",
    "reached maximum number of steps",
    "sorry, need more steps to process this request",
];

/// Whether this text, as a whole, says that a limit ended the run.
pub(super) fn is_limit(text: &str) -> bool {
    LIMITS.contains(&text.trim().trim_end_matches('.').to_ascii_lowercase().as_str())
}

/// Whether this text, as a whole, is an error of a client library.
pub(super) fn is_error(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > BYTES_MAX || text.lines().count() > 3 {
        return false;
    }
    let said = text.to_ascii_lowercase();
    let bare = said.strip_prefix("error:").unwrap_or(&said).trim().trim_end_matches('.');
    WHOLE.contains(&bare) || BEGINNINGS.iter().any(|b| said.starts_with(b))
}
