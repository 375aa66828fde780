//! A program that looks at an answer. It is given JSON on its input, and answers with JSON.

use crate::tool::command::{Group, Limits, Output};
use countersign::{Guard, GuardSaid, GuardState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};

/// Most bytes of each of its outputs that are read.
const OUTPUT_BYTES: usize = 64 * 1024;
/// Most characters of its error output that stand in a reason.
const REASON_CHARS: usize = 300;

/// Asks a program, without a shell. It is waited for, and nothing else is done meanwhile on the thread that asks.
///
/// A program that cannot be started, takes too long, fails or answers something else has not looked: the run stops, with
/// that as the reason.
#[derive(Clone, Debug)]
pub struct ProgramGuard {
    name: String,
    argv: Vec<String>,
    folder: Option<PathBuf>,
    env: BTreeMap<OsString, OsString>,
    limits: Limits,
}

/// What it is given, as one JSON object.
#[derive(Serialize)]
struct Question<'a> {
    guard: &'a str,
    final_text: &'a str,
    turns: u32,
    nudges: u32,
    tools: Vec<Used<'a>>,
}

#[derive(Serialize)]
struct Used<'a> {
    name: &'a str,
    allowed: bool,
}

/// What it may answer, as the log has it: `"accept"`, `{"nudge": "…"}` or `{"stop": "…"}`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Accept,
    Nudge(String),
    Stop(String),
}

impl ProgramGuard {
    /// A program and its arguments. Of the environment it is given `PATH` and no more. The name stands in the log.
    pub fn new(name: &str, argv: Vec<String>) -> Self {
        let limits = Limits { time: Duration::from_secs(10), output_bytes: OUTPUT_BYTES, ..Limits::default() };
        Self { name: name.to_owned(), argv, folder: None, env: BTreeMap::new(), limits }.keep_env(&["PATH"])
    }

    /// Where it stands.
    #[must_use]
    pub fn folder(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Hands variables of this process on, where they are set.
    #[must_use]
    pub fn keep_env(mut self, names: &[&str]) -> Self {
        self.env.extend(names.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))));
        self
    }

    /// How long it may take.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.limits.time = time;
        self
    }

    /// Asks it, on a thread of its own: whoever asks may stand in an async runtime, where another cannot be started.
    fn ask(&self, question: &str) -> Result<Answer, String> {
        let asked = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
            runtime.block_on(self.answer(question))
        };
        std::thread::scope(|scope| scope.spawn(asked).join()).unwrap_or_else(|_| Err("the thread that asked it died".to_owned()))
    }

    async fn answer(&self, question: &str) -> Result<Answer, String> {
        let Some((program, args)) = self.argv.split_first() else { return Err("no program is named".to_owned()) };
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(&self.env);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut group = Group::start_asked(command, &self.limits).map_err(|e| format!("`{program}` cannot be run: {e}"))?;
        let (out, err, input) = (Output::default(), Output::default(), group.input());
        let (stdout, stderr) = group.outputs();
        let work = async {
            let all = (group.wait(), give(input, question), out.fill(stdout, OUTPUT_BYTES), err.fill(stderr, OUTPUT_BYTES));
            tokio::join!(all.0, all.1, all.2, all.3).0
        };
        let ended = tokio::time::timeout(self.limits.time, work).await;
        let status = ended.map_err(|_| format!("`{program}` took longer than {:?}", self.limits.time))?.map_err(|e| e.to_string())?;
        let said: String = err.text().trim().chars().take(REASON_CHARS).collect();
        if !status.success() {
            return Err(format!("`{program}` failed, {status}: {said}"));
        }
        serde_json::from_str(&out.text())
            .map_err(|e| format!("`{program}` answered something else than \"accept\", {{\"nudge\": \"…\"}} or {{\"stop\": \"…\"}} ({e})"))
    }
}

/// Hands the question over. A program that does not read it may answer all the same.
async fn give(input: Option<ChildStdin>, question: &str) {
    if let Some(mut input) = input {
        let _ = input.write_all(question.as_bytes()).await;
    }
}

impl Guard for ProgramGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, state: &GuardState<'_>) -> GuardSaid {
        let tools = state.tools.iter().map(|tool| Used { name: &tool.name, allowed: tool.allowed }).collect();
        let question = Question { guard: &self.name, final_text: state.final_text, turns: state.turns, nudges: state.nudges, tools };
        let asked = serde_json::to_string(&question).map_err(|e| e.to_string()).and_then(|question| self.ask(&question));
        match asked {
            Ok(Answer::Accept) => GuardSaid::Accept,
            Ok(Answer::Nudge(text)) => GuardSaid::Nudge(text),
            Ok(Answer::Stop(why)) => GuardSaid::Stop(why),
            Err(why) => GuardSaid::Stop(format!("it could not look: {why}")),
        }
    }
}
