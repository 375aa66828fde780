//! The candidate comes from the agent who may conclude.

use super::{Check, View, finding};
use crate::decision::Finding;

pub(super) struct CandidateOwner;

impl Check for CandidateOwner {
    fn name(&self) -> &str {
        "candidate_owner"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let (Some((_, made)), Some(rules)) = (view.candidate, view.rules()) else { return Ok(None) };
        let handed_to = view.ledger.answer_handed_to().filter(|_| view.is_root());
        let owner = handed_to.unwrap_or_else(|| rules.concluder(view.policy()));
        let by = view.ledger.activation(made.by);
        let in_place = by.is_some_and(|a| handed_to.is_some() || a.parent == Some(view.scope));
        if in_place && by.is_some_and(|a| *a.agent == *owner) {
            return Ok(None);
        }
        let agent = by.map_or("nobody", |a| &*a.agent);
        let message = format!("the answer comes from `{agent}`; only `{owner}` may conclude: what others say is evidence");
        Ok(Some(finding(self.name(), vec![view.ledger.reference(made.by)], &message, &format!("give the turn back to `{owner}`"))))
    }
}
