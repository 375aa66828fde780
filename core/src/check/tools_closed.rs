//! Every call has an outcome. What waits for a person, a sub-agent or a job is counted there.

use super::{Check, View, about};
use crate::decision::Finding;
use crate::ledger::RunState;

pub(super) struct ToolsClosed;

impl Check for ToolsClosed {
    fn name(&self) -> &str {
        "tools_closed"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let counted_here = |n: &crate::NodeId| {
            view.ledger.tool_run(*n).is_some_and(|run| {
                let elsewhere = run.child.is_some() || run.job.is_some_and(|j| view.ledger.open().jobs.contains(j));
                !elsewhere && matches!(run.state, RunState::Requested | RunState::Running | RunState::Lost)
            })
        };
        let open = view.ledger.open().tools.iter().filter(|n| view.ledger.within(view.ledger.owner(*n), view.scope));
        Ok(about(self.name(), view.refs(open.filter(counted_here)), "a tool was called and has no result", "wait for it, run it or cancel it"))
    }
}
