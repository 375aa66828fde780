//! The commands of the `countersign` program. Each takes its arguments and somewhere to write, and says with which
//! status to exit: 0 where all is well, 1 where what it looked at is not, 2 where it could not look.
//!
//! | module | what it does |
//! |---|---|
//! | `config`, `run` | carries a task out, by a file (feature `run`) |
//! | `serve` | serves runs over HTTP, by the same file (feature `serve`) |
//! | [`view`] | a run in the terminal: tree, lines or JSON, and what a person is asked |
//! | [`init`] | writes such a file |
//! | [`place`] | where runs are kept: a file, or a database (feature `postgres`) |
//! | [`source`] | opens a journal to look at it, or a log of one event a line |
//! | [`runs`] | lists runs |
//! | [`show`] | shows one run: how it stands and why |
//! | [`verify`] | checks the hash chain of every log |
//! | [`replay`] | rules on stored runs again |
//! | [`audit`] | rules on what agents of other frameworks wrote |
//! | [`eval`] | measures the audit on labelled traces |
//! | [`hook`] | answers the stop hooks of Claude Code, Codex and Cursor, and installs itself there |

pub mod audit;
#[cfg(feature = "run")]
pub mod config;
pub mod eval;
pub mod hook;
pub mod init;
pub mod place;
pub mod replay;
#[cfg(feature = "run")]
pub mod run;
pub mod runs;
#[cfg(feature = "serve")]
pub mod serve;
pub mod show;
pub mod source;
pub mod verify;
pub mod view;

/// What was looked at is as it should be.
pub const GOOD: u8 = 0;
/// What was looked at is not as it should be.
pub const BAD: u8 = 1;
/// It could not be looked at.
pub const UNREADABLE: u8 = 2;
