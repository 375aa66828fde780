//! Countersign over HTTP: runs are started, watched, steered and approved, and no route can make an answer.
//!
//! ```text
//! POST /api/runs ─┐
//! batch, workflow ┼─▶ Runs::start ──▶ driver ──▶ journal ──▶ hub ──▶ wire ──▶ every stream of the run
//! steer, approve ─┘                                           └─ one a run; frames are rendered once
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`server`] | what a server is made of; accepts connections, and drains them |
//! | [`runs`] | the one way to start, steer and take up a run |
//! | [`batch`] | a queue of tasks, each of them such a run |
//! | [`wire`] | from the records of a run to what a reader sees: pure |
//! | [`hub`] | one a run: frames rendered once, and each reader's own place in them |
//! | [`access`] | tokens, sessions, and whose a run is |
//! | [`tighten`] | what a client may ask of the policy |
//! | [`redact`], [`pace`] | what does not leave, and how often one may ask |
//! | [`metrics`] | what is counted |
//! | [`problem`] | what is wrong with a request, and the way out |
//! | `api` | the routes |
//! | `page` | what people see and do |

pub mod access;
mod api;
pub mod batch;
mod extract;
pub mod hub;
pub mod metrics;
pub mod pace;
mod page;
pub mod problem;
pub mod redact;
pub mod runs;
pub mod server;
pub mod state;
pub mod tighten;
pub mod wire;

pub use access::{Token, Tokens};
pub use problem::Problem;
pub use redact::Redactor;
pub use runs::{Order, Runs};
pub use server::{ServeError, Server};
pub use state::AppState;
