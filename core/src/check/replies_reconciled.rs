//! Every result of a sub-agent was worked in, and none is passed on word for word where the mode forbids it.

use super::{Check, View, about};
use crate::decision::Finding;
use crate::policy::Relay;

pub(super) struct RepliesReconciled;

impl Check for RepliesReconciled {
    fn name(&self) -> &str {
        "replies_reconciled"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let mut open = view.direct(&view.ledger.open().unreconciled);
        if let Some((_, made)) = view.candidate {
            open.retain(|r| !made.uses.contains(&r.node));
            let refused = view.rules().is_some_and(|r| r.relay == Relay::Refused);
            let relayed = refused.then(|| view.ledger.relayed(&made.text)).flatten().filter(|r| view.is_direct(*r));
            if let Some(result) = relayed {
                open.push(view.ledger.reference(result));
                open.dedup();
            }
        }
        Ok(about(
            self.name(),
            open,
            "a sub-agent's result is neither adopted, nor set aside with a reason, or it is passed on word for word",
            "say of each result what became of it, and answer in your own words",
        ))
    }
}
