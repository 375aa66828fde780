//! What a model is shown: the entries of an activation, as messages. Nothing is stored twice; a provider's
//! adapter reads these and writes its own form.

use countersign_core::event::{Exchange, History};
use countersign_core::ledger::Entry;
use countersign_core::{Call, Event, NodeId, Outcome, Status, Str};
use std::borrow::Cow;

/// One message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message<'a> {
    /// What the agent was asked, told, or answered from outside.
    User(Cow<'a, str>),
    /// What the agent said.
    Assistant {
        /// Its text.
        text: &'a str,
        /// Its calls, each with its node.
        calls: Vec<(NodeId, &'a Call)>,
    },
    /// What came of a call.
    Result {
        /// The call.
        call: NodeId,
        /// How it ended.
        outcome: Outcome,
        /// What the model reads. A sub-agent's result carries the id by which it is disposed of.
        text: String,
    },
}

/// Reads an entry as a message. `None` for what a model is not shown.
pub fn message(entry: &Entry) -> Option<Message<'_>> {
    let result = |outcome: Outcome, text: String| Some(Message::Result { call: entry.call, outcome, text });
    match &entry.record.event {
        Event::RunStarted(start) => Some(Message::User(Cow::from(&*start.task))),
        Event::ActivationStarted { prompt, .. } => Some(Message::User(Cow::from(&**prompt))),
        Event::ModelReplied { text, calls, .. } => {
            let calls = calls.iter().zip(entry.node.0 + 1..).map(|(call, node)| (NodeId(node), call)).collect();
            Some(Message::Assistant { text, calls })
        }
        Event::ToolSettled { outcome, text, cut, .. } => {
            let note = cut.as_ref().filter(|c| c.marked).map(|c| format!("\n[cut: {} bytes in all]", c.size)).unwrap_or_default();
            result(*outcome, format!("{text}{note}"))
        }
        Event::ActivationEnded { outcome, text, report, .. } => {
            let claims = report.as_ref().map(|r| r.claims.as_slice()).unwrap_or_default();
            let claims: String = claims.iter().map(|c| format!("\n- {}: {}", c.key, c.value)).collect();
            let text = format!("[result {}, {}] {text}{claims}", entry.node, outcome.words());
            // The first answers its call; a later one of the same sub-agent comes as input.
            if entry.call == entry.node { Some(Message::User(text.into())) } else { result(*outcome, text) }
        }
        Event::ApprovalSettled { why, lapsed: true, .. } => result(Outcome::Rejected, format!("nobody granted this call in time: {why}")),
        Event::ApprovalSettled { why, .. } => result(Outcome::Rejected, format!("a person denied this call: {why}")),
        Event::QuestionAnswered { text, .. } if entry.call != entry.node || entry.node.0 > 0 => result(Outcome::Completed, text.to_string()),
        Event::BackgroundStarted { .. } => result(Outcome::Completed, "started in the background; its result comes as input later".into()),
        Event::BackgroundEnded { text, .. } => Some(Message::User(Cow::from(&**text))),
        Event::Nudged { text, .. } | Event::InputArrived { text, .. } => Some(Message::User(Cow::from(&**text))),
        _ => None,
    }
}

/// Reads what was said before in the conversation. Only a final is something that an agent said: a message that got
/// none says so.
pub fn earlier(history: &History) -> impl Iterator<Item = Message<'_>> {
    let cut = history.cut.then_some(Message::User(Cow::Borrowed("[what was said before this is left out]")));
    cut.into_iter().chain(history.exchanges.iter().flat_map(exchange))
}

fn exchange(said: &Exchange) -> impl Iterator<Item = Message<'_>> {
    let images = if said.images > 0 { format!("\n\n[images came with this: {}; they are not shown again]", said.images) } else { String::new() };
    let unanswered = match (&said.answer, said.status) {
        (Some(_), _) => None,
        (None, Status::InProgress | Status::AwaitingApproval) => Some("\n\n[this has no answer yet]".to_owned()),
        (None, Status::Completed) => Some("\n\n[the answer to this is not kept here]".to_owned()),
        (None, status) => Some(format!("\n\n[this got no answer: {}]", status.name())),
    };
    let task = match (images.as_str(), unanswered) {
        ("", None) => Cow::Borrowed(&*said.task),
        (images, unanswered) => format!("{}{images}{}", said.task, unanswered.unwrap_or_default()).into(),
    };
    let answer = said.answer.as_ref().map(|text| Message::Assistant { text, calls: Vec::new() });
    std::iter::once(Message::User(task)).chain(answer)
}

/// The question with which an activation began.
pub fn question(transcript: &[Entry]) -> Str {
    match transcript.first().map(|e| &e.record.event) {
        Some(Event::ActivationStarted { prompt, .. }) => prompt.clone(),
        Some(Event::RunStarted(start)) => start.task.clone(),
        _ => "".into(),
    }
}

/// How many replies an activation has made.
pub fn replies(transcript: &[Entry]) -> usize {
    transcript.iter().filter(|e| matches!(e.record.event, Event::ModelReplied { .. })).count()
}
