//! What is done for the sake of other servers that share the journal: what they say to runs of this one is handed on,
//! and runs that one of them has left behind are taken up.

use super::Runs;
use crate::problem::Problem;
use countersign::journal::Peers;
use countersign::live::Command;
use countersign::{DriveError, Str};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked for runs that were left behind. One that is so twice is taken up: a process whose connection
/// was lost for a moment is not gone.
pub(crate) const LOOK: Duration = Duration::from_secs(2);

/// Most runs that are taken up at one look.
const LOOK_MAX: usize = 1_000;

impl Runs {
    /// From now on, until the server leaves.
    pub(super) fn attend_to_others(self: &Arc<Self>) {
        tokio::spawn(self.clone().deliver());
        tokio::spawn(self.clone().look_after());
    }

    /// Hands on what others say to runs of this process.
    async fn deliver(self: Arc<Self>) {
        while let Some(others) = self.journal.peers().filter(|_| !self.is_leaving()) {
            let posts = others.posted().await.unwrap_or_else(|why| {
                tracing::warn!(%why, "what other servers say cannot be read");
                Vec::new()
            });
            let mut all = true;
            for (run, command) in posts {
                all &= self.hand_on(others, &run, command).await;
            }
            if all {
                others.mail().await;
            } else {
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// False where it could not be said, and waits for whoever can.
    async fn hand_on(self: &Arc<Self>, others: &dyn Peers, run: &Str, command: Command) -> bool {
        let told = match self.journal.summary(run).await {
            Ok(Some(summary)) => self.tell(&summary, vec![command.clone()]).await,
            Ok(None) => return true,
            Err(why) => Err(why.into()),
        };
        match told {
            Ok(()) => true,
            // It came too late, as it may for a run of this process.
            Err(why @ Problem::Drive(DriveError::Ended(_))) => {
                tracing::info!(run = &**run, %why, "what was said is not heard any more");
                true
            }
            Err(why) => {
                tracing::warn!(run = &**run, %why, "what was said is left to others");
                if let Err(why) = others.post(run, &[command]).await {
                    tracing::error!(run = &**run, %why, "what was said is lost");
                }
                false
            }
        }
    }

    /// Takes up what others have left behind.
    async fn look_after(self: Arc<Self>) {
        let (mut seen, mut refused) = (HashSet::<Str>::new(), HashSet::<Str>::new());
        while let Some(others) = self.journal.peers().filter(|_| !self.is_leaving()) {
            let left = others.left_behind(LOOK_MAX).await.unwrap_or_else(|why| {
                tracing::warn!(%why, "runs that were left behind cannot be looked for");
                Vec::new()
            });
            for run in left.iter().filter(|run| seen.contains(&run.run)) {
                if refused.contains(&run.run) {
                    continue;
                }
                match self.resume(run).await {
                    Ok(()) | Err(Problem::Drive(DriveError::Driven(_) | DriveError::Ended(_)) | Problem::Busy(_) | Problem::Leaving) => {}
                    Err(why) => {
                        tracing::warn!(run = &*run.run, %why, "a run that was left behind cannot be taken up");
                        refused.insert(run.run.clone());
                    }
                }
            }
            seen = left.into_iter().map(|run| run.run).collect();
            refused.retain(|run| seen.contains(run));
            tokio::time::sleep(LOOK).await;
        }
    }
}
