//! Before and after model and tool calls: user code that watches, and may refuse or change a tool call.

use crate::model::{ModelError, ModelReply, ModelRequest};
use crate::tool::{ToolError, ToolOutput, ToolRequest};
use countersign_core::Str;

/// User code around every act. Each has a default that does nothing.
pub trait Hooks: Send + Sync {
    /// Before a model is called.
    fn before_model(&self, request: &ModelRequest) {
        let _ = request;
    }

    /// After a model has answered or failed.
    fn after_model(&self, agent: &str, reply: &Result<ModelReply, ModelError>) {
        let _ = (agent, reply);
    }

    /// Before a tool is run.
    fn before_tool(&self, tool: &str, request: &ToolRequest) -> ToolGate {
        let _ = (tool, request);
        ToolGate::Run
    }

    /// After a tool has run or failed.
    fn after_tool(&self, tool: &str, outcome: &Result<ToolOutput, ToolError>) {
        let _ = (tool, outcome);
    }
}

/// What a hook says of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolGate {
    /// Run it.
    Run,
    /// Run it with these arguments instead.
    Edit(Str),
    /// Do not run it; the model is told why, and the call counts as rejected.
    Refuse(String),
}
