//! The events of a run as they come, whoever drives it: this process, another, or nobody yet.

use super::{Journal, JournalError};
use countersign_core::{Event, ROOT, Record, Str};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many events are read at a time.
const PAGE: usize = 256;

/// A reader's own position in a stored log.
pub struct Tail {
    journal: Arc<dyn Journal>,
    run: Str,
    after: u32,
    buffer: VecDeque<Arc<Record>>,
    ended: bool,
}

impl Tail {
    /// Begins after an event; 0 begins with the first.
    pub fn new(journal: Arc<dyn Journal>, run: impl Into<Str>, after: u32) -> Self {
        Self { journal, run: run.into(), after, buffer: VecDeque::new(), ended: false }
    }

    /// The next event, in order, exactly once. Waits for it; `None` after the event that ended the run for good.
    pub async fn next(&mut self) -> Option<Result<Arc<Record>, JournalError>> {
        loop {
            if let Some(record) = self.buffer.pop_front() {
                self.after = record.seq;
                self.ended |= matches!(&record.event, Event::Decided { scope: ROOT, decision, .. } if decision.status.is_terminal());
                return Some(Ok(record));
            }
            if self.ended {
                return None;
            }
            match self.journal.read(&self.run, self.after, PAGE).await {
                Ok(page) if page.is_empty() => {
                    // It may have ended before the event with which this reader began.
                    match self.journal.summary(&self.run).await {
                        Ok(Some(run)) if run.status.is_terminal() && run.seq <= self.after => return None,
                        Ok(_) => {}
                        Err(why) => return Some(Err(why)),
                    }
                    if let Err(why) = self.journal.grown(&self.run, self.after).await {
                        return Some(Err(why));
                    }
                }
                Ok(page) => self.buffer.extend(page),
                Err(why) => return Some(Err(why)),
            }
        }
    }
}
