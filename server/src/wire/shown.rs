//! A ruling, as people may see it.

use countersign::{Decision, Reason};

/// What is said of a guard's objection: its own words are for the agent.
const GUARDED: &str = "a guard asks for a second look";

/// The ruling without the answer's text, which stands in `response` alone, and without the words of guards.
pub fn shown(decision: &Decision) -> Decision {
    let mut shown = decision.clone();
    shown.final_text = None;
    let by_guard = decision.completion_reason == Reason::GuardUnsatisfied;
    let says = |check: &str| check == "guard_ok" || (check == "normal_stop" && by_guard);
    for finding in shown.missing_checks.iter_mut().filter(|f| says(&f.check)) {
        GUARDED.clone_into(&mut finding.message);
    }
    shown
}
