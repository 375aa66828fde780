//! Among colleagues the last words neither announce a step that nobody took, nor ask for something that nobody gave.
//!
//! Where a person reads along, the answer may well be a question, or an offer. Where others of the team let the words
//! stand, that is their reply.

use super::{colleagues, finding};
use crate::trace::speech::{Owed, owed};
use countersign_core::{Check, Event, Finding, View};

/// Nothing is left of what the last words announced or asked for.
pub struct WordsKept;

impl Check for WordsKept {
    fn name(&self) -> &str {
        "words_kept"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, candidate)) = view.candidate.filter(|_| colleagues(view.ledger)) else { return Ok(None) };
        let (message, remedy) = match owed(&candidate.text) {
            None => return Ok(None),
            Some(Owed::Step) => ("the last words announce a step that nobody took", "take it, and answer then"),
            Some(Owed::Reply) if was_seconded(view) => return Ok(None),
            Some(Owed::Reply) => ("the last words ask the team for something, and nobody replied", "give it, and answer then"),
        };
        Ok(Some(finding(view, self.name(), &[node], message, remedy)))
    }
}

/// Whether the newest reply is of somebody else than the one whose words are the answer.
fn was_seconded(view: &View<'_>) -> bool {
    let newest = view.ledger.log().iter().rev().find_map(|record| match &record.event {
        Event::ModelReplied { activation, .. } => Some(*activation),
        _ => None,
    });
    view.candidate.is_some_and(|(_, candidate)| newest.is_some_and(|by| by != candidate.by))
}
