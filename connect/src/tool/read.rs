//! Reading one file, or some of its lines.

use super::folder::{Folder, TIME_MAX, off_thread};
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// A file, or a part of one.
#[derive(Deserialize, JsonSchema)]
struct ReadArgs {
    /// Its path below the folder, such as `src/lib.rs`.
    path: String,
    /// The first line that is wanted, from 1.
    from: Option<usize>,
    /// How many lines are wanted; all where it is left out.
    lines: Option<usize>,
}

impl Folder {
    /// Reads one file, or the lines of it that are wanted.
    pub fn read_tool(&self) -> impl countersign::Tool + use<> {
        let folder = self.clone();
        let run = move |args: ReadArgs| {
            let folder = folder.clone();
            off_thread(move || folder.read(&args.path).and_then(|text| part(text, &args)))
        };
        let tool: FnTool<Run> = FnTool::new("read_file", "Read a file, or some of its lines.", Declared::run(Effect::Read), run);
        tool.timeout(TIME_MAX)
    }
}

fn part(text: String, args: &ReadArgs) -> Result<String, ToolError> {
    if args.from.is_none() && args.lines.is_none() {
        return Ok(text);
    }
    let (from, all) = (args.from.unwrap_or(1).max(1), text.lines().count());
    if from > all {
        return Err(ToolError::failed(format!("`{}` has {all} lines; there is no line {from}", args.path)));
    }
    Ok(text.split_inclusive('\n').skip(from - 1).take(args.lines.unwrap_or(usize::MAX)).collect())
}
