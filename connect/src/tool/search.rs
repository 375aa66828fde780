//! Searching files for a pattern, with `ripgrep`'s own matcher.

use super::folder::{Folder, TIME_MAX, off_thread};
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, ToolError};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// Largest file that is searched, in bytes.
const SEARCHED_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most lines that one search shows.
pub const HITS_MAX: usize = 200;
/// Longest line that a search shows, in characters.
const HIT_CHARS_MAX: usize = 160;
/// Largest compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// What to look for.
#[derive(Deserialize, JsonSchema)]
struct SearchArgs {
    /// A regular expression.
    pattern: String,
    /// Whether the pattern is the exact text instead.
    #[serde(default)]
    exact: bool,
    /// A folder below the root; everything where it is left out.
    path: Option<String>,
}

impl Folder {
    /// Finds the lines that match a pattern, in the files that a listing would show.
    pub fn search_tool(&self) -> impl countersign::Tool + use<> {
        let folder = self.clone();
        let run = move |args: SearchArgs| {
            let folder = folder.clone();
            off_thread(move || folder.search(&args.pattern, args.exact, args.path.as_deref().unwrap_or(".")))
        };
        let tool: FnTool<Run> = FnTool::new("search_files", "Find the lines that match a pattern.", Declared::run(Effect::Read), run);
        tool.timeout(TIME_MAX)
    }

    /// How many lines match, and each of the first as `path:line: text`. Binary files are not searched.
    pub fn search(&self, pattern: &str, exact: bool, below: &str) -> Result<String, ToolError> {
        if pattern.trim().is_empty() {
            return Err(ToolError::failed("say what to look for"));
        }
        let matcher = RegexMatcherBuilder::new().fixed_strings(exact).size_limit(PATTERN_BYTES_MAX).build(pattern);
        let matcher = matcher.map_err(|e| ToolError::failed(format!("`{pattern}` is no pattern: {e}")))?;
        let (files, mut cut) = self.some_files(below)?;
        let mut hits = Hits::default();
        let mut searcher = SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).line_number(true).build();
        for file in files {
            if file.bytes > SEARCHED_BYTES_MAX {
                cut = true;
                continue;
            }
            hits.look(self, &mut searcher, &matcher, &file.path);
        }
        let note = if cut || hits.count > HITS_MAX { "[cut: there may be more than is shown]\n" } else { "" };
        Ok(format!("{} lines\n{}{note}", hits.count, hits.shown))
    }
}

#[derive(Default)]
struct Hits {
    shown: String,
    count: usize,
}

impl Hits {
    /// A file that cannot be read any more holds nothing that could be shown.
    fn look(&mut self, folder: &Folder, searcher: &mut Searcher, matcher: &RegexMatcher, path: &str) {
        let Ok(file) = folder.file(path) else { return };
        let sink = Lossy(|at, line| {
            self.count += 1;
            if self.count <= HITS_MAX {
                let line: String = line.trim().chars().take(HIT_CHARS_MAX).collect();
                let _ = writeln!(self.shown, "{path}:{at}: {line}");
            }
            Ok(true)
        });
        // What was found up to an error in the middle of a file stands.
        let _ = searcher.search_file(matcher, &file.into_std(), sink);
    }
}
