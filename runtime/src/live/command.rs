//! What people say to a run.

use countersign_core::{CancelWhen, NodeId, Outcome, Str};
use serde::{Deserialize, Serialize};

/// Something said to a run from outside. Written down only where it has to reach another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Cancel.
    Cancel {
        /// By whom.
        by: Str,
        /// When it takes hold.
        when: CancelWhen,
    },
    /// A message to the agent that owns the answer, read before its next turn.
    Steer(Str),
    /// A message that is read after an accepted finish, instead of ending the run.
    FollowUp(Str),
    /// An approval is granted or denied.
    Approve {
        /// The approval.
        approval: NodeId,
        /// Whether it may run.
        granted: bool,
        /// Who says so.
        by: Str,
        /// Why.
        why: Str,
        /// Arguments as the approver changed them.
        args: Option<Str>,
    },
    /// A question is answered.
    Answer {
        /// The question.
        question: NodeId,
        /// The answer.
        text: Str,
    },
    /// A lost call is resolved: run again, or settled with what is known of it.
    Resolve {
        /// The call.
        call: NodeId,
        /// What became of it; `None` runs it again.
        outcome: Option<Outcome>,
        /// In words.
        text: Str,
        /// Who says so.
        by: Str,
    },
    /// A result of a call that nobody waits for any more: recorded, and changes nothing.
    Late {
        /// The call.
        call: NodeId,
        /// How it ended after all.
        outcome: Outcome,
        /// What came.
        text: Str,
    },
    /// State changed outside the run.
    Edited {
        /// By whom.
        by: Str,
    },
    /// The process leaves: what is under way is abandoned, and the run waits for whoever takes it up.
    Pause {
        /// Why, in words.
        why: Str,
    },
}
