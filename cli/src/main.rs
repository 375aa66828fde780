//! The `countersign` program.

use clap::{Parser, Subcommand};
use countersign_cli::{UNREADABLE, audit, eval, hook, init, replay, runs, show, verify};
use std::io::ErrorKind;
use std::process::ExitCode;

/// Code, not prose, decides when an answer is final.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Carries out a task.
    #[cfg(feature = "run")]
    Run(countersign_cli::run::RunArgs),
    /// Serves runs over HTTP, with a page to watch and approve them.
    #[cfg(feature = "serve")]
    Serve(countersign_cli::serve::ServeArgs),
    /// Writes a configuration file to start from.
    Init(init::InitArgs),
    /// Lists the runs of a journal, the newest first.
    Runs(runs::RunsArgs),
    /// Shows how a run stands, and why.
    Show(show::ShowArgs),
    /// Checks that every log of a journal is what was written.
    Verify(verify::VerifyArgs),
    /// Rules on stored runs again, and says whether they still get their recorded decisions.
    Replay(replay::ReplayArgs),
    /// Rules on what agents of other frameworks wrote: would their answer be final, and why not?
    Audit(audit::AuditArgs),
    /// Measures the audit on labelled traces: failures caught, and good runs refused.
    Eval(eval::EvalArgs),
    /// Answers the stop hook of an agent's host: may it stop, and what is missing? Installs itself there, too.
    Hook(hook::HookArgs),
}

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    let done = match Args::parse().command {
        #[cfg(feature = "run")]
        Command::Run(args) => countersign_cli::run::run(&args, &mut out),
        #[cfg(feature = "serve")]
        Command::Serve(args) => countersign_cli::serve::run(&args, &mut out),
        Command::Init(args) => init::run(&args, &mut out),
        Command::Runs(args) => runs::run(&args, &mut out),
        Command::Show(args) => show::run(&args, &mut out),
        Command::Verify(args) => verify::run(&args, &mut out),
        Command::Replay(args) => replay::run(&args, &mut out),
        Command::Audit(args) => audit::run(&args, &mut out),
        Command::Eval(args) => eval::run(&args, &mut out),
        Command::Hook(args) => hook::run(&args, &mut out),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        // Whoever was reading has read enough.
        Err(why) if why.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("countersign: {why:#}");
            ExitCode::from(UNREADABLE)
        }
    }
}
