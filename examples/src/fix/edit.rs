//! A tool that edits one line of a file.

use crate::folder_tools::Folder;
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// One line, as it is and as it is to be.
#[derive(Deserialize, JsonSchema)]
struct EditArgs {
    /// The file, below the folder.
    path: String,
    /// The line, from 1.
    line: usize,
    /// What stands there. Where something else does, nothing is changed.
    old: String,
    /// What is to stand there.
    new: String,
}

/// The tool. It runs in place, so two edits of one file never cross.
pub fn tool(folder: &Folder) -> FnTool<Run> {
    let folder = folder.clone();
    FnTool::plain("edit", "Replace one line of a file.", Declared::run(Effect::Write), move |args: EditArgs| edit(&folder, &args))
}

fn edit(folder: &Folder, args: &EditArgs) -> Result<String, ToolError> {
    let path = folder.confined(&args.path)?;
    let cannot = |e: std::io::Error| ToolError::failed(format!("`{}` cannot be edited: {e}", args.path));
    // A file that is not UTF-8 is left alone: written back, it would not be what it was.
    let text = std::fs::read_to_string(&path).map_err(cannot)?;
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let place = lines.get_mut(args.line.saturating_sub(1)).ok_or_else(|| ToolError::failed(format!("there is no line {}", args.line)))?;
    let there = place.trim_end_matches(['\r', '\n']);
    if there != args.old {
        return Err(ToolError::failed(format!("line {} reads `{there}`, not `{}`", args.line, args.old)));
    }
    let new = args.new.clone() + place.get(there.len()..).unwrap_or_default();
    *place = &new;
    std::fs::write(&path, lines.concat()).map_err(cannot)?;
    Ok(format!("{}:{} edited", args.path, args.line))
}
