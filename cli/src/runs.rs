//! `countersign runs`: which runs a journal has, and how they stand.

use crate::GOOD;
use crate::source::{Source, Where, wait};
use clap::Args;
use countersign::Status;
use countersign::journal::projection::{RunQuery, RunSummary};
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which runs.
#[derive(Args, Debug)]
pub struct RunsArgs {
    /// Where they are.
    #[command(flatten)]
    pub at: Where,
    /// Those that stand so: completed, in_progress, awaiting_approval, blocked, failed or cancelled.
    #[arg(long, value_parser = status)]
    pub status: Option<Status>,
    /// Those of this mode.
    #[arg(long)]
    pub mode: Option<String>,
    /// Those of this conversation.
    #[arg(long)]
    pub conversation: Option<String>,
    /// Those that began no longer ago than this, such as `2h` or `3days`.
    #[arg(long, value_parser = humantime::parse_duration, value_name = "AGE")]
    pub since: Option<Duration>,
    /// Those that began longer ago than this.
    #[arg(long, value_parser = humantime::parse_duration, value_name = "AGE")]
    pub before: Option<Duration>,
    /// Those whose task begins with words among which these are.
    #[arg(long)]
    pub text: Option<String>,
    /// How many at most.
    #[arg(long, default_value_t = 50)]
    pub most: usize,
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
}

fn status(name: &str) -> Result<Status, String> {
    let names = || Status::ALL.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
    Status::named(name).ok_or_else(|| format!("a run stands as one of: {}", names()))
}

/// Lists them.
pub fn run(args: &RunsArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let now = SystemTime::now();
    let ago_ms = |age: Duration| {
        now.checked_sub(age).and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
    };
    let query = RunQuery {
        status: args.status,
        mode: args.mode.as_deref().map(Into::into),
        owner: None,
        conversation: args.conversation.as_deref().map(Into::into),
        since_ms: args.since.map(ago_ms),
        before_ms: args.before.map(ago_ms),
        text: args.text.as_deref().map(Into::into),
        most: args.most,
    };
    let found = wait(async { Ok(Source::open(&args.at.journal, &args.at.key).await?.journal().list(&query).await?) })?;
    if args.json {
        for run in &found {
            writeln!(out, "{}", serde_json::to_string(run)?)?;
        }
    } else {
        table(&found, out)?;
    }
    Ok(GOOD)
}

fn table(found: &[RunSummary], out: &mut dyn Write) -> std::io::Result<()> {
    if found.is_empty() {
        return writeln!(out, "no run fits");
    }
    let wide = found.iter().map(|r| r.run.len()).max().unwrap_or(0).clamp(3, 40);
    writeln!(out, "{:wide$}  {:20}  {:13}  {:30}  TASK", "RUN", "BEGAN", "MODE", "STANDS")?;
    for run in found {
        let stands = run.reason.map_or_else(|| run.status.name().to_owned(), |reason| format!("{}: {}", run.status.name(), reason.name()));
        let title = run.title.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "{:wide$}  {:20}  {:13}  {stands:30}  {title}", run.run, time(run.started_ms), run.mode)?;
    }
    Ok(())
}

/// A moment, in UTC.
pub(crate) fn time(at_ms: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(at_ms)).to_string()
}
