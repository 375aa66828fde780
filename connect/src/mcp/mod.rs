//! Tools of MCP servers, over stdio and streamable HTTP.
//!
//! | module | what it is |
//! |---|---|
//! | [`server`] | a server that is connected to, and its tools |
//! | [`launch`] | how it is reached: a program with an environment of its own, or an address |
//! | [`terms`] | on which terms its tools are used |
//! | [`definition`] | what a tool says of itself, and its digest |
//!
//! A foreign tool is by default a write that may not run twice, that a person grants, and whose result is no
//! evidence. What a server says of its own tools can only tighten that; you loosen it tool by tool.

mod call;
pub mod definition;
pub mod launch;
mod progress;
pub mod server;
pub mod terms;

pub use launch::{Launch, Program};
pub use server::{McpError, Server};
pub use terms::{Term, Terms};
