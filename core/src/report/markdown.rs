//! A report as Markdown.

use super::{Rank, RunReport};
use crate::event::Disposed;
use crate::explain::words::{clean, outcome};
use std::fmt::Write;

/// Most lines of one list. The JSON form has them all.
const LINES_MAX: usize = 100;
/// Longest task that is shown.
const TASK_MAX: usize = 400;

impl RunReport {
    /// As Markdown. Names and texts of models and tools are escaped; the answer stands in a block quote, as it
    /// is: whoever renders it has to treat it like any model's Markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("# Report of run {}\n\n", escaped(&clean(&self.run_id, TASK_MAX)));
        if !self.task.trim().is_empty() {
            let _ = write!(out, "**Task:** {}\n\n", escaped(&clean(&self.task, TASK_MAX)));
        }
        let _ = writeln!(out, "**{}:** {} (`{}`)", self.standing(), self.summary, self.completion_reason.name());
        out.push_str("\n## Conclusions\n\n");
        if self.conclusions.is_empty() {
            out.push_str("None: the gate let no answer through.\n");
        }
        for text in &self.conclusions {
            out.push_str(&block_quote(text));
        }
        self.evidence(&mut out);
        self.results(&mut out);
        list(&mut out, "## Risks and uncertainty", "None known.", self.risks.iter().map(|r| r.text.clone()));
        list(&mut out, "## Next actions", "None.", self.next_actions.iter().cloned());
        out
    }

    fn standing(&self) -> &'static str {
        match (self.status, self.conclusions.is_empty()) {
            (crate::Status::Completed, _) => "Final",
            (crate::Status::Failed, _) => "Failed",
            (crate::Status::Cancelled, _) => "Cancelled",
            (crate::Status::Blocked, _) => "Blocked",
            (crate::Status::AwaitingApproval, _) => "Waiting for a person",
            (crate::Status::InProgress, _) => "Not final",
        }
    }

    fn evidence(&self, out: &mut String) {
        out.push_str("\n## Evidence\n");
        if self.evidence.is_empty() {
            out.push_str("\nNone.\n");
        }
        for (rank, title) in [(Rank::Executed, "Executed"), (Rank::Observed, "Observed"), (Rank::Reported, "Reported"), (Rank::Asserted, "Asserted")]
        {
            let mut of_rank = self.evidence.iter().filter(|e| e.rank == rank).peekable();
            if of_rank.peek().is_some() {
                let said = of_rank.map(|e| format!("{}{}", e.what, if e.cited { " — the answer rests on it" } else { "" }));
                list(out, &format!("### {title}"), "", said);
            }
        }
    }

    fn results(&self, out: &mut String) {
        if self.dispositions.is_empty() {
            return;
        }
        let said = self.dispositions.iter().map(|d| {
            let became = d.disposition.map_or("no disposition", disposed);
            let why = if d.why.is_empty() { String::new() } else { format!(": {}", d.why) };
            format!("{} of `{}` ({}): {became}{why}", d.reference, d.agent, outcome(d.outcome))
        });
        list(out, "## Results of sub-agents", "", said);
    }
}

fn disposed(disposition: Disposed) -> &'static str {
    match disposition {
        Disposed::Adopted => "adopted",
        Disposed::Rejected => "rejected",
        Disposed::Duplicate => "duplicate",
        Disposed::Superseded => "superseded",
        Disposed::Unresolved => "unresolved",
    }
}

fn list(out: &mut String, title: &str, none: &str, lines: impl Iterator<Item = String>) {
    let _ = write!(out, "\n{title}\n\n");
    let mut shown = 0_usize;
    let mut more = 0_usize;
    for line in lines {
        if shown == LINES_MAX {
            more += 1;
            continue;
        }
        shown += 1;
        let _ = writeln!(out, "- {}", escaped(&line));
    }
    if more > 0 {
        let _ = writeln!(out, "- and {more} more");
    }
    if shown == 0 {
        let _ = writeln!(out, "{none}");
    }
}

/// The text so that Markdown shows it as it is, with what stands between backticks as code. Runs of backticks
/// become one and an odd one is escaped, so that code begins and ends where it seems to.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    let runs = text.split('`').filter(|part| !part.is_empty()).count() + usize::from(text.starts_with('`')) + usize::from(text.ends_with('`'));
    let mut left = runs.saturating_sub(1);
    let mut code = false;
    let mut last = ' ';
    for c in text.chars() {
        match c {
            '`' if last == '`' => {}
            '`' => {
                // The last of an odd number closes nothing.
                out.push_str(if left == 1 && !code { "\\`" } else { "`" });
                code = !code && left > 1;
                left = left.saturating_sub(1);
            }
            _ if code => out.push(c),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Within a word it means nothing, and `tool_run:7` reads better.
            '_' if last.is_alphanumeric() => out.push('_'),
            '\\' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        last = c;
    }
    out
}

/// Every line quoted, so that a heading in an answer is no heading of the report.
fn block_quote(text: &str) -> String {
    text.lines().map(|line| if line.trim().is_empty() { ">\n".to_owned() } else { format!("> {line}\n") }).collect()
}
