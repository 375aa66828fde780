//! The candidate is newer than every result that it should have seen.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::event::Via;

pub(super) struct CandidateLast;

impl Check for CandidateLast {
    fn name(&self) -> &str {
        "candidate_last"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, made)) = view.candidate else { return Ok(None) };
        let said_at = view.ledger.data(made.from.unwrap_or(node)).map_or(0, |d| d.seq);
        let unread = view.ledger.activation(made.by).is_some_and(|a| a.due && a.last_reply.is_some() && a.via != Via::Observed);
        let overtaken = view.is_root() && view.ledger.totals().last_settled > said_at;
        if !overtaken && !unread {
            return Ok(None);
        }
        Ok(Some(finding(
            self.name(),
            vec![view.ledger.reference(node)],
            "results or input came in after these words were said",
            "read them, then answer",
        )))
    }
}
