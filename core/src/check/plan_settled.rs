//! Every step of the plan is done, or blocked or dropped for a reason, and none was done on top of a blocked one.

use super::{Check, View, about};
use crate::decision::Finding;
use crate::ledger::StepState;
use crate::node::NodeId;
use crate::policy::Deliverable;

pub(super) struct PlanSettled;

impl Check for PlanSettled {
    fn name(&self) -> &str {
        "plan_settled"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        if view.is_root() && view.policy().deliverable == Deliverable::Plan {
            return Ok(None);
        }
        let open = view.open(&view.ledger.open().steps);
        let hollow = view.refs(hollow(view));
        if hollow.is_empty() {
            return Ok(about(self.name(), open, "the plan has open steps", "do them, or block or drop them with a reason"));
        }
        let subjects = open.into_iter().chain(hollow).collect();
        Ok(about(
            self.name(),
            subjects,
            "the plan has open steps, or steps done on top of one that is blocked",
            "do them, or block or drop them with a reason",
        ))
    }
}

/// Steps that count as done although something that they need is blocked. Costs nothing while nothing is.
fn hollow(view: &View<'_>) -> Vec<NodeId> {
    let ledger = view.ledger;
    let mut found = Vec::new();
    for blocked in ledger.open().blocked.iter().filter_map(|n| ledger.step(n)).filter(|s| ledger.within(s.scope, view.scope)) {
        let Some(name) = ledger.step_spec(blocked).map(|s| &s.id) else { continue };
        let plan = ledger.current_plan(blocked.scope).map(|p| p.steps.as_slice()).unwrap_or_default();
        let done = plan.iter().filter_map(|n| ledger.step(*n)).filter(|s| s.state == StepState::Done);
        found.extend(done.filter(|s| ledger.step_spec(s).is_some_and(|spec| spec.needs.contains(name))).map(|s| s.id));
    }
    found.sort_unstable();
    found.dedup();
    found
}
