//! What the compiler says, read from its JSON lines: its errors, and the edits that it is sure of.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line to be replaced.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fix {
    /// The file, below the folder.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What stands there.
    pub old: String,
    /// What should.
    pub new: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    level: String,
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    is_primary: bool,
    line_start: usize,
    line_end: usize,
    column_start: usize,
    column_end: usize,
    text: Vec<Line>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    text: String,
}

/// Errors in words, with the place of each.
pub fn errors(output: &str) -> Vec<String> {
    let errors = diagnostics(output).filter(|d| d.level == "error" && !d.spans.is_empty());
    let place = |d: &Diagnostic| d.spans.iter().find(|s| s.is_primary).map(|s| format!("{}:{}: ", s.file_name, s.line_start));
    errors.map(|d| place(&d).unwrap_or_default() + &d.message).collect()
}

/// Edits that the compiler marks as safe to apply, one a line; several on one line are made one.
pub fn fixes(output: &str) -> Vec<Fix> {
    let all: Vec<Diagnostic> = diagnostics(output).collect();
    let mut by_line: BTreeMap<(&str, usize), Vec<&Span>> = BTreeMap::new();
    for span in all.iter().flat_map(|d| &d.children).flat_map(|c| &c.spans) {
        let sure = span.suggestion_applicability.as_deref() == Some("MachineApplicable");
        if sure && span.suggested_replacement.is_some() && span.line_start == span.line_end {
            by_line.entry((&span.file_name, span.line_start)).or_default().push(span);
        }
    }
    by_line.into_iter().filter_map(|((path, line), spans)| fix(path, line, spans)).collect()
}

fn fix(path: &str, line: usize, mut spans: Vec<&Span>) -> Option<Fix> {
    let old = spans.first()?.text.first()?.text.clone();
    // From right to left, so that columns stay true; where two overlap, the left one waits for another round.
    spans.sort_by_key(|s| std::cmp::Reverse((s.column_start, s.column_end)));
    spans.dedup_by_key(|s| s.column_start);
    let mut chars: Vec<char> = old.chars().collect();
    let mut free = usize::MAX;
    for span in spans {
        let (from, to) = (span.column_start.checked_sub(1)?, span.column_end.checked_sub(1)?);
        if to > free || from > to || to > chars.len() {
            continue;
        }
        chars.splice(from..to, span.suggested_replacement.as_deref()?.chars());
        free = from;
    }
    let new: String = chars.into_iter().collect();
    // Several lines cannot be told as one.
    (new != old && !new.contains('\n')).then(|| Fix { path: path.to_owned(), line, old, new })
}

fn diagnostics(output: &str) -> impl Iterator<Item = Diagnostic> {
    output.lines().filter_map(|line| serde_json::from_str(line).ok())
}
