//! Every transfer came back, exactly once.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct TransfersReturned;

impl Check for TransfersReturned {
    fn name(&self) -> &str {
        "transfers_returned"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(
            self.name(),
            view.open(&view.ledger.open().transfers),
            "a specialist has not given control back",
            "wait for it, or return control to its owner",
        ))
    }
}
