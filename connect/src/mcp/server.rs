//! A server that is connected to.

use super::call::McpTool;
use super::definition::Definition;
use super::launch::Launch;
use super::progress::Signs;
use super::terms::Terms;
use countersign::Tool;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{ProgressNotificationParam, Tool as Foreign};
use rmcp::service::{NotificationContext, Peer, RoleClient, RunningService, ServiceError, serve_client};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest name of a tool that every provider takes.
const NAME_MAX: usize = 64;

/// An MCP server. Its tools work for as long as this is kept; dropping it ends the connection, and the program.
pub struct Server {
    name: String,
    link: Arc<Link>,
    tools: Vec<Definition>,
}

/// How long a call may go on, in all and without a sign of progress. Connecting may take as long as a whole call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Without progress.
    pub silence: Duration,
    /// In all.
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(60), whole: Duration::from_secs(600) }
    }
}

/// A server that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// Its name cannot stand in front of its tools' names.
    #[error("`{0}` is no name for a server; take letters, digits, `_` and `-`")]
    Name(String),
    /// It cannot be started or reached.
    #[error("server `{server}` cannot be reached: {why}")]
    Reach {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
    /// A tool's name is too long, or cannot be offered to a model.
    #[error("server `{server}` has a tool `{tool}`, whose name no model can be offered; give the server a shorter name, or leave the tool out")]
    ToolName {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

/// The connection that a server's tools share.
pub(super) struct Link {
    pub(super) server: String,
    pub(super) peer: Peer<RoleClient>,
    pub(super) patience: Patience,
    /// Set when the server says that its tools have changed.
    changed: Arc<AtomicBool>,
    /// Who waits for signs of progress.
    pub(super) signs: Signs,
    /// Digests as the server has them now.
    now: Mutex<BTreeMap<String, String>>,
    _service: RunningService<RoleClient, Watch>,
}

/// Listens to what a server says unasked.
struct Watch {
    changed: Arc<AtomicBool>,
    signs: Signs,
    server: String,
}

impl ClientHandler for Watch {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.signs.show(&progress);
        tracing::debug!(server = self.server, done = progress.progress, of = progress.total, message = progress.message, "progress");
    }
}

impl Server {
    /// Connects to a server and asks for its tools.
    pub async fn connect(name: &str, launch: &Launch, patience: Patience) -> Result<Self, McpError> {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            return Err(McpError::Name(name.to_owned()));
        }
        let reach = |why: String| McpError::Reach { server: name.to_owned(), why };
        let changed = Arc::new(AtomicBool::new(false));
        let signs = Signs::default();
        let watch = Watch { changed: changed.clone(), signs: signs.clone(), server: name.to_owned() };
        let greeted = async {
            match launch {
                Launch::Program(program) => serve_client(watch, program.start().map_err(|e| e.to_string())?).await.map_err(|e| e.to_string()),
                Launch::Url(address) => serve_client(watch, address.connect().map_err(|e| e.to_string())?).await.map_err(|e| e.to_string()),
            }
        };
        let late = |_| reach(format!("it did not answer within {:?}", patience.whole));
        let service = tokio::time::timeout(patience.whole, greeted).await.map_err(late)?.map_err(reach)?;
        let peer = service.peer().clone();
        // A server without resources or prompts is fine: it is not asked for any.
        let listed = tokio::time::timeout(patience.whole, peer.list_all_tools()).await.map_err(late)?;
        let tools: Vec<Definition> = listed.map_err(|e| reach(e.to_string()))?.iter().map(Definition::of).collect();
        let now = Mutex::new(digests(&tools));
        let link = Arc::new(Link { server: name.to_owned(), peer, patience, changed, signs, now, _service: service });
        Ok(Self { name: name.to_owned(), link, tools })
    }

    /// The same connection, with its tools as they are now: after a tool was not called since it had changed. Terms that
    /// were said of it when it was another hold no longer; see [`Server::outdated`].
    pub async fn relisted(&self) -> Result<Self, McpError> {
        let reach = |e: ServiceError| McpError::Reach { server: self.name.clone(), why: e.to_string() };
        let tools = self.link.list().await.map_err(reach)?;
        Ok(Self { name: self.name.clone(), link: self.link.clone(), tools })
    }

    /// What its tools say of themselves.
    pub fn definitions(&self) -> &[Definition] {
        &self.tools
    }

    /// Tools of which something was said when they were others: they are used on the strictest terms.
    pub fn outdated(&self, terms: &Terms) -> Vec<&str> {
        self.tools.iter().filter(|tool| terms.is_outdated(tool)).map(|tool| tool.name.as_str()).collect()
    }

    /// Its tools on these terms, each as `server__tool`.
    pub fn tools(&self, terms: &Terms) -> Result<Vec<Arc<dyn Tool>>, McpError> {
        let tool = |definition: &Definition| {
            let name = format!("{}__{}", self.name, definition.name);
            let offered = name.len() <= NAME_MAX && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            if !offered {
                return Err(McpError::ToolName { server: self.name.clone(), tool: definition.name.clone() });
            }
            let tool: Arc<dyn Tool> = Arc::new(McpTool::new(self.link.clone(), name, definition.clone(), terms.declared(definition)));
            Ok(tool)
        };
        self.tools.iter().map(tool).collect()
    }
}

impl Link {
    /// Whether a tool is still what it was when it was offered. Asks the server where it said that something changed.
    pub(super) async fn is_unchanged(&self, tool: &Definition) -> Result<bool, ServiceError> {
        if self.changed.swap(false, Ordering::AcqRel) {
            self.list().await?;
        }
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(now.get(&tool.name).is_some_and(|digest| *digest == tool.digest))
    }

    /// The tools as the server has them now, which are remembered.
    async fn list(&self) -> Result<Vec<Definition>, ServiceError> {
        let listed: Vec<Foreign> = self.peer.list_all_tools().await?;
        let tools: Vec<Definition> = listed.iter().map(Definition::of).collect();
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = digests(&tools);
        Ok(tools)
    }
}

fn digests(tools: &[Definition]) -> BTreeMap<String, String> {
    tools.iter().map(|tool| (tool.name.clone(), tool.digest.clone())).collect()
}
