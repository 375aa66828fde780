//! Where results disagree, somebody has settled it by name.

use super::{Check, View, about};
use crate::decision::Finding;
use crate::ledger::Conflict;

pub(super) struct ConflictsResolved;

impl Check for ConflictsResolved {
    fn name(&self) -> &str {
        "conflicts_resolved"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        if view.ledger.conflicts().is_empty() {
            return Ok(None);
        }
        let here = view.ledger.conflicts().iter().filter(|c| c.results.iter().any(|r| view.is_direct(*r)));
        let (keys, results): (Vec<String>, Vec<&Vec<_>>) = here.map(|c| (said(c), &c.results)).unzip();
        let subjects = view.refs(results.into_iter().flatten().copied());
        let message = format!("results disagree on {}", keys.join(", "));
        Ok(about(self.name(), subjects, &message, "settle each by name and say how"))
    }
}

/// The key, and what is said of it.
fn said(conflict: &Conflict) -> String {
    let distinct: indexmap::IndexSet<&str> = conflict.values.iter().map(|v| &**v).collect();
    let values: Vec<String> = distinct.into_iter().map(|v| format!("`{v}`")).collect();
    if values.is_empty() { format!("`{}`", conflict.key) } else { format!("`{}`: {}", conflict.key, values.join(" or ")) }
}
