//! `countersign replay`: stored runs, ruled on again.

use crate::place::Place;
use crate::source::{Key, Source, wait};
use crate::{BAD, GOOD};
use clap::Args;
use countersign::gate::GATE_VERSION;
use countersign::{Decision, Event, Gate, Record, Run};
use std::io::Write;
use std::sync::Arc;

/// Which runs.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A journal, as a file or `postgres://...`, or a log of one event a line. A password is better kept in the variable.
    #[arg(env = "COUNTERSIGN_JOURNAL", hide_env_values = true, value_name = "FILE|DSN")]
    pub journal: Place,
    /// The run; without it, all of them.
    pub run: Option<String>,
    /// The journal's key.
    #[command(flatten)]
    pub key: Key,
}

/// What became of a run that was ruled on again.
enum Again {
    /// Every recorded decision is made again.
    Same { decisions: usize },
    /// A decision is not made again.
    Other { seq: u32, recorded: String, now: String },
    /// Its checks are not all here.
    Unknown(String),
    /// Its log cannot be folded.
    Broken(String),
}

/// Rules on them.
pub fn run(args: &ReplayArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    wait(async {
        let source = Source::open(&args.journal, &args.key).await?;
        let names = match &args.run {
            Some(run) => vec![run.clone()],
            None => source.names().await?,
        };
        let mut status = GOOD;
        for name in names {
            let again = match source.log(&args.journal, &name).await {
                Ok(log) => rule(&log),
                Err(why) if args.run.is_none() => Again::Broken(why.to_string()),
                Err(why) => return Err(why.into()),
            };
            if !matches!(again, Again::Same { .. }) {
                status = BAD;
            }
            writeln!(out, "{name}: {}", told(&again))?;
        }
        Ok(status)
    })
}

fn told(again: &Again) -> String {
    match again {
        Again::Same { decisions: 0 } => "no decision yet".into(),
        Again::Same { decisions } => format!("same, {decisions} decisions"),
        Again::Other { seq, recorded, now } => format!("other: event {seq} recorded {recorded}, and this gate rules {now}"),
        Again::Unknown(why) => format!("unknown: {why}"),
        Again::Broken(why) => format!("broken: {why}"),
    }
}

/// Folds a log event by event, and asks the gate wherever it was asked then.
fn rule(log: &[Arc<Record>]) -> Again {
    let gate = Arc::new(Gate::default());
    let Some((first, rest)) = log.split_first() else { return Again::Broken("it is empty".into()) };
    let mut run = match Run::replay(gate.clone(), [first.clone()]) {
        Ok(run) => run,
        Err(why) => return Again::Broken(why.to_string()),
    };
    if let Some(start) = run.ledger().started()
        && let Some(gone) = start.checks.iter().find(|check| !gate.names().contains(check))
    {
        let other = if start.gate == GATE_VERSION { "" } else { ", and another gate version wrote it" };
        return Again::Unknown(format!("its check `{}`, version {}, is not part of this program{other}", gone.name, gone.version));
    }
    let mut decisions = 0;
    for record in rest {
        if let Event::Decided { scope, candidate, decision } = &record.event {
            let now = gate.decide_in(run.ledger(), *scope, *candidate);
            if now != **decision {
                return Again::Other { seq: record.seq, recorded: short(decision), now: short(&now) };
            }
            decisions += 1;
        }
        if let Err(why) = run.append_records(std::slice::from_ref(record)) {
            return Again::Broken(format!("event {} is not legal there: {why}", record.seq));
        }
    }
    Again::Same { decisions }
}

/// A decision in a few words; what is missing too, as two refusals may differ in nothing else.
fn short(decision: &Decision) -> String {
    let missing: Vec<&str> = decision.missing().collect();
    let missing = if missing.is_empty() { String::new() } else { format!(" (missing: {})", missing.join(", ")) };
    format!("{}/{}{missing}", decision.status.name(), decision.completion_reason.name())
}
