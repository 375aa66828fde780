//! Where a check is required, the last one that was run passed. Opt-in.

use super::{Check, View, finding};
use crate::decision::Finding;

pub(super) struct ChecksPass;

impl Check for ChecksPass {
    fn name(&self) -> &str {
        "checks_pass"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        if !view.is_root() || !view.policy().require_checks {
            return Ok(None);
        }
        let (subject, message) = match view.ledger.totals().last_check {
            Some((_, true)) => return Ok(None),
            Some((call, false)) => (call, "the last check did not pass"),
            None => (view.scope, "no check was run"),
        };
        Ok(Some(finding(self.name(), vec![view.ledger.reference(subject)], message, "make it pass, and run it again")))
    }
}
