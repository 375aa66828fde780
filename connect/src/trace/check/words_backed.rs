//! Among colleagues an answer does not rest on what somebody said was looked up by hand, made up or not found, nor
//! on a step that was only thought of.
//!
//! Work that was done since is what the answer rests on, and takes such words back. An answer that says itself that
//! something was not found is honest.

use super::{colleagues, finding, notes, work};
use crate::trace::speech::{Avowal, avows};
use countersign_core::{Check, Finding, Ledger, NodeId, Outcome, RunState, View};

/// Nobody said that the answer has no ground.
pub struct WordsBacked;

impl Check for WordsBacked {
    fn name(&self) -> &str {
        "words_backed"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((_, candidate)) = view.candidate.filter(|_| colleagues(view.ledger)) else { return Ok(None) };
        let (newest, before) = newest_work(view.ledger);
        let stands = |avowal: Avowal, reply: NodeId| match avowal {
            // What is said along with a call says on what it works.
            Avowal::MadeUp => before.is_none_or(|work| reply > work),
            Avowal::ByHand => newest.is_some_and(|work| reply > work),
            Avowal::NotFound => newest.is_some_and(|work| reply > work) && !avows(&candidate.text, Avowal::NotFound),
            Avowal::Announced => newest.is_none_or(|work| reply > work),
        };
        let avowed = notes(view.ledger, super::AVOWED).filter_map(|(name, reply)| Some((Avowal::named(name)?, reply?)));
        let Some((avowal, reply)) = avowed.filter(|(avowal, reply)| stands(*avowal, *reply)).last() else { return Ok(None) };
        let message = match avowal {
            Avowal::ByHand => "something is said to be looked up by hand, and no call did it",
            Avowal::MadeUp => "the answer rests on data that are said to be made up",
            Avowal::NotFound => "what was looked for was not found, and there is an answer all the same",
            Avowal::Announced => "a step was announced, and nobody took it",
        };
        Ok(Some(finding(view, self.name(), &[reply], message, "do the work by calls, or say that it could not be done and why")))
    }
}

/// The newest work that was done, by a call or by somebody else, and the one before it.
fn newest_work(ledger: &Ledger) -> (Option<NodeId>, Option<NodeId>) {
    let done = |run: &&countersign_core::ledger::ToolRun| run.state == RunState::Settled(Outcome::Completed);
    let mut calls = work(ledger).rev().filter(done).map(|run| run.id);
    let mut replies = ledger.results().iter().rev().map(|result| result.id);
    let (call, reply) = (calls.next(), replies.next());
    let second = if call > reply { calls.next().max(reply) } else { replies.next().max(call) };
    (call.max(reply), second)
}
