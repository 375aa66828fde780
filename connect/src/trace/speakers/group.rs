//! A group: everybody speaks in turn. Code in a message is a call, what the executor says is its result, and the
//! newest words before the end are the answer.

use super::Spoken;
use crate::trace::outcome::outcome_of;
use crate::trace::{SourceError, Tale, Told};
use countersign_core::{Declared, Effect, Outcome};

/// The word by which AG2 ends a chat.
const END: &str = "TERMINATE";

/// Before what the code printed.
const OUTPUT: &str = "Code output:";

/// What an executor says.
enum Executed {
    /// It ran code, which exited with this status.
    Ran(i64),
    /// There was nothing for it to run.
    Idle,
}

pub(super) fn tell(spoken: &[Spoken], told: &mut Told<'_>) -> Result<(), SourceError> {
    let executor = spoken.iter().find(|s| executed(&s.said).is_some()).map(|s| s.speaker.as_str());
    let words = spoken.iter().rev().find(|s| Some(s.speaker.as_str()) != executor && !is_bare_end(&s.said));
    let owner = words.map_or(crate::trace::OWNER, |s| s.speaker.as_str());
    let tale = told.begin("", owner)?;
    tale.is_among_colleagues();
    let mut group = Group { executor, pending: None, calls: 0, ran: false };
    for (at, message) in spoken.iter().enumerate() {
        tale.at(message.line, Some(message.at));
        match at {
            0 => tale.asked(&message.said),
            _ if Some(message.speaker.as_str()) == executor => {
                let before = spoken.get(at - 1).map_or(owner, |s| s.speaker.as_str());
                group.executor_says(&message.said, before, tale);
            }
            _ => group.member_says(message, tale),
        }
    }
    // Where the chat knows a word by which it ends, an answer is offered by that word. Without it the chat was cut.
    let known = spoken.iter().any(|s| s.said.contains(END));
    if known && !spoken.last().is_some_and(|s| says_end(&s.said) && Some(s.speaker.as_str()) != executor) {
        tale.takes_back();
    }
    Ok(())
}

struct Group<'a> {
    executor: Option<&'a str>,
    /// Code that waits to be run.
    pending: Option<String>,
    calls: u32,
    /// Whether something was run since the newest words.
    ran: bool,
}

impl Group<'_> {
    fn member_says(&mut self, message: &Spoken, tale: &mut Tale) {
        // Somebody else spoke first: the code was not run.
        if let Some(id) = self.pending.take() {
            tale.returned(&id, Outcome::Rejected, "");
        }
        if is_bare_end(&message.said) {
            if !self.ran {
                tale.seconded(&message.speaker);
            }
            return;
        }
        self.ran = false;
        tale.said(&message.speaker, message.said.trim_end().trim_end_matches(END));
        if self.executor.is_some() && message.said.contains("```") && !says_end(&message.said) {
            self.pending = Some(self.call(&message.speaker, tale));
        }
    }

    fn executor_says(&mut self, said: &str, before: &str, tale: &mut Tale) {
        let id = self.pending.take().unwrap_or_else(|| self.call(before, tale));
        match executed(said) {
            Some(Executed::Ran(status)) => {
                self.ran = true;
                // Code that catches its own error prints it, and exits with 0.
                let printed = said.split_once(OUTPUT).map_or("", |(_, printed)| printed);
                tale.returned(&id, if status == 0 { outcome_of(printed) } else { Outcome::Failed }, said);
            }
            Some(Executed::Idle) | None => tale.returned(&id, Outcome::Rejected, said),
        }
    }

    fn call(&mut self, by: &str, tale: &mut Tale) -> String {
        self.calls += 1;
        let id = format!("code {}", self.calls);
        let declared = Declared { approval: false, ..Declared::run(Effect::Write) };
        tale.called_as(by, &id, "run_code", "", declared);
        id
    }
}

fn executed(said: &str) -> Option<Executed> {
    if let Some(rest) = said.strip_prefix("exitcode:") {
        let digits: String = rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        return digits.parse().ok().map(Executed::Ran);
    }
    said.starts_with("There is no code from the last").then_some(Executed::Idle)
}

/// Whether a text says the word, and does not only quote it: who asks others to end the chat has not ended it.
fn says_end(said: &str) -> bool {
    said.match_indices(END).any(|(at, _)| {
        let before = said.get(..at).and_then(|s| s.chars().next_back());
        let after = said.get(at + END.len()..).and_then(|s| s.chars().next());
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let quoted = |c: Option<char>| c.is_some_and(|c| matches!(c, '"' | '\'' | '`' | '\u{201c}' | '\u{2018}'));
        !word(before) && !word(after) && !quoted(before)
    })
}

/// Whether a text is nothing but the word.
fn is_bare_end(said: &str) -> bool {
    let mut words = said.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.next() == Some(END) && words.next().is_none()
}
