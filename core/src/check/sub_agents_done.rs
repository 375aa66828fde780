//! Every sub-agent has ended.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct SubAgentsDone;

impl Check for SubAgentsDone {
    fn name(&self) -> &str {
        "sub_agents_done"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let mut open = view.open(&view.ledger.open().activations);
        open.retain(|r| r.node != view.scope);
        Ok(about(self.name(), open, "a sub-agent is still at work", "wait for it, or cancel it"))
    }
}
