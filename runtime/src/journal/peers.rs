//! What processes that share a journal know of one another: who drives which run, and what is said to runs of others.
//!
//! The journal itself knows which of its writers are alive. Nobody is elected and nothing is scheduled: a run belongs to
//! whoever began it or took it up, until it comes to rest or its process is gone.

use super::JournalError;
use super::projection::RunSummary;
use crate::live::Command;
use async_trait::async_trait;
use countersign_core::Str;

/// Processes that share a journal. What keeps two of them off one run is the expected number of each append all the
/// same: this only says whom to leave alone, and whom to tell.
#[async_trait]
pub trait Peers: Send + Sync {
    /// Takes a run for this process, unless another that is alive has it. A run that has come to rest is nobody's. False
    /// where another has it, and where there is no such run.
    async fn claim(&self, run: &str) -> Result<bool, JournalError>;

    /// Gives a run back that was claimed and could not be taken up.
    async fn release(&self, run: &str) -> Result<(), JournalError>;

    /// Runs that are under way and that nobody alive has, the newest first, at most `most`.
    async fn left_behind(&self, most: usize) -> Result<Vec<RunSummary>, JournalError>;

    /// Says something to a run of another process. It is kept until that process takes it, or, should it be gone or have
    /// let go of the run by then, any other.
    async fn post(&self, run: &str, commands: &[Command]) -> Result<(), JournalError>;

    /// What others have said to runs of this process, and to those of processes that are gone, in the order in which it
    /// was said. It is handed out once.
    async fn posted(&self) -> Result<Vec<(Str, Command)>, JournalError>;

    /// Waits until something may have been posted. May come back early; may be given up at any time.
    async fn mail(&self);

    /// Waits until something may have happened to a run. May come back early; may be given up at any time.
    async fn news(&self, run: &str);
}
