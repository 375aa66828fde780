//! The manifest: which file is a trace of which set, and how its run came out.

use serde::Deserialize;
use std::path::Path;

/// How a run came out, as whoever labelled it says.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Label {
    Success,
    Failure,
    Unknown,
}

/// One line of a manifest. Other fields are the labeller's own.
#[derive(Deserialize)]
pub(super) struct Labelled {
    /// The trace, relative to the manifest.
    pub(super) file: String,
    /// The set to which it belongs.
    #[serde(default = "unnamed")]
    pub(super) set: String,
    /// How it came out.
    pub(super) outcome: Label,
}

fn unnamed() -> String {
    "all".into()
}

/// A manifest that could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("`{path}` cannot be read: {why}")]
    Unreadable { path: String, why: std::io::Error },
    #[error("`{path}`:{line}: {why}; a line is `{{\"file\", \"outcome\", \"set\"}}`")]
    Malformed { path: String, line: usize, why: serde_json::Error },
}

pub(super) fn read(path: &Path) -> Result<Vec<Labelled>, ManifestError> {
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|why| ManifestError::Unreadable { path: name(), why })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| serde_json::from_str(line).map_err(|why| ManifestError::Malformed { path: name(), line: at + 1, why })).collect()
}
