//! Where a task's card stands.

use countersign::{Event, ROOT, Record, Status};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Where a task's card stands. Derived; never stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Work is open.
    InProgress,
    /// There is a candidate and no ruling on it.
    Verifying,
    /// There is a ruling that lets it through, and the answer is not durable yet.
    Finalising,
    /// A person has to grant, deny or answer.
    AwaitingApproval,
    /// The answer is there.
    Completed,
    /// It is not final and cannot go on by itself.
    Blocked,
    /// It failed for good.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Phase {
    /// Where a run stands with this log. What comes too late changes nothing.
    pub fn of_log(log: &[Arc<Record>], answered: bool) -> Self {
        let newest = log.iter().rev().find(|record| !matches!(record.event, Event::LateResult { .. }));
        newest.map_or(Self::InProgress, |record| Self::of(&record.event, answered))
    }

    /// Where a run stands whose newest event this is. `answered` says whether its message holds the answer.
    pub fn of(last: &Event, answered: bool) -> Self {
        match last {
            Event::CandidateMade(made) if made.scope == ROOT => Self::Verifying,
            Event::GuardSpoke { .. } => Self::Verifying,
            Event::Decided { scope: ROOT, decision, .. } => match decision.status {
                Status::Completed if answered => Self::Completed,
                Status::Completed => Self::Finalising,
                Status::InProgress => Self::InProgress,
                Status::AwaitingApproval => Self::AwaitingApproval,
                Status::Blocked => Self::Blocked,
                Status::Failed => Self::Failed,
                Status::Cancelled => Self::Cancelled,
            },
            _ => Self::InProgress,
        }
    }
}
