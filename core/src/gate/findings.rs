//! Asking the checks.

use super::Gate;
use crate::check::{Check, View};
use crate::decision::Finding;
use crate::event::CheckName;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Gate {
    /// Asks every check, and keeps every finding.
    pub(super) fn findings(&self, view: &View<'_>) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        let recorded = view.ledger.started().map(|s| &s.checks);
        let nothing: Arc<[CheckName]> = Arc::default();
        let recorded = recorded.unwrap_or(&nothing);
        // A run of this very gate is the common case: nothing has to be looked up then.
        let same = self.is_of(recorded);
        let in_force = |at: usize| same || self.names.get(at).is_some_and(|n| recorded.iter().any(|r| r.name == n.name));
        let mut checks = self.checks.iter().enumerate().filter(|(at, _)| in_force(*at)).map(|(_, check)| &**check);
        let mut asked = None;
        // One that panics is a finding, and the rest are asked all the same.
        while catch_unwind(AssertUnwindSafe(|| ask(view, checks.by_ref(), &mut asked, &mut found))).is_err() {
            found.extend(asked.map(|check| unusable(view, check.name(), "it panicked")));
        }
        for missing in recorded.iter().filter(|r| !same && !self.names.contains(r)) {
            found.push(unusable(view, &missing.name, &format!("version {} of it is not available here", missing.version)));
        }
        if let Some(why) = infeasible(view) {
            let remedy = "change the policy and start a new run".into();
            found.push(Finding { check: "policy_feasible".into(), subjects: Vec::new(), message: why, remedy });
        }
        found
    }
}

/// Asks checks one by one, and leaves behind which was asked last.
fn ask<'c>(view: &View<'_>, checks: impl Iterator<Item = &'c dyn Check>, asked: &mut Option<&'c dyn Check>, found: &mut Vec<Finding>) {
    for check in checks {
        *asked = Some(check);
        match check.examine(view) {
            Ok(None) => {}
            Ok(Some(finding)) => found.push(finding),
            Err(why) => found.push(unusable(view, check.name(), &why)),
        }
    }
}

/// A check that could not be asked is a finding, never a pass.
fn unusable(view: &View<'_>, check: &str, why: &str) -> Finding {
    Finding {
        check: check.into(),
        subjects: vec![view.ledger.reference(view.scope)],
        message: format!("the check could not rule: {why}"),
        remedy: "mend or install the check, then ask again".into(),
    }
}

/// What no run could meet: the run's builder refuses it before a token is spent; a foreign log may still carry it.
fn infeasible(view: &View<'_>) -> Option<String> {
    view.is_root().then(|| view.policy().infeasible()).flatten()
}
