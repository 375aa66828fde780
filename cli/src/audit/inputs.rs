//! What there is to read: files as they are named, and the traces of folders.

use countersign_connect::trace::session_of;
use std::path::{Path, PathBuf};

/// Endings of files that are read in a folder.
const ENDINGS: &[&str] = &["json", "jsonl", "ndjson", "traj", "eval"];

/// One source.
pub(super) enum Input {
    /// The standard input.
    Stdin,
    /// A file, with its size in bytes.
    File {
        /// Where it is.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
}

impl Input {
    /// What it is called in reports.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".into(),
            Self::File { path, .. } => path.display().to_string(),
        }
    }

    /// Its size, for a progress bar; 0 where that is not known.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Stdin => 0,
            Self::File { bytes, .. } => *bytes,
        }
    }
}

/// Every source of these paths, folders in the order of their names. What is named is read, whatever its ending.
pub(super) fn inputs(paths: &[PathBuf]) -> Vec<Input> {
    if paths.is_empty() {
        return vec![Input::Stdin];
    }
    let mut found = Vec::new();
    for path in paths {
        match path.to_str() {
            Some("-") => found.push(Input::Stdin),
            _ if path.is_dir() => folder(path, &mut found),
            _ => found.push(file(path)),
        }
    }
    found
}

fn file(path: &Path) -> Input {
    let bytes = path.metadata().map_or(0, |m| m.len());
    Input::File { path: path.into(), bytes }
}

/// A folder and those below it. Links are not followed: a folder may hold a link to itself.
fn folder(path: &Path, found: &mut Vec<Input>) {
    let Ok(entries) = path.read_dir() else { return found.push(file(path)) };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|p| !p.is_symlink()).collect();
    paths.sort();
    for path in paths {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match path.is_dir() {
            true => folder(&path, found),
            // A sub-agent's transcript is read with its session.
            false if session_of(&path).is_some() => {}
            false if ENDINGS.contains(&ending) => found.push(file(&path)),
            false => {}
        }
    }
}
