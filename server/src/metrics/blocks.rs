//! Blocks that look wrong in hindsight.

use countersign::{Event, ROOT, Run, Status, Str};

/// Why a block looks wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FalseBlock {
    /// A final followed, and between the two nothing new was learned.
    NoNewEvidence,
    /// A person took the run up, and the very answer that had been blocked was let through.
    Overruled,
}

impl FalseBlock {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NoNewEvidence => "no_new_evidence",
            Self::Overruled => "overruled",
        }
    }

    /// Looks at the last block of a run that has its answer.
    pub(super) fn of(run: &Run) -> Option<Self> {
        let (ledger, answer) = (run.ledger(), run.final_answer()?);
        let blocked = |event: &Event| matches!(event, Event::Decided { scope: ROOT, decision, .. } if decision.status == Status::Blocked);
        let at = ledger.log().iter().rposition(|record| blocked(&record.event))?;
        let (before, since) = ledger.log().split_at(at);
        let learned = since.iter().any(|record| match &record.event {
            Event::ToolSettled { call, .. } => ledger.is_evidence(*call),
            Event::BackgroundEnded { job, .. } => ledger.is_evidence(*job),
            Event::Attested { .. } | Event::Reconciled { .. } | Event::StepSettled { .. } | Event::Note { .. } => true,
            _ => false,
        });
        let refused: Option<&Str> = before.iter().rev().find_map(|record| match &record.event {
            Event::CandidateMade(made) if made.scope == ROOT => Some(&made.text),
            _ => None,
        });
        match () {
            () if !learned => Some(Self::NoNewEvidence),
            () if refused == Some(answer.text()) => Some(Self::Overruled),
            () => None,
        }
    }
}
