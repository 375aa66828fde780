//! `countersign show`: one run, how it stands and why.

use crate::runs::time;
use crate::source::{Source, Where, wait};
use crate::{BAD, GOOD};
use clap::{Args, ValueEnum};
use countersign::graph::GraphView;
use countersign::journal::projection::{Message, process_details};
use countersign::report::RunReport;
use countersign::{Decision, Gate, ROOT, Record, Run, explain};
use std::io::Write;
use std::sync::Arc;

/// Which run, and what of it.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The run.
    pub run: String,
    /// Where it is.
    #[command(flatten)]
    pub at: Where,
    /// What is shown of it.
    #[arg(long, value_enum, default_value_t = View::Text)]
    pub view: View,
}

/// What is shown of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// How it stands and why, its message, and what it did.
    Text,
    /// The gate's ruling on it as it stands, as JSON.
    Decision,
    /// The report: conclusions, evidence, risks, next actions, as Markdown.
    Report,
    /// The log, one JSON event a line.
    Log,
    /// The evidence graph as DOT.
    Dot,
    /// The evidence graph for Mermaid.
    Mermaid,
    /// The evidence graph as SVG.
    Svg,
    /// The evidence graph as JSON.
    Graph,
}

/// Shows it.
pub fn run(args: &ShowArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (log, message) = wait(async {
        let source = Source::open(&args.at.journal, &args.at.key).await?;
        let log = source.log(&args.at.journal, &args.run).await?;
        Ok((log, source.journal().message(&args.run).await?.unwrap_or_default()))
    })?;
    if args.view == View::Log {
        for record in &log {
            writeln!(out, "{}", serde_json::to_string(&**record)?)?;
        }
        return Ok(GOOD);
    }
    let run = Run::replay(Arc::new(Gate::default()), log)?;
    let ledger = run.ledger();
    // What was recorded stands for what an older gate made of it; a run that has moved on since is ruled on as it stands.
    let decision = match ledger.newest() {
        Some(countersign::Event::Decided { scope: ROOT, decision, .. }) => decision.clone(),
        _ => Arc::new(run.decide()),
    };
    let graph = || GraphView::of(ledger, Some(&decision));
    match args.view {
        View::Text => text(&run, &decision, &message, out)?,
        View::Decision => writeln!(out, "{}", serde_json::to_string_pretty(&*decision)?)?,
        View::Report => write!(out, "{}", RunReport::of(ledger, &decision).to_markdown())?,
        View::Dot => write!(out, "{}", graph().to_dot())?,
        View::Mermaid => write!(out, "{}", graph().to_mermaid())?,
        View::Svg => write!(out, "{}", graph().to_svg())?,
        View::Graph => writeln!(out, "{}", graph().to_json())?,
        View::Log => {}
    }
    Ok(if decision.finalized { GOOD } else { BAD })
}

fn text(run: &Run, decision: &Decision, message: &Message, out: &mut dyn Write) -> anyhow::Result<()> {
    let ledger = run.ledger();
    let moment = |record: Option<&Arc<Record>>| record.map_or_else(String::new, |r| time(r.at_ms));
    if let Some(start) = ledger.started() {
        writeln!(
            out,
            "run {}, mode {}, began {}, last event {} at {}",
            start.run,
            start.mode,
            moment(ledger.log().first()),
            ledger.seq(),
            moment(ledger.log().last())
        )?;
        writeln!(out, "task: {}", start.task)?;
        if let Some(from) = &start.forked {
            writeln!(out, "forked from run {} after event {}", from.run, from.seq)?;
        }
    }
    writeln!(out, "\n{}", explain(ledger, decision).trim_end())?;
    match (&message.content, &message.candidate) {
        (Some(content), _) => writeln!(out, "\nmessage:\n{content}")?,
        (None, Some(candidate)) => writeln!(out, "\nno message yet; a candidate that is not final has {} bytes", candidate.len())?,
        (None, None) => {}
    }
    let work = process_details(ledger);
    if !work.is_empty() {
        writeln!(out, "\nwork:")?;
    }
    for detail in work {
        let took = detail.ended_ms.map_or_else(|| "not ended".into(), |end| format!("{} ms", end.saturating_sub(detail.began_ms)));
        writeln!(out, "- event {}: {} of {} ({took})", detail.seq, detail.label, detail.agent)?;
    }
    Ok(())
}
