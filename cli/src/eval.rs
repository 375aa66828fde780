//! `countersign eval`: the audit over labelled traces. Which failures does it catch, and which good runs does it
//! refuse?

mod interval;
mod manifest;
mod score;

use crate::audit::policy;
use crate::{BAD, GOOD};
use anyhow::Result;
use clap::Args;
use countersign_connect::trace::Audit;
use manifest::Label;
use score::{Limits, Scores};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Exits with 1 where a limit that was given is broken, with 2 where the manifest could not be read.
#[derive(Args, Default)]
pub struct EvalArgs {
    /// Line JSON: `{"file", "outcome": "success" | "failure" | "unknown", "set"}`, the file relative to the manifest.
    pub manifest: PathBuf,
    /// A policy in TOML or JSON.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Most good runs that may be refused in a set.
    #[arg(long, value_name = "RUNS")]
    pub refused_max: Option<usize>,
    /// Most good runs that may be refused in a set, in percent; with `--refused-max`, the larger of the two holds.
    #[arg(long, value_name = "PERCENT")]
    pub refused_percent_max: Option<f64>,
    /// Fewest failures that must be caught in a set, as `SET=RUNS`; may be given again.
    #[arg(long, value_name = "SET=RUNS", value_parser = caught_min)]
    pub caught_min: Vec<(String, usize)>,
    /// Names the good runs that were refused, and the failures that were not caught.
    #[arg(long)]
    pub list: bool,
    /// The scores as JSON.
    #[arg(long)]
    pub json: bool,
}

fn caught_min(text: &str) -> std::result::Result<(String, usize), String> {
    let (set, runs) = text.rsplit_once('=').ok_or("expected `SET=RUNS`, such as `tau-bench=20`")?;
    Ok((set.to_owned(), runs.parse().map_err(|e| format!("`{runs}` is no number of runs: {e}"))?))
}

/// Measures, and writes the scores.
pub fn run(args: &EvalArgs, out: &mut dyn Write) -> Result<u8> {
    let scores = scores(args)?;
    if args.json {
        writeln!(out, "{}", scores.as_json())?;
    } else {
        write!(out, "{scores}")?;
    }
    if args.list {
        scores.list().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    let limits = Limits { refused: args.refused_max, refused_percent: args.refused_percent_max, caught: &args.caught_min };
    let broken = scores.broken(&limits);
    broken.iter().for_each(|why| eprintln!("{why}"));
    Ok(if broken.is_empty() { GOOD } else { BAD })
}

fn scores(args: &EvalArgs) -> Result<Scores> {
    let audit = Audit::new(policy(args.policy.as_deref())?);
    let folder = args.manifest.parent().unwrap_or(Path::new(""));
    let mut scores = Scores::default();
    for labelled in manifest::read(&args.manifest)? {
        let read = audit.file(&folder.join(&labelled.file));
        scores.count(&labelled, &read);
    }
    Ok(scores)
}

impl Label {
    /// Whether the trace is known to be good; `None` where that is not known.
    fn good(self) -> Option<bool> {
        match self {
            Self::Success => Some(true),
            Self::Failure => Some(false),
            Self::Unknown => None,
        }
    }
}
