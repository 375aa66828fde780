//! Where freshness is required, nothing changed after the last good check. Opt-in.

use super::{Check, View, finding};
use crate::decision::Finding;

pub(super) struct EvidenceFresh;

impl Check for EvidenceFresh {
    fn name(&self) -> &str {
        "evidence_fresh"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let totals = view.ledger.totals();
        let Some((asked, _)) = totals.good_check else { return Ok(None) };
        if !view.is_root() || !view.policy().require_fresh_evidence {
            return Ok(None);
        }
        // A check speaks for the state that it saw, at the earliest that of the moment when it was asked for: a
        // change that came later, or ran beside it, may not be in it.
        let changed = totals.write_settled > asked || totals.edited > asked;
        if !changed {
            return Ok(None);
        }
        let subject = totals.last_check.map_or(view.scope, |(call, _)| call);
        Ok(Some(finding(self.name(), vec![view.ledger.reference(subject)], "something changed after the last good check", "run the check again")))
    }
}
