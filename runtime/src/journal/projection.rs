//! What the readers of runs see without folding a log. Each is a function of the records; the answer comes from
//! a [`Final`] besides, and from nothing else.

mod details;

pub use details::{ProcessDetail, process_details};

use countersign_core::{Decision, Event, Final, ROOT, Reason, Record, Status, Str};
use serde::Serialize;
use std::sync::Arc;

/// How many characters of a task stand in a summary.
const TITLE_CHARS: usize = 120;

/// How a run stands, on one line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run: Str,
    /// The conversation to which it belongs.
    pub conversation: Option<Str>,
    /// The message that it fills.
    pub message: Option<Str>,
    /// To whom it belongs, where somebody keeps people apart.
    pub owner: Option<Str>,
    /// The runner that began it, by a name, where there are several.
    pub profile: Option<Str>,
    /// The mode.
    pub mode: Str,
    /// The beginning of the task.
    pub title: Str,
    /// Where it stands. A run whose process died stands in progress until somebody takes it up.
    pub status: Status,
    /// Why, where the gate has ruled and nothing has happened since.
    pub reason: Option<Reason>,
    /// When it began: milliseconds since the Unix epoch.
    pub started_ms: u64,
    /// When the last event was recorded.
    pub changed_ms: u64,
    /// The number of the last event.
    pub seq: u32,
}

impl RunSummary {
    /// Begins with the first record of a log; `None` where that starts no run.
    pub fn begin(first: &Record) -> Option<Self> {
        let Event::RunStarted(start) = &first.event else { return None };
        Some(Self {
            run: start.run.clone(),
            conversation: start.conversation.clone(),
            message: start.message.clone(),
            owner: start.owner.clone(),
            profile: start.profile.clone(),
            mode: start.mode.clone(),
            title: start.task.chars().take(TITLE_CHARS).collect::<String>().into(),
            status: Status::InProgress,
            reason: None,
            started_ms: first.at_ms,
            changed_ms: first.at_ms,
            seq: first.seq,
        })
    }

    /// Takes in a record that follows.
    pub fn take(&mut self, record: &Record) {
        (self.seq, self.changed_ms) = (record.seq, record.at_ms);
        if let Some(standing) = Self::standing(record) {
            (self.status, self.reason) = standing;
        }
    }

    /// Where a run stands whose newest record this is: as the gate ruled, or in progress. `None` for a late result, which
    /// changes nothing.
    pub fn standing(last: &Record) -> Option<(Status, Option<Reason>)> {
        match &last.event {
            Event::LateResult { .. } => None,
            Event::Decided { scope: ROOT, decision, .. } => Some((decision.status, Some(decision.completion_reason))),
            _ => Some((Status::InProgress, None)),
        }
    }

    /// The summary of a log.
    pub fn fold(log: &[Arc<Record>]) -> Option<Self> {
        let (first, rest) = log.split_first()?;
        let mut summary = Self::begin(first)?;
        rest.iter().for_each(|record| summary.take(record));
        Some(summary)
    }
}

/// The ruling on the run, where the record is one.
fn ruling(record: &Record) -> Option<&Decision> {
    match &record.event {
        Event::Decided { scope: ROOT, decision, .. } => Some(decision),
        _ => None,
    }
}

/// Which runs to list. The default lists the newest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunQuery {
    /// Runs that stand so.
    pub status: Option<Status>,
    /// Runs of this mode.
    pub mode: Option<Str>,
    /// Runs that belong to this one.
    pub owner: Option<Str>,
    /// Runs of this conversation.
    pub conversation: Option<Str>,
    /// Runs that began then or later: milliseconds since the Unix epoch.
    pub since_ms: Option<u64>,
    /// Runs that began before then.
    pub before_ms: Option<u64>,
    /// Runs whose title contains this, whatever the case of its ASCII letters.
    pub text: Option<Str>,
    /// How many at most.
    pub most: usize,
}

impl Default for RunQuery {
    fn default() -> Self {
        Self { status: None, mode: None, owner: None, conversation: None, since_ms: None, before_ms: None, text: None, most: 100 }
    }
}

impl RunQuery {
    /// Whether a run is asked for.
    pub fn fits(&self, run: &RunSummary) -> bool {
        self.status.is_none_or(|status| status == run.status)
            && self.mode.as_ref().is_none_or(|mode| *mode == run.mode)
            && self.owner.as_ref().is_none_or(|owner| run.owner.as_ref() == Some(owner))
            && (self.conversation.is_none() || self.conversation == run.conversation)
            && self.since_ms.is_none_or(|since| since <= run.started_ms)
            && self.before_ms.is_none_or(|before| run.started_ms < before)
            && self.text.as_ref().is_none_or(|text| run.title.to_ascii_lowercase().contains(&text.to_ascii_lowercase()))
    }
}

/// What the user's message holds. Its content is the answer that the gate let through, or why there will be
/// none; anything else that somebody would like to say stands apart from it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Message {
    /// The answer, or the reason of a terminal failure.
    pub content: Option<Str>,
    /// Text that is not final. Never to be shown as the answer.
    pub candidate: Option<Str>,
    /// Whether the content is a final answer.
    pub finalized: bool,
    /// Where the run stood when the gate last ruled.
    pub status: Option<Status>,
    /// Why.
    pub reason: Option<Reason>,
}

impl Message {
    /// Takes in a record. True where that changed something.
    pub fn take(&mut self, record: &Record, answer: Option<&Final>) -> bool {
        if let Event::CandidateMade(made) = &record.event
            && made.scope == ROOT
        {
            self.candidate = Some(made.text.clone());
            return true;
        }
        let Some(decision) = ruling(record) else { return false };
        (self.status, self.reason) = (Some(decision.status), Some(decision.completion_reason));
        match decision.status {
            Status::Completed => self.fill(decision, answer),
            Status::Failed | Status::Cancelled => self.content = Some(failure(decision)),
            Status::InProgress | Status::AwaitingApproval | Status::Blocked => {}
        }
        true
    }

    /// The only way in which an answer gets into a message.
    fn fill(&mut self, decision: &Decision, answer: Option<&Final>) {
        if let Some(answer) = answer.filter(|a| *a.run() == decision.run_id) {
            (self.content, self.candidate, self.finalized) = (Some(answer.text().clone()), None, true);
        }
    }
}

/// Why there will be no answer, in words.
fn failure(decision: &Decision) -> Str {
    let why = decision.missing_checks.iter().map(|f| f.message.as_str()).collect::<Vec<_>>().join("; ");
    match why.as_str() {
        "" => decision.completion_reason.name().into(),
        why => format!("{}: {why}", decision.completion_reason.name()).into(),
    }
}
