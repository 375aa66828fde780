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
        let unread = view.ledger.activation(made.by).is_some_and(|a| a.due && a.last_reply.is_some() && a.via != Via::Observed);
        if !overtaken(view) && !unread {
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

/// Whether a result came in after the candidate's words were said.
pub(super) fn overtaken(view: &View<'_>) -> bool {
    let Some((node, made)) = view.candidate.filter(|_| view.is_root()) else { return false };
    let said_at = view.ledger.data(made.from.unwrap_or(node)).map_or(0, |d| d.seq);
    view.ledger.totals().last_settled > said_at
}
