//! `countersign hook`: a host asks whether its agent may stop; the gate rules on the agent's transcript.
//!
//! ```text
//! host ──payload──▶ hook ──transcript──▶ audit ──findings──▶ memory ──▶ answer in the host's contract
//!                                                            (said before?)
//! ```
//!
//! It never loops. Where the host says that the agent goes on because of a hook, it may stop. What was said once is
//! not said again, and there is a most for each session. Whatever goes wrong in here, the agent may stop, with a
//! message to the user. What is told to the agent is a fixed sentence for each finding: never text of the transcript.

mod answer;
mod install;
mod memory;
mod payload;
mod replace;
mod ruling;
mod settings;

pub use answer::Answer;
pub use install::{InstallArgs, Place};
pub use memory::BLOCKS_MAX;
pub use ruling::{TRANSCRIPT_BYTES_MAX, TRANSCRIPT_TIME_MAX};

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use memory::Memory;
use payload::Payload;
use std::io::{Read, Write};
use std::path::PathBuf;

/// Longest payload that is read.
const PAYLOAD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads the hook's JSON on the standard input, and answers on the standard output.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HookArgs {
    #[command(subcommand)]
    command: Option<HookCommand>,
    /// The host that asks; without it, its payload tells.
    #[arg(long)]
    host: Option<Host>,
    /// Where is kept what was said in which session.
    #[arg(long, value_name = "FOLDER")]
    memory: Option<PathBuf>,
}

#[derive(Subcommand)]
enum HookCommand {
    /// Puts the hook into the settings of a host; shows what it changes first.
    Install(InstallArgs),
    /// Takes it out again.
    Uninstall(InstallArgs),
}

/// A program in which agents work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
}

impl Host {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
        }
    }
}

/// Runs the command.
pub fn run(args: &HookArgs, out: &mut dyn Write) -> Result<u8> {
    match &args.command {
        Some(HookCommand::Install(args)) => install::install(args, out),
        Some(HookCommand::Uninstall(args)) => install::uninstall(args, out),
        None => {
            let mut text = String::new();
            let read = std::io::stdin().take(PAYLOAD_BYTES_MAX).read_to_string(&mut text);
            let answer = match read {
                Ok(_) => answer(args.host, &text, args.memory.clone()),
                Err(why) => Answer::through(args.host, format!("the payload cannot be read: {why}")),
            };
            answer.write(out, &mut std::io::stderr())
        }
    }
}

/// Answers one payload. `memory` is the folder of what was said before; without one, that of the user's state.
pub fn answer(host: Option<Host>, payload: &str, memory: Option<PathBuf>) -> Answer {
    let payload = match Payload::read(payload, host) {
        Ok(payload) => payload,
        Err(why) => return Answer::through(host, why),
    };
    if payload.is_continuation || !payload.ended_well {
        // It goes on because of a hook, or it was stopped: nothing is added to that.
        return Answer::silent(&payload);
    }
    let findings = match ruling::rule(&payload) {
        Ok(findings) => findings,
        Err(why) => return Answer::through(Some(payload.host), why),
    };
    let memory = Memory::of(memory, &payload.session);
    match memory.and_then(|mut memory| memory.new_among(&findings)) {
        Ok(new) if new.is_empty() => Answer::silent(&payload),
        Ok(new) => Answer::block(&payload, &new),
        Err(why) => Answer::through(Some(payload.host), format!("what was said before cannot be kept: {why}")),
    }
}
