//! Every sub-agent result was read whole, or in a copy that says that it was cut.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct ResultWhole;

impl Check for ResultWhole {
    fn name(&self) -> &str {
        "result_whole"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(self.name(), view.open(&view.ledger.open().cut), "the copy that was read was cut without a mark", "read the result again in full"))
    }
}
