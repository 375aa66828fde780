//! Tasks that were accepted and have not begun: kept beside the logs, so that they outlive the process that took them.
//!
//! A queue is text that the journal does not read. It says what was accepted and is never changed; what has begun of it,
//! the runs say.

use super::JournalError;
use async_trait::async_trait;
use countersign_core::Str;

/// Keeps queues.
#[async_trait]
pub trait Queues: Send + Sync {
    /// Keeps a queue under a name of its own. This process works it off.
    async fn keep(&self, name: &str, text: &str) -> Result<(), JournalError>;

    /// What a queue says, whoever works it off.
    async fn text(&self, name: &str) -> Result<Option<Str>, JournalError>;

    /// Takes the queues that are not worked off and that no process works off that is alive, with what they say. Each is
    /// handed to one process.
    async fn take(&self) -> Result<Vec<(Str, Str)>, JournalError>;

    /// A queue has been worked off: nobody takes it again.
    async fn done(&self, name: &str) -> Result<(), JournalError>;
}
