//! The `countersign` program.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Code, not prose, decides when an answer is final.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {}

fn main() -> ExitCode {
    match Args::parse().command {}
}
