//! A tool that runs a command: only one that is on a list, without a shell, for a limited time.

use crate::folder_tools::Folder;
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// The compiler, as far as types and borrows. What it makes goes to `.out`, which nobody lists.
pub const RUSTC: &[&str] =
    &["rustc", "--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--error-format", "json", "--out-dir", ".out"];

/// Commands that may be run, each by how it begins; what follows may only be paths inside the folder.
#[derive(Clone, Debug)]
pub struct AllowList {
    /// How each allowed command begins, argument by argument.
    pub begins: Vec<Vec<String>>,
    /// How long one may take.
    pub time_max: Duration,
    /// Most bytes of each of its two outputs that are kept.
    pub output_bytes_max: usize,
}

/// A command.
#[derive(Deserialize, JsonSchema)]
struct CommandArgs {
    /// The program and its arguments, one by one. There is no shell.
    argv: Vec<String>,
}

impl AllowList {
    /// Only these.
    pub fn of(begins: &[&[&str]]) -> Self {
        let owned = |words: &&[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Self { begins: begins.iter().map(owned).collect(), time_max: Duration::from_secs(30), output_bytes_max: 1024 * 1024 }
    }

    /// The tool. A command that ends well has passed; any other has failed, and its output says why.
    pub fn tool(self, folder: &Folder) -> FnTool<Run> {
        let (folder, time_max, list) = (folder.clone(), self.time_max, Arc::new(self));
        let run = move |args: CommandArgs| {
            let (folder, list) = (folder.clone(), list.clone());
            async move { list.run(&folder, &args.argv).await }
        };
        FnTool::new("check", "Run a command that checks the project.", Declared::run(Effect::Check), run).timeout(time_max)
    }

    /// Whether a command may be run, and why not.
    pub fn admits(&self, folder: &Folder, argv: &[String]) -> Result<(), ToolError> {
        let Some(paths) = self.begins.iter().find_map(|begin| argv.strip_prefix(begin.as_slice())) else {
            let known: Vec<String> = self.begins.iter().map(|b| format!("`{}`", b.join(" "))).collect();
            return Err(ToolError::failed(format!(
                "`{}` is not on the list of commands that may be run; it holds: {}",
                argv.join(" "),
                known.join(", ")
            )));
        };
        match paths.iter().find(|p| p.starts_with('-')) {
            Some(option) => Err(ToolError::failed(format!("`{option}` is an option, and only paths may be added"))),
            None => paths.iter().try_for_each(|p| folder.confined(p).map(drop)),
        }
    }

    /// Runs it. Dropping the future, as a time limit does, kills the program.
    async fn run(&self, folder: &Folder, argv: &[String]) -> Result<String, ToolError> {
        self.admits(folder, argv)?;
        let Some((program, args)) = argv.split_first() else { return Err(ToolError::failed("say what to run")) };
        let mut command = Command::new(program);
        command.args(args).current_dir(folder.root()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let cannot = |e: std::io::Error| ToolError::failed(format!("`{program}` cannot be run: {e}"));
        let mut child = command.spawn().map_err(cannot)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (out, err, status) = tokio::join!(self.kept(out), self.kept(err), child.wait());
        let (status, text) = (status.map_err(cannot)?, out + &err);
        if status.success() { Ok(format!("passed\n{text}")) } else { Err(ToolError::failed(format!("`{program}` failed, {status}\n{text}"))) }
    }

    /// What is kept of an output: its beginning, as text. The rest is read all the same, so that nobody waits
    /// for a full pipe.
    async fn kept(&self, output: Option<impl AsyncRead + Unpin>) -> String {
        let Some(mut output) = output else { return String::new() };
        let (mut kept, mut all, mut buffer) = (Vec::new(), 0_usize, vec![0_u8; 64 * 1024]);
        while let Ok(read @ 1..) = output.read(&mut buffer).await {
            all += read;
            let room = self.output_bytes_max.saturating_sub(kept.len()).min(read);
            kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
        }
        let cut = if all > kept.len() { format!("\n[cut: {all} bytes in all]\n") } else { String::new() };
        String::from_utf8_lossy(&kept).into_owned() + &cut
    }
}
