//! `countersign serve`, as the program has it.

use clap::Parser;
use std::process::ExitCode;

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    serve: countersign_cli::serve::ServeArgs,
}

fn main() -> ExitCode {
    match countersign_cli::serve::run(&Args::parse().serve, &mut std::io::stdout()) {
        Ok(status) => ExitCode::from(status),
        Err(why) => {
            eprintln!("{why:#}");
            ExitCode::from(countersign_cli::UNREADABLE)
        }
    }
}
