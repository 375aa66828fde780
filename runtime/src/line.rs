//! A tool's line back to its run, beside its result: signs of progress, and results that nobody waits for any more.

use crate::driver::Driver;
use crate::error::DriveError;
use crate::journal::{Batch, JournalError};
use crate::live::{Command, Preview, Shared};
use crate::parts::Parts;
use countersign_core::{Event, NodeId, Outcome, Str};
use std::fmt;
use std::sync::{Arc, Weak};

/// How often a late result is offered to a journal to which somebody else writes at the same time.
const TRIES: u32 = 5;

/// A tool's line back to its run. Costs nothing while nobody listens; a tool need not use it.
#[derive(Clone, Default)]
pub struct Line {
    end: Option<End>,
}

#[derive(Clone)]
struct End {
    run: Str,
    call: NodeId,
    /// Gone with the driver.
    shared: Weak<Shared>,
    parts: Arc<Parts>,
}

impl Line {
    /// A line that leads nowhere, for tools that are called without a run.
    pub fn nowhere() -> Self {
        Self::default()
    }

    pub(crate) fn new(parts: &Arc<Parts>, shared: &Arc<Shared>, call: NodeId) -> Self {
        Self { end: Some(End { run: shared.run.clone(), call, shared: Arc::downgrade(shared), parts: parts.clone() }) }
    }

    /// Says how far the call is. Shown to whoever listens, and not recorded.
    pub fn progress(&self, text: &str) {
        let Some((end, shared)) = self.end.as_ref().and_then(|end| Some((end, end.shared.upgrade()?))) else { return };
        if let Some(sender) = shared.deltas.get() {
            // A listener that has just left is no error.
            let _ = sender.send(Preview::Progress { call: end.call, text: text.into() });
        }
    }

    /// Hands over a result after the call was given up: cancelled, or out of time. It is recorded as `late_result` and
    /// changes nothing. Where the run has come to rest without being over, somebody else may drive it by now: then it is
    /// said in the trace only.
    pub async fn late(&self, outcome: Outcome, text: &str) -> Result<(), DriveError> {
        let Some(end) = &self.end else { return Ok(()) };
        let late = Late { call: end.call, outcome, text: text.into() };
        match end.shared.upgrade() {
            None => record(&end.parts, &end.run, &[late]).await,
            Some(shared) => {
                // It is taken even where nothing else is.
                let _ = shared.inbox.put(Command::Late { call: late.call, outcome, text: late.text });
                // A driver that has ended reads nothing more.
                if shared.tip.has_ended() { hand_over(&end.parts, &shared).await } else { Ok(()) }
            }
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

struct Late {
    call: NodeId,
    outcome: Outcome,
    text: Str,
}

/// Records what came late and was not read by a driver that has ended. Called by the driver once it has, and by whoever
/// comes after: each finds what the other has not taken.
pub(crate) async fn hand_over(parts: &Arc<Parts>, shared: &Shared) -> Result<(), DriveError> {
    let mut late = Vec::new();
    for command in shared.inbox.take_late() {
        if let Command::Late { call, outcome, text } = command {
            late.push(Late { call, outcome, text });
        }
    }
    if late.is_empty() { Ok(()) } else { record(parts, &shared.run, &late).await }
}

async fn record(parts: &Arc<Parts>, run: &Str, late: &[Late]) -> Result<(), DriveError> {
    let mut tries = 0;
    loop {
        let (mut folded, written) = Driver::read(parts, run).await?;
        if !folded.ledger().has_ended() {
            tracing::warn!(run = &**run, "a result came after its run had come to rest: it is not recorded");
            return Ok(());
        }
        let event = |late: &Late| Event::LateResult { call: late.call, outcome: late.outcome, text: late.text.clone() };
        folded.append((parts.clock)(), late.iter().map(event))?;
        let log = folded.ledger().log();
        let expected = u32::try_from(written).unwrap_or(u32::MAX);
        match parts.journal.append(Batch::new(run, expected, log.get(written..).unwrap_or_default())).await {
            // Another late result was quicker.
            Err(JournalError::Stale { .. }) if tries < TRIES => tries += 1,
            done => return Ok(done?),
        }
    }
}
