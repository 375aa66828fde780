//! A runner from a file.

use super::guards::Described;
use super::{AgentConfig, Config, Mcp, Mode, Tools, Wrong};
use anyhow::Context;
use countersign::{Agent, Deep, Journal, Model, PlanExecute, Runner, RunnerBuilder, Single, Supervisor, Tool, ToolSpec};
use countersign_connect::mcp::launch::Address as McpAddress;
use countersign_connect::mcp::server::Patience;
use countersign_connect::mcp::{Launch, Program, Server};
use countersign_connect::model::{ByAgent, ChatModel};
use countersign_connect::tool::command::Pattern;
use countersign_connect::tool::fetch::Address;
use countersign_connect::tool::{Commands, Fetch, Folder};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;

/// A runner, and the servers on which its tools depend.
pub struct Assembled {
    /// The runner.
    pub runner: Runner,
    servers: Vec<Server>,
}

impl Assembled {
    /// How many MCP servers are connected.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }
}

/// A file that is being made into a runner.
struct File<'a> {
    name: &'a str,
    text: &'a str,
    config: Config,
}

impl Config {
    /// Reads a file and makes a runner of it: connects to its MCP servers, and checks that everything fits
    /// together, before a token is spent.
    pub async fn assemble(name: &str, text: &str, journal: Option<Arc<dyn Journal>>) -> anyhow::Result<Assembled> {
        let file = File { name, text, config: Self::read(name, text)? };
        let mut tools = file.own_tools()?;
        let guards = Described { file: name, text }.guards(&file.config.guards)?;
        let mut servers = Vec::new();
        for (name, mcp) in &file.config.mcp {
            let server = Server::connect(name, &launch(name, mcp)?, Patience::default()).await?;
            tools.extend(server.tools(&mcp.tools)?);
            servers.push(server);
        }
        let mut builder = file.builder(&tools)?.policy(file.config.policy.clone());
        builder = guards.into_iter().fold(builder, RunnerBuilder::guard);
        if let Some(journal) = journal {
            builder = builder.journal(journal);
        }
        let runner = tools.into_iter().fold(builder, RunnerBuilder::shared_tool).build()?;
        Ok(Assembled { runner, servers })
    }
}

impl File<'_> {
    fn wrong(&self, at: &Spanned<impl Sized>, message: String) -> Wrong {
        Wrong::at(self.name, self.text, at.span(), message)
    }

    fn builder(&self, tools: &[Arc<dyn Tool>]) -> anyhow::Result<RunnerBuilder> {
        let model = self.models()?;
        let builder = match self.config.mode {
            Mode::Single => Runner::builder(Single::default(), model),
            Mode::Deep => Runner::builder(Deep::default(), model),
            Mode::PlanExecute => Runner::builder(PlanExecute, model),
            Mode::Supervisor => Runner::builder(Supervisor::default(), model),
        };
        let agents = self.config.agents.iter().map(|said| self.agent(said, tools)).collect::<Result<Vec<_>, _>>()?;
        Ok(agents.into_iter().fold(builder, RunnerBuilder::agent))
    }

    /// One model for each agent.
    fn models(&self) -> anyhow::Result<ByAgent> {
        let mut models: BTreeMap<&str, Arc<dyn Model>> = BTreeMap::new();
        for (name, settings) in &self.config.models {
            let model = ChatModel::new(settings.clone()).with_context(|| format!("model `{name}`"))?;
            models.insert(name, Arc::new(model));
        }
        let first = models.values().next().cloned().context("no model is there; add one, as `[models.main]`")?;
        let named = self.config.agents.iter().filter_map(|agent| Some((agent, agent.model.as_ref()?)));
        named.into_iter().try_fold(ByAgent::new(first), |all, (agent, name)| match models.get(name.get_ref().as_str()) {
            Some(model) => Ok(all.with(&agent.name, model.clone())),
            None => Err(self.wrong(name, format!("no model is called `{}`; there are: {}", name.get_ref(), known(models.keys().copied()))).into()),
        })
    }

    fn agent(&self, said: &AgentConfig, tools: &[Arc<dyn Tool>]) -> Result<Agent, Wrong> {
        let text = said.instructions.as_str();
        let mut agent = match (self.config.mode, said.name.as_str()) {
            (Mode::PlanExecute, "planner") => PlanExecute::planner(text),
            (Mode::PlanExecute, "replanner") => PlanExecute::replanner(text),
            (_, name) => Agent::new(name, text),
        };
        for name in &said.tools {
            let spec = tools.iter().map(|t| t.spec()).find(|spec| *spec.name == **name.get_ref());
            let names: Vec<String> = tools.iter().map(|t| t.spec().name.to_string()).collect();
            let missing = || format!("there is no tool `{}`; there are: {}", name.get_ref(), known(names.iter().map(String::as_str)));
            agent = agent.tool(spec.ok_or_else(|| self.wrong(name, missing()))?);
        }
        for name in &said.agents {
            if !self.config.agents.iter().any(|other| other.name == *name.get_ref()) {
                return Err(self.wrong(name, format!("no agent is called `{}`", name.get_ref())));
            }
            agent = agent.tool(match self.config.mode {
                Mode::Supervisor => ToolSpec::transfer(name.get_ref()),
                _ => ToolSpec::delegate(&format!("ask_{}", name.get_ref()), name.get_ref()),
            });
        }
        // Whoever hands work on accounts for it in the end.
        if !said.agents.is_empty() && matches!(self.config.mode, Mode::Deep | Mode::Supervisor) {
            agent = agent.tool(ToolSpec::conclude());
        }
        Ok(said.turns.into_iter().fold(agent, Agent::turns))
    }

    /// Tools of this machine.
    fn own_tools(&self) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
        let said: &Tools = &self.config.tools;
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        if let Some(folder) = &said.folder {
            let folder = Folder::open(folder)?;
            tools.push(Arc::new(folder.list_tool()));
            tools.push(Arc::new(folder.read_tool()));
            tools.push(Arc::new(folder.search_tool()));
            if said.write {
                let writable = folder.writable()?;
                tools.push(Arc::new(writable.write_tool()));
                tools.push(Arc::new(writable.patch_tool()));
            }
            if !said.commands.is_empty() {
                let commands = Arc::new(self.commands(&folder)?);
                tools.push(Arc::new(commands.run_tool()));
                tools.extend(commands.job_tools());
            }
        } else if let Some(command) = said.commands.first() {
            return Err(self.wrong(command, "commands are run in a folder; name one, as `folder = \".\"`".to_owned()).into());
        }
        if said.fetch {
            let ranges: Vec<&str> = said.fetch_private.iter().map(String::as_str).collect();
            tools.push(Arc::new(Fetch::new(Address::and(&ranges)?, Duration::from_secs(30), 1 << 20)?.tool()));
        }
        Ok(tools)
    }

    fn commands(&self, folder: &Folder) -> Result<Commands, Wrong> {
        let said = &self.config.tools;
        let pattern = |words: &Spanned<Vec<String>>| Pattern::new(words.get_ref()).map_err(|e| self.wrong(words, e.to_string()));
        let allowed = said.commands.iter().map(pattern).collect::<Result<Vec<_>, _>>()?;
        let keep: Vec<&str> = said.keep_env.iter().map(String::as_str).collect();
        Ok(Commands::new(folder, allowed).keep_env(&keep))
    }
}

fn launch(name: &str, said: &Mcp) -> anyhow::Result<Launch> {
    match (&said.url, said.command.is_empty()) {
        (None, false) => {
            let (folder, env) = (said.folder.clone(), said.env.clone());
            Ok(Launch::Program(Program { command: said.command.clone(), folder, env, keep_env: said.keep_env.clone() }))
        }
        (Some(url), true) => Ok(Launch::Url(McpAddress { url: url.clone(), token_env: said.token_env.clone() })),
        _ => anyhow::bail!("MCP server `{name}` has either a `command` or a `url`"),
    }
}

fn known<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
