//! Multi-agent systems in which code, not prose, decides when an answer is final.
//!
//! ```text
//!             what happened                      what to do next
//!  driver ───────────────▶ ledger ──▶ mode ──────────────────────▶ driver
//!    ▲                       │          │ candidate
//!    └──── next ◀─────── decision ◀── gate ◀── policy + checks
//! ```
//!
//! This crate is the driver and its ports; it re-exports the two pure crates below it.
//!
//! | module | what it is |
//! |---|---|
//! | [`runner`] | build a runner, run a task |
//! | [`driver`] | the one loop that performs what a mode asks for and records what happened |
//! | [`model`], [`tool`], [`journal`], [`guard`], [`hooks`] | the ports |
//! | [`conversation`] | what a run is told of those before it |
//! | [`request`] | what a run is asked: words and images |
//! | [`mod@line`] | a tool's line back to its run |
//! | [`live`] | a run under way: stream, steer, approve, cancel |
//! | [`testing`] | scripted, playing-back and failing models, and a failing journal |

pub mod conversation;
pub mod driver;
pub mod error;
pub mod guard;
pub mod hooks;
pub mod journal;
pub mod line;
pub mod live;
pub mod model;
pub mod parts;
pub mod request;
pub mod result;
pub mod runner;
pub mod testing;
pub mod tool;
mod typed;

pub use countersign_core::*;
pub use countersign_modes::*;

pub use error::DriveError;
pub use guard::{DEFAULT_MAX_NUDGES, Guard, GuardPlugin, GuardSaid, GuardState, ToolUse};
pub use hooks::{Hooks, ToolGate};
#[cfg(feature = "sqlite")]
pub use journal::SqliteJournal;
pub use journal::{Batch, Journal, JournalError, MemoryJournal};
pub use line::Line;
pub use live::{EventStream, Handle, LiveRun, Streamed};
pub use model::{Deltas, Model, ModelError, ModelReply, ModelRequest, Retry, ToolCall};
pub use parts::Clock;
pub use request::{Image, ImageError, Request};
pub use result::{NotFinal, RunResult};
pub use runner::{BuildError, Labels, Runner, RunnerBuilder};
pub use tool::{FnTool, Tool, ToolError, ToolOutput, ToolRequest};
