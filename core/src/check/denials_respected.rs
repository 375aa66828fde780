//! Nothing ran that a person had denied.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct DenialsRespected;

impl Check for DenialsRespected {
    fn name(&self) -> &str {
        "denials_respected"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(
            self.name(),
            view.open(&view.ledger.open().breaches),
            "an action ran although it, or a step it needs, was denied",
            "tell a person, who decides what is to be undone",
        ))
    }
}
