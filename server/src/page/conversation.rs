//! What was said. A candidate is no answer: only a [`Final`](countersign::Final) of the gate is written as one.

use super::run::Seen;
use super::{prose, words};
use crate::wire::Phase;
use countersign::explain::in_words;
use countersign::{CandidateMade, Decision, Event, NodeId, ROOT, Reason, Record, ResumedBy, Status, Str};
use maud::{Markup, html};

/// One turn of a conversation.
enum Turn<'a> {
    /// The user's own words.
    User(&'a Str),
    /// An agent's question.
    Question(&'a Str),
    /// Text that somebody would like to be the answer.
    Candidate { seq: u32, made: &'a CandidateMade, refused: Option<Reason> },
    /// What became of the run, where that is no answer.
    Notice { style: &'static str, words: String },
}

/// The conversation of a run.
pub(super) fn of(seen: &Seen<'_>) -> Markup {
    let turns = turns(seen);
    html! {
        section aria-labelledby="conversation-title" {
            h2.unseen #conversation-title { "Conversation" }
            div #conversation role="log" data-part {
                @for turn in &turns { (shown(seen, turn)) }
                (answer(seen))
            }
        }
    }
}

fn turns<'a>(seen: &'a Seen<'_>) -> Vec<Turn<'a>> {
    let mut turns = Vec::new();
    for record in seen.run.ledger().log() {
        take(seen, &mut turns, record);
    }
    // The answer's own words come last, as the answer.
    if seen.run.final_answer().is_some() {
        let newest = turns.iter().rposition(|turn| matches!(turn, Turn::Candidate { refused: None, .. }));
        newest.map(|at| turns.remove(at));
    }
    turns
}

fn take<'a>(seen: &Seen<'_>, turns: &mut Vec<Turn<'a>>, record: &'a Record) {
    let turn = match &record.event {
        Event::RunStarted(start) => Turn::User(&start.task),
        Event::InputQueued { text } | Event::InputArrived { text, queued: None, .. } => Turn::User(text),
        // One that waits stands where it can be answered.
        Event::QuestionAsked { text, .. } if !waits(seen, record.seq) => Turn::Question(text),
        Event::QuestionAnswered { text, .. } => Turn::User(text),
        Event::CandidateMade(made) if made.scope == ROOT => Turn::Candidate { seq: record.seq, made, refused: None },
        Event::Decided { scope: ROOT, decision, candidate } => {
            refuse(seen, turns, decision, *candidate);
            match notice(decision) {
                Some(notice) => notice,
                None => return,
            }
        }
        Event::Resumed { by: ResumedBy::Person, .. } => Turn::Notice { style: "resumed", words: "The run was taken up again.".to_owned() },
        _ => return,
    };
    turns.push(turn);
}

/// Whether the question of an event is still open.
fn waits(seen: &Seen<'_>, seq: u32) -> bool {
    let ledger = seen.run.ledger();
    ledger.open().questions.iter().any(|question| ledger.data(question).is_some_and(|asked| asked.seq == seq))
}

/// Marks the candidate that a ruling refuses.
fn refuse(seen: &Seen<'_>, turns: &mut [Turn<'_>], decision: &Decision, candidate: Option<NodeId>) {
    let Some(made) = candidate.filter(|_| !decision.finalizable).and_then(|node| seen.run.ledger().data(node)) else { return };
    for turn in turns.iter_mut().rev() {
        if let Turn::Candidate { seq, refused, .. } = turn
            && *seq == made.seq
        {
            // What was refused once is not refused for another reason later: the first says what was wrong with it.
            refused.get_or_insert(decision.completion_reason);
        }
    }
}

/// What is said where a run stops without an answer.
fn notice<'a>(decision: &Decision) -> Option<Turn<'a>> {
    let why = in_words(decision.completion_reason);
    let (style, words) = match decision.status {
        Status::Blocked => ("blocked", format!("Blocked, there is no answer: {why}.")),
        Status::Failed => ("failed", format!("Failed, there will be no answer: {why}.")),
        Status::Cancelled => ("cancelled", format!("Cancelled, there will be no answer: {why}.")),
        Status::InProgress | Status::AwaitingApproval | Status::Completed => return None,
    };
    Some(Turn::Notice { style, words })
}

fn shown(seen: &Seen<'_>, turn: &Turn<'_>) -> Markup {
    let text = |text: &str| html! { p.text { (seen.redactor.strike(text)) } };
    match turn {
        Turn::User(said) => html! { div.turn.user { p.who { "You" } (text(said)) } },
        Turn::Question(asked) => html! { div.turn.question { p.who { "Question" } (text(asked)) } },
        Turn::Candidate { made, refused: None, .. } => html! {
            div.turn.candidate { p.who { "Candidate, not final" } (text(&made.text)) }
        },
        Turn::Candidate { made, refused: Some(reason), .. } => html! {
            details.turn.candidate.refused open {
                summary.who { "Refused candidate: " (in_words(*reason)) }
                p.text { del { (seen.redactor.strike(&made.text)) } }
            }
        },
        Turn::Notice { style, words } => html! { div class={ "turn notice " (style) } { p { (words) } } },
    }
}

/// The answer, where the gate let one through.
fn answer(seen: &Seen<'_>) -> Markup {
    let Some(answer) = seen.run.final_answer().filter(|_| seen.phase == Phase::Completed) else { return html! {} };
    let backing = seen.run.ledger().last_decision(ROOT).map(|decision| words::backing(decision.verification));
    html! {
        div.turn.final {
            p.who { "Final answer" @if let Some(backing) = backing { ", " (backing) } }
            div.prose { (prose::laid_out(&seen.redactor.strike(answer.text()))) }
        }
    }
}
