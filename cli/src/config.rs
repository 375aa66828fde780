//! `countersign.toml`: models, agents, tools, MCP servers, mode, guards and policy.

mod assemble;
mod guards;
mod place;

pub use assemble::Assembled;
pub use guards::GuardConfig;
pub use place::Wrong;

use countersign::Policy;
use countersign_connect::mcp::Terms;
use countersign_connect::model::Settings;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::Spanned;

/// A file, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How the agents work together.
    #[serde(default)]
    pub mode: Mode,
    /// Models by name. An agent that names none gets the first.
    pub models: BTreeMap<String, Settings>,
    /// Who works.
    pub agents: Vec<AgentConfig>,
    /// What is on this machine for them.
    #[serde(default)]
    pub tools: Tools,
    /// Servers whose tools they may use.
    #[serde(default)]
    pub mcp: BTreeMap<String, Mcp>,
    /// Who looks at an answer before it goes out.
    #[serde(default)]
    pub guards: Vec<GuardConfig>,
    /// What must hold before an answer is final.
    #[serde(default)]
    pub policy: Policy,
}

/// How agents work together. Some agents have names by which a mode knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// `main` works alone.
    #[default]
    Single,
    /// `main` hands parts to others, and concludes.
    Deep,
    /// `planner`, `executor` and `replanner`.
    PlanExecute,
    /// `supervisor` transfers to specialists, and concludes.
    Supervisor,
}

/// One agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Its name.
    pub name: String,
    /// What it is told before everything else.
    #[serde(default)]
    pub instructions: String,
    /// Its model.
    #[serde(default)]
    pub model: Option<Spanned<String>>,
    /// Tools that it is offered.
    #[serde(default)]
    pub tools: Vec<Spanned<String>>,
    /// Agents to whom it may hand work.
    #[serde(default)]
    pub agents: Vec<Spanned<String>>,
    /// Turns that it may take for one question.
    #[serde(default)]
    pub turns: Option<u32>,
}

/// Tools of this machine. None is there that is not asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The folder that may be read: `list_files`, `read_file`, `search_files`.
    pub folder: Option<PathBuf>,
    /// Whether it may be written to as well: `write_file`, `patch_file`.
    pub write: bool,
    /// Commands that may be run in it, each as a pattern: `run_command`, `start_command`, `job_output`, `stop_job`.
    pub commands: Vec<Spanned<Vec<String>>>,
    /// Variables of the environment that commands are given beside `PATH`.
    pub keep_env: Vec<String>,
    /// Whether pages may be fetched: `fetch_url`.
    pub fetch: bool,
    /// Private ranges that may be fetched from.
    pub fetch_private: Vec<String>,
}

/// An MCP server: a program, or an address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mcp {
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where it stands.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables that it is given from this environment.
    #[serde(default)]
    pub keep_env: Vec<String>,
    /// The address, instead of a program.
    #[serde(default)]
    pub url: Option<String>,
    /// The variable that holds a bearer token.
    #[serde(default)]
    pub token_env: Option<String>,
    /// On which terms its tools are used.
    #[serde(default)]
    pub tools: Terms,
}

impl Config {
    /// Reads a file's text. What is wrong is said with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, Wrong> {
        toml::from_str(text).map_err(|e| Wrong::at(file, text, e.span().unwrap_or(0..0), e.message().to_owned()))
    }
}
