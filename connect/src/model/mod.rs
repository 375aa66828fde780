//! Models of other people's making, behind the runtime's `Model` port.
//!
//! ```text
//! ModelRequest ──▶ protocol ──▶ request ──▶ provider ──▶ reply ──▶ protocol ──▶ ModelReply
//!                  how tools are            HTTP, as      text, reasoning,        or a fault: what it is,
//!                  written out              a stream      calls, usage            and when to ask again
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`settings`] | which provider, which model, and how it is asked; reads from TOML |
//! | [`chat`] | the model |
//! | [`key`] | a key from the environment, that nobody can print |
//! | [`protocol`] | tools for models that have none of their own |
//! | [`window`] | transcripts that are too long |
//! | [`by_agent`] | one model for each agent |
//!
//! Provider, HTTP and their types stay in here.

pub mod by_agent;
pub mod chat;
mod fault;
pub mod key;
pub mod protocol;
mod refusal;
mod reply;
mod request;
pub mod settings;
mod turns;
pub mod window;

pub use by_agent::ByAgent;
pub use chat::{ChatModel, SetupError};
pub use settings::{Api, Protocol, Settings};
pub use window::{Compaction, KeepNewest, Talk};
