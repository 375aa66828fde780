//! Counters and positions.

use crate::decision::Status;
use crate::event::{CancelWhen, Cause, Usage};
use crate::node::NodeId;

/// What limits and positional rules are judged by.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Totals {
    /// Model replies.
    pub turns: u32,
    /// Tool calls asked for.
    pub tool_calls: u32,
    /// Transfers asked for.
    pub transfers: u32,
    /// Continuations used since the allowance was last granted.
    pub continuations: u32,
    /// Plans made, the first included.
    pub plans: u32,
    /// Tokens and cost so far.
    pub usage: Usage,
    /// Completed evidence nodes.
    pub evidence: u32,
    /// Calls with an ambiguous label that are open.
    pub ambiguous: u32,
    /// Jobs that were killed.
    pub jobs_killed: u32,
    /// The last event in which a tool run was settled or a job ended.
    pub last_settled: u32,
    /// The last check: its call, and whether it passed.
    pub last_check: Option<(NodeId, bool)>,
    /// The last good check: its reply's event, and its own.
    pub good_check: Option<(u32, u32)>,
    /// The newest event that completed a write outside scratch.
    pub write_settled: u32,
    /// The last change from outside.
    pub edited: u32,
    /// Provider errors in a row of the agent whose provider failed last.
    pub provider_failures: u32,
    /// Why the loop stopped, while it is stopped.
    pub stop: Option<Cause>,
    /// The event that stopped it.
    pub stop_seq: u32,
    /// Whether the user asked for cancellation.
    pub cancel: Option<CancelWhen>,
    /// Whether the newest resume did not start.
    pub resume_failed: bool,
    /// Whether nothing has happened since the run was resumed.
    pub just_resumed: bool,
    /// Whether a crash was recorded and not yet recovered from.
    pub crashed: bool,
    /// The terminal status, once a decision recorded one.
    pub ended: Option<Status>,
    /// The last transfer's target and task, hashed, and how often in a row it came.
    pub same_transfers: (u64, u32),
    /// The newest decision: its event, its scope, and evidence nodes known by then.
    pub ruled: Option<(u32, NodeId, u32)>,
    /// A running digest of the log.
    pub digest: u64,
}
