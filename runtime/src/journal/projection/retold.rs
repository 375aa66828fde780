//! What a log itself says of its run, to be held against what is stored beside it.

use super::{Message, RunSummary};
use crate::journal::JournalError;
use countersign_core::{Event, ROOT, Record, Str};

/// A run's line and message, made of its log anew.
#[derive(Default)]
pub struct Retold {
    line: Option<RunSummary>,
    message: Message,
    answer: Option<Str>,
}

impl Retold {
    /// Takes in the next record.
    pub fn take(&mut self, record: &Record) {
        match &mut self.line {
            None => self.line = RunSummary::begin(record),
            Some(line) => line.take(record),
        }
        self.message.take(record, None);
        if let Event::Decided { scope: ROOT, decision, .. } = &record.event {
            self.answer = self.answer.take().or_else(|| decision.final_text.clone());
        }
    }

    /// Whether the stored line and message say the same.
    pub fn compare(self, run: &str, line: Option<&RunSummary>, message: &Message) -> Result<(), JournalError> {
        let seq = self.line.as_ref().map_or(0, |line| line.seq);
        let other = |what: &str| JournalError::Damaged { run: run.into(), seq, why: format!("its {what} says something else than its log") };
        if self.line.as_ref() != line {
            return Err(other("line"));
        }
        let content = if message.finalized { self.answer } else { self.message.content };
        // A log that came without its final has none in its message.
        if message.content.is_some() && message.content != content { Err(other("message")) } else { Ok(()) }
    }
}
