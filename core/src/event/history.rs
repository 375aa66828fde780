//! What was said in a conversation before a run: part of its first event, so that a replay needs nothing else.

use crate::decision::Status;
use crate::node::Str;
use serde::{Deserialize, Serialize};

/// Earlier runs of a conversation, as far as they are carried along.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct History {
    /// Whether older exchanges were left out, since there are more than the policy's limits take.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub cut: bool,
    /// The oldest first.
    pub exchanges: Vec<Exchange>,
}

/// One earlier run: what the user asked, and the final answer, where there was one. Text that was not final has no
/// place here.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Exchange {
    /// The run.
    pub run: Str,
    /// What the user asked for.
    pub task: Str,
    /// How many images came with it. They are not shown again.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub images: u32,
    /// The final answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<Str>,
    /// Where the run stood when this was read.
    pub status: Status,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
