//! One model for each agent.

use async_trait::async_trait;
use countersign::{Deltas, Model, ModelError, ModelReply, ModelRequest};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Asks the model that an agent was given, and another for all the rest.
pub struct ByAgent {
    rest: Arc<dyn Model>,
    of: BTreeMap<String, Arc<dyn Model>>,
}

impl ByAgent {
    /// Everybody is answered by this one.
    pub fn new(rest: Arc<dyn Model>) -> Self {
        Self { rest, of: BTreeMap::new() }
    }

    /// This agent is answered by another.
    #[must_use]
    pub fn with(mut self, agent: &str, model: Arc<dyn Model>) -> Self {
        self.of.insert(agent.to_owned(), model);
        self
    }
}

#[async_trait]
impl Model for ByAgent {
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError> {
        self.of.get(&*request.agent.name).unwrap_or(&self.rest).reply(request, deltas).await
    }

    fn name(&self) -> &str {
        self.rest.name()
    }
}
