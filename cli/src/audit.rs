//! `countersign audit`: rules on traces, one after another, and holds none of them longer than that.

mod inputs;
mod shown;
mod totals;

use crate::GOOD;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use countersign::Policy;
use countersign_connect::trace::{Audit, Looks, Report, Source, SourceError, check};
use indicatif::{ProgressBar, ProgressStyle};
use inputs::{Input, inputs};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use totals::Totals;

/// Exits with 0 where every answer would be final, with 1 where one would not, and with 2 where nothing was refused
/// but something could not be read.
#[derive(Args, Default)]
pub struct AuditArgs {
    /// Files and folders; `-`, or none, is the standard input.
    pub paths: Vec<PathBuf>,
    /// One JSON object a trace, a line each.
    #[arg(long)]
    pub json: bool,
    /// A policy in TOML or JSON; without one, an answer is all that is asked for.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Asks an opt-in check as well: that the agent's own todo list has nothing open.
    #[arg(long)]
    pub todos: bool,
    /// Prints the evidence graph of each trace.
    #[arg(long, value_name = "FORM", num_args = 0..=1, default_missing_value = "mermaid")]
    pub graph: Option<GraphForm>,
    /// Prints the whole ruling on each trace.
    #[arg(long)]
    pub explain: bool,
    /// Lists the formats that are read, and stops.
    #[arg(long)]
    pub formats: bool,
}

/// How a graph is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphForm {
    /// Mermaid, for Markdown.
    Mermaid,
    /// DOT, for Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// Every node and edge.
    Json,
}

/// The policy of an audit: that of a file, or the default.
pub(crate) fn policy(file: Option<&Path>) -> Result<Policy> {
    let Some(file) = file else { return Ok(Policy::default()) };
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    let json = file.extension().is_some_and(|e| e == "json");
    let policy = if json { Policy::from_json(&text) } else { Policy::from_toml(&text) };
    policy.with_context(|| format!("`{}`", file.display()))
}

/// Audits, and writes what it finds.
pub fn run(args: &AuditArgs, out: &mut dyn Write) -> Result<u8> {
    let looks = Looks { graph: args.graph.is_some(), words: args.explain };
    let gate = if args.todos { check::gate().with(check::TodosDone) } else { check::gate() };
    let audit = Audit::with_gate(policy(args.policy.as_deref())?, gate).looking(looks);
    let mut out = std::io::BufWriter::new(out);
    if args.formats {
        audit.formats().try_for_each(|name| writeln!(out, "{name}"))?;
        return Ok(GOOD);
    }
    let totals = each(args, &audit, &mut out)?;
    if !args.json {
        write!(out, "{totals}")?;
    }
    out.flush()?;
    Ok(totals.exit_status())
}

fn each(args: &AuditArgs, audit: &Audit, out: &mut impl Write) -> std::io::Result<Totals> {
    let (inputs, mut totals) = (inputs(&args.paths), Totals::default());
    let bar = progress(&inputs);
    for input in &inputs {
        let read = read(audit, input);
        bar.inc(input.bytes());
        totals.count(&read);
        bar.suspend(|| match args.json {
            true => shown::as_json(out, &input.name(), &read),
            false => shown::as_text(out, &input.name(), &read, args.graph),
        })?;
    }
    bar.finish_and_clear();
    Ok(totals)
}

fn read(audit: &Audit, input: &Input) -> std::result::Result<Report, SourceError> {
    match input {
        Input::Stdin => audit.read("stdin", Source::of(std::io::stdin())?),
        Input::File { path, .. } => audit.file(path),
    }
}

/// A bar on a terminal, where there is more than one file to wait for.
fn progress(inputs: &[Input]) -> ProgressBar {
    if inputs.len() < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(inputs.iter().map(Input::bytes).sum()).with_style(style)
}
