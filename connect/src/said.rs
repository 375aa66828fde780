//! What an error says, down to its cause.

use std::error::Error;

/// One line: the error and every cause of it.
pub(crate) fn said(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        text = format!("{text}: {cause}");
        at = cause.source();
    }
    text
}
