//! x
pub use countersign_core::*;
