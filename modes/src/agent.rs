//! Who works: agents by name.

use crate::mode::Mode;
use crate::tool::{ToolKind, ToolSpec};
use countersign_core::{Policy, Str};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// How an agent works.
#[derive(Clone)]
pub enum Machine {
    /// A model with tools.
    Loop,
    /// A mode of its own: its final is evidence here, never the answer.
    Mode(Arc<dyn Mode>),
}

/// One agent.
#[derive(Clone)]
pub struct Agent {
    /// Its name.
    pub name: Str,
    /// What it is told before everything else.
    pub instructions: Str,
    /// Its tools, by name.
    pub tools: IndexMap<Str, ToolSpec, FxBuildHasher>,
    /// How it works.
    pub machine: Machine,
    /// Turns that it may take for one question; the run's limit stands above.
    pub turns: Option<u32>,
}

/// Agents that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentsError {
    /// Two tools of one agent share a name.
    #[error("agent `{agent}` has two tools called `{tool}`; rename one")]
    DuplicateTool {
        /// The agent.
        agent: Str,
        /// The tool.
        tool: Str,
    },
    /// Two agents share a name.
    #[error("two agents are called `{0}`; rename one")]
    DuplicateAgent(Str),
    /// A tool hands work to somebody who is not there.
    #[error("tool `{tool}` of agent `{agent}` hands work to `{target}`, and there is no such agent; add it, or remove the tool")]
    UnknownSpecialist {
        /// The agent.
        agent: Str,
        /// The tool.
        tool: Str,
        /// Who is missing.
        target: Str,
    },
    /// The mode's concluding agent is not there.
    #[error("mode `{mode}` concludes by agent `{owner}`, and there is no such agent; add it")]
    NoOwner {
        /// The mode.
        mode: Str,
        /// Who is missing.
        owner: Str,
    },
    /// The policy asks for what these agents cannot give.
    #[error("{0}")]
    Infeasible(String),
}

/// The agents of a run.
#[derive(Clone, Default)]
pub struct Agents {
    by_name: IndexMap<Str, Arc<Agent>, FxBuildHasher>,
    duplicate: Option<AgentsError>,
}

impl Agent {
    /// A model with instructions and no tools yet.
    pub fn new(name: &str, instructions: &str) -> Self {
        Self { name: name.into(), instructions: instructions.into(), tools: IndexMap::default(), machine: Machine::Loop, turns: None }
    }

    /// A mode that works as an agent of another mode.
    pub fn mode(name: &str, mode: impl Mode + 'static) -> Self {
        Self { machine: Machine::Mode(Arc::new(mode)), ..Self::new(name, "") }
    }

    /// Gives it a tool. Two of one name are refused when the run is built.
    #[must_use]
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        let mut key = tool.name.clone();
        while self.tools.contains_key(&key) {
            // Kept under a name that no model can call, so that the builder can say which it was.
            key = format!("{key}\u{0}").into();
        }
        self.tools.insert(key, tool);
        self
    }

    /// Limits its turns for one question.
    #[must_use]
    pub fn turns(mut self, turns: u32) -> Self {
        self.turns = Some(turns);
        self
    }
}

impl Agents {
    /// No agents yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent. Two of one name are refused when the run is built.
    #[must_use]
    pub fn with(mut self, agent: Agent) -> Self {
        let name = agent.name.clone();
        if self.by_name.insert(name.clone(), Arc::new(agent)).is_some() {
            self.duplicate.get_or_insert(AgentsError::DuplicateAgent(name));
        }
        self
    }

    /// An agent by name.
    pub fn get(&self, name: &str) -> Option<&Arc<Agent>> {
        // A run asks with the very names that stand here, over and over: the first few are known by their place.
        let at_once = self.by_name.values().take(4).find(|agent| std::ptr::eq(&*agent.name, name));
        at_once.or_else(|| self.by_name.get(name))
    }

    /// Every agent, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.by_name.values()
    }

    /// Whether these agents can carry out a run in this mode, under this policy.
    pub fn check(&self, mode: &dyn Mode, policy: &Policy) -> Result<(), AgentsError> {
        if let Some(error) = &self.duplicate {
            return Err(error.clone());
        }
        for agent in self.iter() {
            self.check_tools(agent)?;
        }
        let rules = mode.rules();
        let owner = rules.concluder(policy);
        if self.get(owner).is_none() {
            return Err(AgentsError::NoOwner { mode: mode.name().into(), owner: owner.clone() });
        }
        if let Some(why) = policy.infeasible().or_else(|| mode.infeasible(self, policy)) {
            return Err(AgentsError::Infeasible(why));
        }
        if policy.require_execution_evidence && !self.can_give_evidence() {
            return Err(AgentsError::Infeasible(
                "evidence is required, and no agent has a tool whose result counts as evidence; add one, or do not require it".into(),
            ));
        }
        Ok(())
    }

    fn check_tools(&self, agent: &Agent) -> Result<(), AgentsError> {
        for (key, tool) in &agent.tools {
            if *key != tool.name {
                return Err(AgentsError::DuplicateTool { agent: agent.name.clone(), tool: tool.name.clone() });
            }
            if let ToolKind::Delegate { agent: target } | ToolKind::Transfer { agent: target, .. } = &tool.kind
                && self.get(target).is_none()
            {
                return Err(AgentsError::UnknownSpecialist { agent: agent.name.clone(), tool: tool.name.clone(), target: target.clone() });
            }
        }
        Ok(())
    }

    /// Whether any agent has a tool that counts. A custom mode may ask any agent, so all are looked at.
    fn can_give_evidence(&self) -> bool {
        self.iter().any(|a| matches!(a.machine, Machine::Mode(_)) || a.tools.values().any(|t| t.declared().evidence))
    }
}
