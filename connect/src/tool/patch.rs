//! Changing a part of a file: the old text has to be there, and there once.

use super::folder::{READ_BYTES_MAX, TIME_MAX, WritableFolder, off_thread};
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::Read;

/// A change of one place.
#[derive(Deserialize, JsonSchema)]
struct PatchArgs {
    /// The file, below the folder.
    path: String,
    /// What stands there, word for word. It has to be there once, unless the line is given.
    old: String,
    /// What is to stand there.
    new: String,
    /// The line in which `old` begins, from 1.
    line: Option<usize>,
}

impl WritableFolder {
    /// Replaces a text in a file by another.
    pub fn patch_tool(&self) -> impl countersign::Tool + use<> {
        let folder = self.clone();
        let run = move |args: PatchArgs| {
            let folder = folder.clone();
            off_thread(move || folder.patch(&args.path, args.line, &args.old, &args.new))
        };
        let tool: FnTool<Run> = FnTool::new("patch_file", "Replace a text in a file by another.", Declared::run(Effect::Write), run);
        tool.timeout(TIME_MAX)
    }

    /// Replaces `old` by `new`, where `old` is there once, or in the line that is given. Anything else changes
    /// nothing. A file that is not UTF-8 is left alone: written back, it would not be what it was.
    pub fn patch(&self, path: &str, line: Option<usize>, old: &str, new: &str) -> Result<String, ToolError> {
        if old.is_empty() && line.is_none() {
            return Err(ToolError::failed("say what stands there, in `old`"));
        }
        let _turn = self.turn();
        let mut text = String::new();
        let cannot = |e: std::io::Error| ToolError::failed(format!("`{path}` cannot be patched: {e}"));
        let read = self.folder().file(path)?.take(READ_BYTES_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
        if read as u64 > READ_BYTES_MAX {
            return Err(ToolError::failed(format!("`{path}` is too large to be patched")));
        }
        let at = match line {
            Some(line) => in_line(&text, line, old)?,
            None => only_one(&text, path, old)?,
        };
        let number = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        text.replace_range(at..at + old.len(), new);
        self.put(path, &text)?;
        Ok(format!("{path}:{number} patched"))
    }
}

/// Where `old` begins in a line.
fn in_line(text: &str, line: usize, old: &str) -> Result<usize, ToolError> {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).filter(|at| *at < text.len());
    let start = line.checked_sub(1).and_then(|skip| starts.nth(skip)).ok_or_else(|| ToolError::failed(format!("there is no line {line}")))?;
    let rest = text.get(start..).unwrap_or_default();
    let there = rest.lines().next().unwrap_or_default();
    match rest.find(old) {
        Some(column) if column <= there.len() => Ok(start + column),
        _ => Err(ToolError::failed(format!("line {line} reads `{there}`, and `{old}` does not begin in it"))),
    }
}

fn only_one(text: &str, path: &str, old: &str) -> Result<usize, ToolError> {
    let mut places = text.match_indices(old).map(|(at, _)| at);
    match (places.next(), places.count()) {
        (Some(at), 0) => Ok(at),
        (Some(_), more) => Err(ToolError::failed(format!("`{path}` has that text {} times; give the line", more + 1))),
        (None, _) => Err(ToolError::failed(format!("`{path}` does not have that text"))),
    }
}
