//! No guard objects to the candidate.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::event::GuardVerdict;
use crate::node::Str;
use crate::policy::OnGuardPanic;

pub(super) struct GuardOk;

impl Check for GuardOk {
    fn name(&self) -> &str {
        "guard_ok"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, _)) = view.candidate else { return Ok(None) };
        let mut said = view.ledger.guard_verdicts(node).peekable();
        if said.peek().is_none() {
            return Ok(None);
        }
        let newest: indexmap::IndexMap<&Str, &GuardVerdict> = said.collect();
        let objections: Vec<String> = newest.into_iter().filter_map(|(guard, verdict)| objection(view, guard, verdict)).collect();
        if objections.is_empty() {
            return Ok(None);
        }
        Ok(Some(finding(self.name(), vec![view.ledger.reference(node)], &objections.join("; "), "do what the guard asks for")))
    }
}

fn objection(view: &View<'_>, guard: &str, verdict: &GuardVerdict) -> Option<String> {
    match verdict {
        GuardVerdict::Accept => None,
        GuardVerdict::Nudge(text) => Some(format!("`{guard}` asks for a second look: {text}")),
        GuardVerdict::Stop(why) => Some(format!("`{guard}` ends the run: {why}")),
        GuardVerdict::Panicked(how) => (view.policy().on_guard_panic == OnGuardPanic::Refuse).then(|| format!("`{guard}` panicked: {how}")),
    }
}
