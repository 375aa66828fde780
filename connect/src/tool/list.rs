//! Listing files: those that people wrote, as `ripgrep` finds them.

use super::folder::{Folder, TIME_MAX, confined, off_thread};
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, Str, ToolError};
use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// Most files in one listing.
pub const FILES_MAX: usize = 5_000;
/// Deepest folder that is listed.
const DEPTH_MAX: usize = 32;

/// Where to look.
#[derive(Deserialize, JsonSchema)]
struct ListArgs {
    /// A folder below the root, such as `src`; everything where it is left out.
    path: Option<String>,
}

/// A file, as a listing tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its path below the folder, with `/` between its parts.
    pub path: Str,
    /// Its size.
    pub bytes: u64,
}

impl Folder {
    /// Lists the files of the folder, with their sizes. Hidden files and those that a `.gitignore` of the
    /// folder names are left out; links are not followed.
    pub fn list_tool(&self) -> impl countersign::Tool + use<> {
        let folder = self.clone();
        let run = move |args: ListArgs| {
            let folder = folder.clone();
            off_thread(move || folder.list(args.path.as_deref().unwrap_or(".")))
        };
        let tool: FnTool<Run> = FnTool::new("list_files", "List files, with their sizes in bytes.", Declared::run(Effect::Read), run);
        tool.timeout(TIME_MAX)
    }

    /// Files below a path, one a line: bytes, a tab, the path. An error where there is none.
    pub fn list(&self, below: &str) -> Result<String, ToolError> {
        let (files, cut) = self.some_files(below)?;
        let mut text = String::new();
        for file in &files {
            let _ = writeln!(text, "{}\t{}", file.bytes, file.path);
        }
        if cut {
            let _ = writeln!(text, "[cut: there is more than is listed]");
        }
        Ok(text)
    }

    /// Files below a path, sorted, of which there has to be one; and whether some were left out.
    pub(crate) fn some_files(&self, below: &str) -> Result<(Vec<Listed>, bool), ToolError> {
        let (files, cut) = self.files(below)?;
        if files.is_empty() { Err(ToolError::failed("the folder holds no file")) } else { Ok((files, cut)) }
    }

    /// Files below a path, sorted, and whether some were left out.
    pub fn files(&self, below: &str) -> Result<(Vec<Listed>, bool), ToolError> {
        let below = confined(below)?;
        let start = self.root().join(&below);
        // A link would lead the walk elsewhere: only what is below the folder without one is walked.
        if start.canonicalize().ok().as_deref() != Some(&*self.root().join(below.strip_prefix(".").unwrap_or(&below))) {
            return Err(ToolError::failed(format!("`{}` is no folder here, or is behind a link", below.display())));
        }
        let walk = WalkBuilder::new(&start)
            .max_depth(Some(DEPTH_MAX))
            .parents(false)
            .git_global(false)
            .require_git(false)
            .sort_by_file_path(Ord::cmp)
            .build();
        let mut files = Vec::new();
        for entry in walk.flatten().filter(|e| e.file_type().is_some_and(|t| t.is_file())) {
            if files.len() == FILES_MAX {
                return Ok((files, true));
            }
            let path = entry.path().strip_prefix(self.root()).unwrap_or(entry.path()).to_string_lossy().replace('\\', "/");
            files.push(Listed { path: path.into(), bytes: entry.metadata().map_or(0, |m| m.len()) });
        }
        Ok((files, false))
    }
}

/// A listing read back: its files, and whether it was cut.
pub fn read_listing(listing: &str) -> (Vec<Listed>, bool) {
    let line = |line: &str| {
        let (bytes, path) = line.split_once('\t')?;
        Some(Listed { path: path.into(), bytes: bytes.parse().ok()? })
    };
    (listing.lines().filter_map(line).collect(), listing.contains("\n[cut: "))
}
