//! A survey of a folder, in deep mode: a main agent, three sub-agents, real tools.
//!
//! ```text
//! main ──▶ survey_layout ──▶ layout: list, read      ──▶ report
//!      ──▶ survey_code   ──▶ code:   list, read      ──▶ report
//!      ──▶ survey_risks  ──▶ risks:  search          ──▶ report
//!      ──▶ conclude: an answer, and what became of each report
//! ```
//!
//! Any [`Model`] can play the four agents. [`scripted::model`] does so without a key, and still answers from
//! what the tools returned: two folders give two answers.

mod folder_read;
pub mod scripted;

use countersign::{Agent, BuildError, Deep, Model, Policy, Runner, Tool, ToolSpec};
use countersign_connect::tool::Folder;
use folder_read::FolderRead;

/// What the run is asked to do.
pub const TASK: &str = "Survey this folder: what is in it, what is it written in, and what is left to do?";

/// A runner that surveys one folder. The answer has to rest on work that was done, every report has to be
/// accounted for, and at least one file has to have been read.
pub fn survey_runner(folder: &Folder, model: impl Model + 'static) -> Result<Runner, BuildError> {
    let (list, read, search) = (folder.list_tool(), folder.read_tool(), folder.search_tool());
    let sub_agent = |name: &str, instructions: &str| Agent::new(name, instructions).tool(ToolSpec::report()).turns(12);
    let layout = sub_agent("layout", "Say what the folder holds: how many files and bytes, and what its README calls it.");
    let code = sub_agent("code", "Say what the folder is written in, and which source file is the largest.");
    let risks = sub_agent("risks", "Count what is marked as left to do, and say where the first of it stands.");
    Runner::builder(Deep::default(), model)
        .agent(main_agent())
        .agent(layout.tool(list.spec()).tool(read.spec()))
        .agent(code.tool(list.spec()).tool(read.spec()))
        .agent(risks.tool(search.spec()))
        .tool(list)
        .tool(read)
        .tool(search)
        .check(FolderRead)
        .policy(Policy::execution())
        .build()
}

fn main_agent() -> Agent {
    let named = |tool: &str, agent: &str, about: &str| ToolSpec { description: about.into(), ..ToolSpec::delegate(tool, agent) };
    Agent::new("main", "Have the folder looked into, then conclude in your own words. Account for every report.")
        .tool(named("survey_layout", "layout", "Have somebody look at what the folder holds."))
        .tool(named("survey_code", "code", "Have somebody look at what it is written in."))
        .tool(named("survey_risks", "risks", "Have somebody look for what is left to do."))
        .tool(ToolSpec::conclude())
}
