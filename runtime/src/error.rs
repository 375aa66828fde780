//! Why a driver could not go on.

use crate::journal::JournalError;
use crate::request::ImageError;
use countersign_core::{AppendError, ReplayError, Str};

/// A driver that could not go on. The run itself is as its journal has it.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The journal refused or failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The ledger refused an event that the driver made: a fault of ours, or of a custom mode.
    #[error("the ledger refused an event: {0}")]
    Append(#[from] AppendError),
    /// The journal's log could not be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// No run has this id.
    #[error("no run is called `{0}`")]
    UnknownRun(Str),
    /// The task's images cannot be shown.
    #[error(transparent)]
    Images(#[from] ImageError),
    /// This runner lacks what the run needs. Nothing was recorded.
    #[error("run `{run}` cannot go on here: {missing}; use a runner that is built as the one that began it")]
    Unfit {
        /// The run.
        run: Str,
        /// What is missing.
        missing: String,
    },
    /// The run has no such event.
    #[error("run `{run}` has no event {seq}: it goes from 1 to {last}")]
    NoEvent {
        /// The run.
        run: Str,
        /// The event asked for.
        seq: u32,
        /// Its last.
        last: u32,
    },
    /// Another process that is alive drives the run. Nothing was recorded.
    #[error("run `{0}` is driven by another process; say it there, or wait until it has come to rest")]
    Driven(Str),
    /// The run has ended.
    #[error("run `{0}` has ended; start a new one")]
    Ended(Str),
    /// The driver's own task died.
    #[error("the driver died: {0}")]
    Driver(String),
}
