//! `countersign verify`: whether every log of a journal is what was written.

use crate::place::Place;
use crate::source::{Key, Source, wait};
use crate::{BAD, GOOD};
use clap::Args;
use countersign::JournalError;
use std::io::Write;

/// Which journal.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The journal: a file, or `postgres://...`. A password is better kept in the variable.
    #[arg(env = "COUNTERSIGN_JOURNAL", hide_env_values = true, value_name = "FILE|DSN")]
    pub journal: Place,
    /// Its key.
    #[command(flatten)]
    pub key: Key,
}

/// Checks it.
pub fn run(args: &VerifyArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (damaged, runs) = wait(async {
        let source = Source::open(&args.journal, &args.key).await?;
        let Some(damaged) = source.verify().await? else {
            anyhow::bail!("`{}` is a log without a hash chain; `countersign replay` checks what it says", args.journal);
        };
        Ok((damaged, source.names().await?.len()))
    })?;
    for damage in &damaged {
        writeln!(out, "{damage}")?;
    }
    let sealed = if args.key.key_file.is_some() { "nobody without the key has changed it" } else { "no corruption" };
    match damaged.iter().filter(|damage| matches!(damage, JournalError::Damaged { .. })).count() {
        0 if !damaged.is_empty() => {}
        0 => writeln!(out, "{runs} runs are whole: {sealed}")?,
        count => writeln!(out, "{count} of {runs} runs are damaged")?,
    }
    Ok(if damaged.is_empty() { GOOD } else { BAD })
}
