//! Pieces of text that come before a reply is complete: shown as previews, and taken back where they are no answer.

use super::event::WireEvent;
use super::projection::Projection;
use countersign::{Event, NodeId, Str};

/// Whether a preview is open, and whose.
#[derive(Default, Debug)]
pub struct Previews {
    open: Option<NodeId>,
    /// Text that is not shown yet.
    held: String,
}

/// How much is held back at most, in bytes.
const HELD_MAX: usize = 4096;

impl Previews {
    /// A piece of text. Shown only where it is of an agent who may conclude the run. The last three words are held back:
    /// a secret comes in pieces as well, and is struck out only where it stands in one.
    pub fn delta(&mut self, run: &Projection, activation: NodeId, text: &Str) -> Vec<WireEvent> {
        if !run.may_conclude(activation) {
            return Vec::new();
        }
        let begins = self.open.replace(activation) != Some(activation);
        if begins {
            self.held.clear();
        }
        self.held.push_str(text);
        let whole = if self.held.len() > HELD_MAX { self.held.len() } else { three_words_back(&self.held) };
        let text: String = self.held.drain(..whole).collect();
        let start = begins.then_some(WireEvent::ResponseStart { preview: true, candidate: None });
        let delta = (!text.is_empty()).then(|| WireEvent::ResponseDelta { preview: true, text: text.into() });
        start.into_iter().chain(delta).collect()
    }

    /// A record: text that turns out to be no answer is taken back.
    pub fn record(&mut self, event: &Event) -> Option<WireEvent> {
        let gone = match event {
            Event::ModelReplied { activation, calls, .. } => self.open == Some(*activation) && !calls.is_empty(),
            Event::ModelFailed { activation, .. } => self.open == Some(*activation),
            Event::Stopped { .. } => self.open.is_some(),
            // The recorded candidate takes its place.
            Event::CandidateMade(_) => {
                self.open = None;
                false
            }
            _ => false,
        };
        gone.then(|| {
            self.open = None;
            WireEvent::ResponseRetracted { reason: None }
        })
    }

    /// Whether a reader who comes now has missed the beginning of one.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

/// Where the third last word begins.
fn three_words_back(text: &str) -> usize {
    let ends = text.char_indices().rev().filter(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8());
    // A row of blanks is one end.
    let mut words = ends.scan(text.len(), |next, end| {
        let is_word = text.get(end..*next).is_some_and(|word| !word.trim().is_empty());
        *next = end;
        Some((end, is_word))
    });
    words.by_ref().filter(|(_, is_word)| *is_word).map(|(end, _)| end).nth(2).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::three_words_back;

    #[test]
    fn three_words_are_held_back() {
        for (text, shown) in [
            ("one two three four", "one "),
            ("one two three four ", "one "),
            ("one two  \n three four", "one "),
            ("one two three", ""),
            ("one", ""),
            ("", ""),
        ] {
            assert_eq!(text.get(..three_words_back(text)), Some(shown), "{text:?}");
        }
    }
}
