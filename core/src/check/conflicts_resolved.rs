//! Where results disagree, somebody has settled it by name.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct ConflictsResolved;

impl Check for ConflictsResolved {
    fn name(&self) -> &str {
        "conflicts_resolved"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let here = view.ledger.conflicts().iter().filter(|c| c.results.iter().any(|r| view.is_direct(*r)));
        let (keys, results): (Vec<&str>, Vec<&Vec<_>>) = here.map(|c| (&*c.key, &c.results)).unzip();
        let subjects = view.refs(results.into_iter().flatten().copied());
        let message = format!("results disagree on {}", keys.join(", "));
        Ok(about(self.name(), subjects, &message, "settle each by name and say how"))
    }
}
