//! Guards that data can describe: who looks at an answer before it goes out.
//!
//! | module | what looks |
//! |---|---|
//! | [`phrases`] | patterns that an answer has to match, or may not match |
//! | `program` | a program of yours |

pub mod phrases;
#[cfg(unix)]
pub mod program;

pub use phrases::Phrases;
#[cfg(unix)]
pub use program::ProgramGuard;
