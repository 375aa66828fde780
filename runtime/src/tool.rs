//! The tool port, and tools made from a function and a type.

use crate::line::Line;
use async_trait::async_trait;
use countersign_core::{Declared, NodeId, Str};
use countersign_modes::ToolSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// Runs one kind of call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What models are offered, and what is recorded with each call.
    fn spec(&self) -> ToolSpec;

    /// Carries a call out.
    async fn run(&self, request: ToolRequest) -> Result<ToolOutput, ToolError>;

    /// How long one call may take. A call that takes longer has timed out.
    fn timeout(&self) -> Option<Duration> {
        None
    }
}

/// One call to carry out.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// The run.
    pub run: Str,
    /// The call: unique within the run, and the idempotency key of a retry.
    pub call: NodeId,
    /// Arguments: JSON text, as the model wrote them or an approver left them.
    pub args: Str,
    /// Its line back to the run, for what is not its result.
    pub line: Line,
}

impl ToolRequest {
    /// A call outside any run, as tests make them.
    pub fn alone(call: NodeId, args: impl Into<Str>) -> Self {
        Self { run: "".into(), call, args: args.into(), line: Line::nowhere() }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the model is shown.
    pub text: Str,
}

impl<T: Into<Str>> From<T> for ToolOutput {
    fn from(text: T) -> Self {
        Self { text: text.into() }
    }
}

/// A call that did not come to anything good. The model is shown the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit the tool's schema.
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    /// It failed.
    #[error("{0}")]
    Failed(String),
    /// Whoever ran it is gone, and nobody can tell what came of it. A call that may be run twice counts as
    /// failed; any other is lost, until somebody resolves it.
    #[error("{0}")]
    Lost(String),
    /// It took longer than it may.
    #[error("took longer than {0:?}")]
    TimedOut(Duration),
}

impl ToolError {
    /// It failed, for a reason in words.
    pub fn failed(why: impl std::fmt::Display) -> Self {
        Self::Failed(why.to_string())
    }
}

/// A tool made from a function: the arguments are a type, whose schema the model is shown.
pub struct FnTool<F> {
    spec: ToolSpec,
    run: F,
    timeout: Option<Duration>,
}

/// A boxed function from arguments to an outcome.
pub type Run = Box<dyn Fn(Str) -> futures_util::future::BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>;

impl FnTool<Run> {
    /// A tool from an async function of typed arguments.
    pub fn new<A, O, F, Fut>(name: &str, description: &str, declared: Declared, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Into<ToolOutput>,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        let run = Arc::new(run);
        let boxed: Run = Box::new(move |args: Str| {
            let run = run.clone();
            Box::pin(async move {
                let args: A = serde_json::from_str(&args).map_err(|e| ToolError::Arguments(e.to_string()))?;
                run(args).await.map(Into::into)
            })
        });
        Self { spec: ToolSpec::typed::<A>(name, description, declared), run: boxed, timeout: None }
    }

    /// A tool from a plain function of typed arguments.
    pub fn plain<A, O>(name: &str, description: &str, declared: Declared, run: impl Fn(A) -> Result<O, ToolError> + Send + Sync + 'static) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Into<ToolOutput> + Send + 'static,
    {
        Self::new(name, description, declared, move |args| std::future::ready(run(args)))
    }

    /// Limits how long one call may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

#[async_trait]
impl Tool for FnTool<Run> {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn run(&self, request: ToolRequest) -> Result<ToolOutput, ToolError> {
        (self.run)(request.args).await
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}
