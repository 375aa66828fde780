//! Who is shown what came with the user's message: agents that speak with the user, and no others.

use crate::request::Image;
use countersign_core::event::History;
use countersign_core::ledger::Ledger;
use countersign_core::{Event, NodeId, ROOT, Str};
use std::sync::Arc;

/// What was said before and the images that came with the task, for an agent that speaks with the user.
pub(super) fn shown(ledger: &Ledger, activation: NodeId, images: Option<&Arc<[Image]>>) -> (Option<Arc<History>>, Option<Arc<[Image]>>) {
    let history = ledger.started().and_then(|start| start.history.as_ref());
    if (history.is_none() && images.is_none()) || !speaks_with_user(ledger, activation) {
        return (None, None);
    }
    (history.cloned(), images.cloned())
}

/// Whether the words of the user go to this agent, or its words to the user: it owns the answer of its mode, or was asked
/// in the words that its mode was given, and the mode itself speaks with the user.
fn speaks_with_user(ledger: &Ledger, activation: NodeId) -> bool {
    let Some(act) = ledger.activation(activation) else { return false };
    let Some(mode) = act.parent.and_then(|p| ledger.activation(p)).filter(|mode| mode.is_mode()) else { return act.id == ROOT };
    let owns = ledger.rules(mode.id).is_some_and(|rules| *rules.concluder(ledger.policy()) == act.agent);
    (owns || prompt(ledger, act.id) == prompt(ledger, mode.id)) && speaks_with_user(ledger, mode.id)
}

/// The words with which an activation began.
fn prompt(ledger: &Ledger, activation: NodeId) -> Option<&Str> {
    match ledger.made_by(activation)? {
        Event::RunStarted(start) => Some(&start.task),
        Event::ActivationStarted { prompt, .. } => Some(prompt),
        _ => None,
    }
}
