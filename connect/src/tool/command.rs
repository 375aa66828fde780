//! Running programs: only those on a list, without a shell, with limits.
//!
//! This is **no sandbox**. A program on the list runs with the rights of this process: it may read what this
//! process may read, write where it may write, and talk to whom it may talk. Put a container around it if what
//! it works on was written by somebody else.

mod group;
mod job;
mod output;
mod pattern;

pub use pattern::{Pattern, PatternError};

use crate::tool::Folder;
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, Tool, ToolError};
pub(crate) use group::Group;
use job::Jobs;
pub(crate) use output::Output;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;

/// Programs that may be run in one folder.
#[derive(Debug)]
pub struct Commands {
    folder: Folder,
    allowed: Vec<Pattern>,
    env: BTreeMap<OsString, OsString>,
    limits: Limits,
    effect: Effect,
    jobs: Jobs,
}

/// What one program may use. All but time and output are kept by the kernel, on Linux only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run to its end; jobs may run for as long as their run.
    pub time: Duration,
    /// Most bytes of each of its two outputs that are kept.
    pub output_bytes: usize,
    /// Processor time, in seconds.
    pub cpu_s: u64,
    /// Largest file that it may write, in bytes.
    pub file_bytes: u64,
    /// Files that it may have open.
    pub open_files: u64,
    /// Memory that it may ask for, in bytes. Not limited by default: many programs reserve far more than they use.
    pub memory_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        let time = Duration::from_secs(60);
        Self { time, output_bytes: 1024 * 1024, cpu_s: 120, file_bytes: 1024 * 1024 * 1024, open_files: 1024, memory_bytes: None }
    }
}

/// A command.
#[derive(Deserialize, JsonSchema)]
struct CommandArgs {
    /// The program and its arguments, one by one. There is no shell.
    argv: Vec<String>,
}

impl Commands {
    /// Only these, in this folder. They verify by default (see [`effect`](Self::effect)), and are given no more
    /// of the environment than where programs are found.
    pub fn new(folder: &Folder, allowed: Vec<Pattern>) -> Self {
        let commands =
            Self { folder: folder.clone(), allowed, env: BTreeMap::new(), limits: Limits::default(), effect: Effect::Check, jobs: Jobs::default() };
        commands.keep_env(&["PATH"])
    }

    /// Hands variables of this process on, where they are set.
    #[must_use]
    pub fn keep_env(mut self, names: &[&str]) -> Self {
        let set = |name: &&str| Some((OsString::from(name), std::env::var_os(name)?));
        self.env.extend(names.iter().filter_map(set));
        self
    }

    /// Sets a variable for every program.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets what one program may use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Says what these programs do to the world. `Check`, the default, is right for compilers and tests: their
    /// outcome is a verdict. Say `Write` for any that change something.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Whether a command may be run, and why not.
    pub fn admits(&self, argv: &[String]) -> Result<(), ToolError> {
        let mut why = None;
        for pattern in &self.allowed {
            match pattern.admits(&self.folder, argv) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(wrong) => why = why.or(Some(wrong)),
            }
        }
        Err(why.unwrap_or_else(|| {
            let known: Vec<String> = self.allowed.iter().map(|p| format!("`{p}`")).collect();
            ToolError::failed(format!("`{}` is not on the list of commands that may be run; it holds: {}", argv.join(" "), known.join(", ")))
        }))
    }

    /// `run_command`: runs a program to its end.
    pub fn run_tool(self: &Arc<Self>) -> impl Tool + use<> {
        let commands = self.clone();
        let run = move |args: CommandArgs| {
            let commands = commands.clone();
            async move { commands.run(&args.argv).await }
        };
        let tool: FnTool<Run> = FnTool::new("run_command", "Run a program to its end.", Declared::run(self.effect), run);
        tool.timeout(self.limits.time)
    }

    /// Runs a program to its end. One that ends well has passed; any other has failed, and its output says why.
    /// Dropping the future, as a time limit and a cancelled run do, kills it and all that it started.
    pub async fn run(&self, argv: &[String]) -> Result<String, ToolError> {
        let (out, err) = (Output::default(), Output::default());
        let status = self.carry_out(argv, &out, &err).await?;
        ended(argv, status, &out, &err)
    }

    async fn carry_out(&self, argv: &[String], out: &Output, err: &Output) -> Result<ExitStatus, ToolError> {
        self.admits(argv)?;
        let Some((program, args)) = argv.split_first() else { return Err(ToolError::failed("say what to run")) };
        let mut command = Command::new(program);
        command.args(args).current_dir(self.folder.root()).env_clear().envs(&self.env);
        let cannot = |e: std::io::Error| ToolError::failed(format!("`{program}` cannot be run: {e}"));
        let mut group = Group::start(command, &self.limits).map_err(cannot)?;
        let (stdout, stderr) = group.outputs();
        let most = self.limits.output_bytes;
        let reads = async { tokio::join!(out.fill(stdout, most), err.fill(stderr, most)) };
        // The group is killed when the program has ended: nobody who still holds a pipe open is waited for.
        let (status, _) = tokio::join!(group.wait(), reads);
        status.map_err(cannot)
    }
}

/// What a program's end says.
fn ended(argv: &[String], status: ExitStatus, out: &Output, err: &Output) -> Result<String, ToolError> {
    let (program, text) = (argv.first().map_or("", String::as_str), out.text() + &err.text());
    if status.success() { Ok(format!("passed\n{text}")) } else { Err(ToolError::failed(format!("`{program}` failed, {status}\n{text}"))) }
}
