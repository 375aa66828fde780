//! No call was lost with the process that ran it.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct OutcomesKnown;

impl Check for OutcomesKnown {
    fn name(&self) -> &str {
        "outcomes_known"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(
            self.name(),
            view.open(&view.ledger.open().lost),
            "its process died under it: nobody knows whether it happened",
            "find out, then record the outcome, fail it or run it again",
        ))
    }
}
