//! What a step of an activation comes to: facts, acts, a candidate.

use crate::mode::Answer;
use countersign_core::{Event, NodeId};

/// The only two things that are ever done in the world.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Act {
    /// Call the model for this activation's next turn.
    CallModel(NodeId),
    /// Run this tool call.
    RunTool(NodeId),
}

impl Act {
    /// The activation or the call.
    pub fn node(self) -> NodeId {
        match self {
            Self::CallModel(node) | Self::RunTool(node) => node,
        }
    }
}

/// What a step of an activation comes to.
#[derive(Default)]
pub struct Out {
    /// Facts to record, in order.
    pub events: Vec<Event>,
    /// Acts to perform once they are recorded.
    pub acts: Vec<Act>,
    /// A candidate of the mode that works in this activation.
    pub answer: Option<Answer>,
    /// How often a mode's `advance` ran.
    pub passes: u32,
}
