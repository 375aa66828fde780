//! Building a runner, and running tasks with it.

use crate::conversation;
use crate::driver::Driver;
use crate::error::DriveError;
use crate::guard::GuardPlugin;
use crate::hooks::Hooks;
use crate::journal::{Journal, MemoryJournal};
use crate::live::{Command, LiveRun, Shared};
use crate::model::Model;
use crate::parts::{Clock, Parts};
use crate::request::{IMAGES_MAX, ImageError, Request};
use crate::result::{NotFinal, RunResult};
use crate::tool::Tool;
use crate::typed::AnswerFits;
use countersign_core::event::{Forked, History};
use countersign_core::{Check, Gate, Limits, Policy, Run, RunStarted, Str};
use countersign_modes::agent::AgentsError;
use countersign_modes::{Agent, Agents, Mode, ToolKind, ToolSpec};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// A runner that cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The agents do not fit together, or the policy cannot be met by them.
    #[error(transparent)]
    Agents(#[from] AgentsError),
    /// Two tools share a name.
    #[error("two tools are called `{0}`; rename one")]
    DuplicateTool(Str),
    /// An agent is offered a tool that nobody runs.
    #[error("agent `{agent}` is offered tool `{tool}`, and nothing runs it; add it with `tool`")]
    NoTool {
        /// The agent.
        agent: Str,
        /// The tool.
        tool: Str,
    },
}

/// What a runner is made of.
pub struct RunnerBuilder {
    mode: Arc<dyn Mode>,
    model: Arc<dyn Model>,
    agents: Agents,
    policy: Policy,
    gate: Gate,
    tools: Vec<Arc<dyn Tool>>,
    guards: Vec<GuardPlugin>,
    hooks: Option<Arc<dyn Hooks>>,
    journal: Arc<dyn Journal>,
    clock: Clock,
}

/// Runs tasks. Cheap to clone; any number of runs at the same time.
#[derive(Clone)]
pub struct Runner {
    parts: Arc<Parts>,
}

/// What is said of a run when it is started, beside its task. Labels: nothing rules by them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The conversation to which it belongs.
    pub conversation: Option<Str>,
    /// The message that it fills.
    pub message: Option<Str>,
    /// To whom it belongs.
    pub owner: Option<Str>,
    /// The runner that begins it, by a name, where there are several.
    pub profile: Option<Str>,
}

impl Runner {
    /// Begins with a mode and a model.
    pub fn builder(mode: impl Mode + 'static, model: impl Model + 'static) -> RunnerBuilder {
        RunnerBuilder {
            mode: Arc::new(mode),
            model: Arc::new(model),
            agents: Agents::new(),
            policy: Policy::default(),
            gate: Gate::default(),
            tools: Vec::new(),
            guards: Vec::new(),
            hooks: None,
            journal: Arc::new(MemoryJournal::new()),
            clock: Arc::new(now_ms),
        }
    }

    /// Runs a task to its end, or to where a person is needed.
    pub async fn run(&self, task: impl Into<Request>) -> Result<RunResult, DriveError> {
        let (driver, _) = self.begin(new_id(), task.into(), Labels::default(), None)?;
        // On the heap from its first poll to its end: a thousand runs that wait for their turn stay small.
        Box::pin(driver.drive()).await
    }

    /// Runs a task whose answer is JSON of a type; see [`RunnerBuilder::answers`].
    pub async fn run_as<T: DeserializeOwned>(&self, task: impl Into<Request>) -> Result<Result<T, NotFinal>, DriveError> {
        Ok(self.run(task).await?.parse())
    }

    /// Starts a task under an id of its own, in a task of the async runtime.
    pub fn start(&self, run: &str, task: impl Into<Request>) -> Result<LiveRun, DriveError> {
        let (driver, shared) = self.begin(run.into(), task.into(), Labels::default(), None)?;
        Ok(self.spawn(driver, shared))
    }

    /// As `start`, with labels. One that names a conversation is its next message; what was said there before is read
    /// among the runs of the same owner.
    pub async fn start_as(&self, run: &str, task: impl Into<Request> + Send, labels: Labels) -> Result<LiveRun, DriveError> {
        let talk = match &labels.conversation {
            Some(conversation) => self.talk(conversation, labels.owner.as_ref()).await?.1,
            None => None,
        };
        let (driver, shared) = self.begin(run.into(), task.into(), labels, talk)?;
        Ok(self.spawn(driver, shared))
    }

    /// Runs a task as the next message of a conversation: the agent is told what was said there before, as far as the
    /// limits `history_runs` and `history_bytes` go. A conversation is the name that its runs share, and begins with the
    /// first of them.
    ///
    /// What was said before is read once, from the journal, and is part of the run's first event. Only a final is told
    /// as an answer; a message that got none, or has none yet, is told with that note. Two runs of one conversation may
    /// be under way at the same time: neither waits for the other, and the later one is told that the earlier has no
    /// answer yet.
    pub async fn converse(&self, conversation: &str, task: impl Into<Request>) -> Result<RunResult, DriveError> {
        let (conversation, talk) = self.talk(conversation, None).await?;
        let (driver, _) = self.begin(new_id(), task.into(), Labels { conversation: Some(conversation), ..Labels::default() }, talk)?;
        Box::pin(driver.drive()).await
    }

    /// Starts a task as the next message of a conversation, under an id of its own; see [`Runner::converse`].
    pub async fn start_in(&self, conversation: &str, run: &str, task: impl Into<Request>) -> Result<LiveRun, DriveError> {
        let (conversation, talk) = self.talk(conversation, None).await?;
        let (driver, shared) = self.begin(run.into(), task.into(), Labels { conversation: Some(conversation), ..Labels::default() }, talk)?;
        Ok(self.spawn(driver, shared))
    }

    /// Takes a run up again from its journal, with what a person has to say to it. A run that had stopped or
    /// parked gets a fresh allowance, and the limits given; one whose process died gets neither. Where this runner
    /// lacks something that the run needs, nothing is recorded, and what was said counts for nothing.
    pub async fn resume(&self, run: &str, commands: Vec<Command>, limits: Option<Limits>) -> Result<LiveRun, DriveError> {
        let (driver, shared) = Driver::resume(self.parts.clone(), run, commands, limits).await?;
        Ok(self.spawn(driver, shared))
    }

    /// Starts a run that shares another's beginning, up to and with event `seq`, and goes on from there: for trying
    /// again from before a mistake. What was under way at that event counts as lost, as after a crash; the older
    /// run stays as it is.
    pub async fn fork(&self, of: &str, seq: u32, run: &str, commands: Vec<Command>, limits: Option<Limits>) -> Result<LiveRun, DriveError> {
        let (driver, shared) = Driver::fork(self.parts.clone(), Forked { run: of.into(), seq }, run, commands, limits).await?;
        Ok(self.spawn(driver, shared))
    }

    /// The same runner, with its logs kept elsewhere.
    #[must_use]
    pub fn on(&self, journal: Arc<dyn Journal>) -> Self {
        Self { parts: Arc::new(Parts { journal, ..(*self.parts).clone() }) }
    }

    /// The same runner, with another policy for the runs that it starts; those that it takes up keep their own.
    pub fn under(&self, policy: Policy) -> Result<Self, BuildError> {
        self.parts.agents.check(&*self.parts.mode, &policy)?;
        Ok(Self { parts: Arc::new(Parts { policy_digest: policy.digest(), policy, ..(*self.parts).clone() }) })
    }

    /// The policy of the runs that it starts.
    pub fn policy(&self) -> &Policy {
        &self.parts.policy
    }

    /// The gate under which its runs are ruled on.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.parts.gate
    }

    /// The name of its mode.
    pub fn mode(&self) -> &Str {
        &self.parts.name
    }

    /// What models are offered of a tool that it runs.
    pub fn tool(&self, name: &str) -> Option<ToolSpec> {
        self.parts.tools.get(name).map(|tool| tool.spec())
    }

    /// A run as its journal has it, folded and not driven: to see what it waits for.
    pub async fn read(&self, run: &str) -> Result<Run, DriveError> {
        Driver::read(&self.parts, run).await.map(|(run, _)| run)
    }

    /// The journal.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.parts.journal
    }

    fn spawn(&self, driver: Box<Driver>, shared: Arc<Shared>) -> LiveRun {
        LiveRun { shared, journal: self.parts.journal.clone(), task: tokio::spawn(driver.drive()) }
    }

    async fn talk(&self, conversation: &str, owner: Option<&Str>) -> Result<(Str, Option<Arc<History>>), DriveError> {
        let history = conversation::history(&*self.parts.journal, conversation, owner, &self.parts.policy.limits).await?;
        Ok((conversation.into(), history.map(Arc::new)))
    }

    fn begin(&self, run: Str, request: Request, labels: Labels, history: Option<Arc<History>>) -> Result<(Box<Driver>, Arc<Shared>), DriveError> {
        let parts = &self.parts;
        let Request { task, images } = request;
        if images.len() > IMAGES_MAX {
            return Err(ImageError::Many(images.len()).into());
        }
        let mut start = RunStarted::new(run, task, parts.name.clone(), parts.rules.clone(), parts.policy.clone());
        (start.conversation, start.message) = (labels.conversation, labels.message);
        (start.owner, start.profile) = (labels.owner, labels.profile);
        start.history = history;
        start.images = images.iter().map(|image| image.reference().clone()).collect();
        start.mode_version = parts.mode.version();
        start.policy_digest = parts.policy_digest.clone();
        let at_ms = (parts.clock)();
        let run = Run::start(parts.gate.clone(), start, at_ms)?;
        let (mut driver, shared) = Driver::new(parts.clone(), run, 0, at_ms);
        driver.bring(images);
        Ok((driver, shared))
    }
}

impl RunnerBuilder {
    /// Adds an agent.
    #[must_use]
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agents = self.agents.with(agent);
        self
    }

    /// Sets what must hold before an answer is final.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds a tool. Agents are offered it by its specification.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a shared tool.
    #[must_use]
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a check of the user's own.
    #[must_use]
    pub fn check(mut self, check: impl Check + 'static) -> Self {
        self.gate = self.gate.with(check);
        self
    }

    /// Wants every answer to be JSON of a type. One that is not is refused, the agent is told the schema, and the
    /// run's allowance bounds how often; [`Runner::run_as`] reads it.
    #[must_use]
    pub fn answers<T: DeserializeOwned + JsonSchema + 'static>(self) -> Self {
        self.check(AnswerFits::<T>::new())
    }

    /// Adds a finish guard.
    #[must_use]
    pub fn guard(mut self, guard: GuardPlugin) -> Self {
        self.guards.push(guard);
        self
    }

    /// Sets what runs before and after every act.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.hooks = Some(Arc::new(hooks));
        self
    }

    /// Sets where logs are kept.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// Sets where the time comes from.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Checks that everything fits together, before a token is spent.
    pub fn build(self) -> Result<Runner, BuildError> {
        let mut tools: FxHashMap<Str, Arc<dyn Tool>> = FxHashMap::default();
        for tool in self.tools {
            let name = tool.spec().name;
            if tools.insert(name.clone(), tool).is_some() {
                return Err(BuildError::DuplicateTool(name));
            }
        }
        self.agents.check(&*self.mode, &self.policy)?;
        for agent in self.agents.iter() {
            let runs = |kind: &ToolKind| matches!(kind, ToolKind::Run(_));
            if let Some(tool) = agent.tools.values().find(|t| runs(&t.kind) && !tools.contains_key(&t.name)) {
                return Err(BuildError::NoTool { agent: agent.name.clone(), tool: tool.name.clone() });
            }
        }
        let parts = Parts {
            name: self.mode.name().into(),
            rules: self.mode.rules(),
            mode: self.mode,
            model: self.model,
            agents: self.agents,
            policy_digest: self.policy.digest(),
            policy: self.policy,
            gate: Arc::new(self.gate),
            tools,
            guards: self.guards,
            hooks: self.hooks,
            journal: self.journal,
            clock: self.clock,
        };
        Ok(Runner { parts: Arc::new(parts) })
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// An id that no other run of this process has, and hardly one of another: a process is known by its number and by
/// when it began its first run.
fn new_id() -> Str {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static PROCESS: LazyLock<String> = LazyLock::new(|| format!("run-{:x}-{:x}", now_ms(), std::process::id()));
    let mut id = String::with_capacity(48);
    // Writing to a string does not fail.
    let _ = write!(id, "{}-{:x}", *PROCESS, NEXT.fetch_add(1, Ordering::Relaxed));
    id.into()
}
