//! Transcripts of sub-agents, which stand in a folder beside their session's: `SESSION/subagents/agent-ID.jsonl`.

use std::path::{Path, PathBuf};

/// The folder, within that of the session.
const FOLDER: &str = "subagents";

/// The session to which a sub-agent's transcript belongs, where it is there: its lines are part of that run.
pub fn session_of(transcript: &Path) -> Option<PathBuf> {
    let folder = transcript.parent().filter(|folder| folder.ends_with(FOLDER))?;
    let session = folder.parent()?.with_extension("jsonl");
    session.is_file().then_some(session)
}

/// The transcripts of a session's sub-agents, in the order of their names. Links are not followed.
pub(super) fn transcripts(session: &Path) -> Vec<PathBuf> {
    let Ok(entries) = session.with_extension("").join(FOLDER).read_dir() else { return Vec::new() };
    let is_transcript = |path: &PathBuf| path.extension().is_some_and(|e| e == "jsonl") && path.is_file() && !path.is_symlink();
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_transcript).collect();
    paths.sort();
    paths
}
