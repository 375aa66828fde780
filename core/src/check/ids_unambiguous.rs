//! No two open calls share an id.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct IdsUnambiguous;

impl Check for IdsUnambiguous {
    fn name(&self) -> &str {
        "ids_unambiguous"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let shared = view.ledger.ambiguous_calls().into_iter().filter(|n| view.ledger.within(view.ledger.owner(*n), view.scope));
        Ok(about(
            self.name(),
            view.refs(shared),
            "two open calls share one id: nobody can tell which one a result or a grant is for",
            "cancel them and call again",
        ))
    }
}
