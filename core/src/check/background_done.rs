//! Nothing goes on outside the turn: every background job has its outcome.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct BackgroundDone;

impl Check for BackgroundDone {
    fn name(&self) -> &str {
        "background_done"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(self.name(), view.open(&view.ledger.open().jobs), "background work is still running", "wait for it, or cancel it"))
    }
}
