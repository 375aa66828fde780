//! `countersign init`: a commented file to start from.

use crate::GOOD;
use clap::Args;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// What the file holds.
pub const STARTER: &str = include_str!("init/countersign.toml");

/// Where it goes.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The file to write. One that is there is left alone.
    #[arg(default_value = "countersign.toml")]
    pub file: PathBuf,
}

/// Writes it.
pub fn run(args: &InitArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let name = args.file.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(&args.file);
    match opened.and_then(|mut file| file.write_all(STARTER.as_bytes())) {
        Ok(()) => writeln!(out, "wrote `{name}`; look it over, then: countersign run \"your task\"")?,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => anyhow::bail!("`{name}` is there already; name another file, or move it away"),
        Err(e) => anyhow::bail!("`{name}` cannot be written: {e}"),
    }
    Ok(GOOD)
}
