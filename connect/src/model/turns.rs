//! A conversation and a transcript as the turns that providers want.

use super::window::{Called, Came, Talk, Turn, add};
use countersign::transcript::{Message, earlier, message};
use countersign::{Call, Image, ModelRequest, NodeId, Outcome};
use std::collections::BTreeMap;

/// The transcript as messages: the results of a reply's calls directly after it, and what was said to the agent
/// meanwhile after those. A call whose result is not there yet says so.
pub(super) fn talk(request: &ModelRequest) -> Talk {
    let before = turns(request.history.iter().flat_map(|history| earlier(history)));
    let mut now = turns(request.transcript.iter().filter_map(message));
    // They came with the question, which stands first.
    if let (Some(Turn::User { images, .. }), Some(shown)) = (now.first_mut(), &request.images) {
        images.extend(shown.iter().cloned());
    }
    Talk { before, now }
}

fn turns<'a>(messages: impl Iterator<Item = Message<'a>>) -> Vec<Turn> {
    let mut told = Told::default();
    for said in messages {
        match said {
            Message::User(text) => told.user(&text, Vec::new()),
            Message::Assistant { text, calls } => told.assistant(text, &calls),
            Message::Result { call, outcome, text } => told.result(call, outcome, text),
        }
    }
    told.turns
}

#[derive(Default)]
struct Told {
    turns: Vec<Turn>,
    /// Where the result of each call goes: the turn, and the place in it.
    places: BTreeMap<NodeId, (usize, usize)>,
}

impl Told {
    fn user(&mut self, text: &str, images: Vec<Image>) {
        add(&mut self.turns, Turn::User { text: text.to_owned(), images });
    }

    fn assistant(&mut self, text: &str, calls: &[(NodeId, &Call)]) {
        // By position: a provider's own ids may be missing or repeated.
        let id = |node: NodeId| format!("call_{node}");
        let called = |(node, call): &(NodeId, &Call)| Called { id: id(*node), name: call.name.to_string(), args: call.args.to_string() };
        self.turns.push(Turn::Assistant { text: text.to_owned(), calls: calls.iter().map(called).collect() });
        if calls.is_empty() {
            return;
        }
        self.places.extend(calls.iter().enumerate().map(|(at, (node, _))| (*node, (self.turns.len(), at))));
        let open = |(node, call): &(NodeId, &Call)| Came { id: id(*node), name: call.name.to_string(), text: "[no result yet]".to_owned() };
        self.turns.push(Turn::Results(calls.iter().map(open).collect()));
    }

    fn result(&mut self, call: NodeId, outcome: Outcome, text: String) {
        let Some((turn, at)) = self.places.get(&call) else { return };
        if let Some(Turn::Results(results)) = self.turns.get_mut(*turn)
            && let Some(came) = results.get_mut(*at)
        {
            came.text = if outcome == Outcome::Completed { text } else { format!("[{}] {text}", outcome.words()) };
        }
    }
}

/// Calls and results as text, for a model that has no tools of its own.
pub(super) fn as_text(turns: Vec<Turn>, written: impl Fn(&[Called]) -> String) -> Vec<Turn> {
    let mut told = Told::default();
    for turn in turns {
        match turn {
            Turn::User { text, images } => told.user(&text, images),
            Turn::Results(results) => {
                let shown: Vec<String> = results.iter().map(|came| format!("Result of `{}`:\n{}", came.name, came.text)).collect();
                told.user(&shown.join("\n\n"), Vec::new());
            }
            Turn::Assistant { text, calls } if calls.is_empty() => told.assistant(&text, &[]),
            Turn::Assistant { text, calls } if text.trim().is_empty() => told.assistant(&written(&calls), &[]),
            Turn::Assistant { text, calls } => told.assistant(&format!("{text}\n{}", written(&calls)), &[]),
        }
    }
    told.turns
}
