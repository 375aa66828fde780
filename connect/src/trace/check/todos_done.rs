//! Where the agent keeps a todo list, the newest one has nothing open. Opt-in: many good runs leave their last item
//! unticked.

use super::{TODO_LIST, finding};
use countersign_core::{Check, Event, Finding, NodeId, View};

/// The newest todo list has no open item.
pub struct TodosDone;

impl Check for TodosDone {
    fn name(&self) -> &str {
        "todos_done"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let newest = (0..view.ledger.node_count()).rev().map(NodeId).find_map(|node| match view.ledger.made_by(node) {
            Some(Event::Note { kind, data, .. }) if **kind == *TODO_LIST => Some((node, data.clone())),
            _ => None,
        });
        let Some((node, open)) = newest.filter(|(_, open)| **open != *"0") else { return Ok(None) };
        let message = format!("the todo list has {open} open items");
        Ok(Some(finding(view, self.name(), &[node], &message, "do them, or take them off the list and say why")))
    }
}
