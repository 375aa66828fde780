//! `countersign run`, as the program has it.

use clap::Parser;
use std::process::ExitCode;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    run: countersign_cli::run::RunArgs,
}

fn main() -> ExitCode {
    match countersign_cli::run::run(&Args::parse().run, &mut std::io::stdout()) {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            eprintln!("{why:#}");
            ExitCode::from(countersign_cli::UNREADABLE)
        }
    }
}
