//! Every request for approval was granted or denied.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct ApprovalsSettled;

impl Check for ApprovalsSettled {
    fn name(&self) -> &str {
        "approvals_settled"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(self.name(), view.open(&view.ledger.open().approvals), "a person has not decided yet", "grant or deny"))
    }
}
