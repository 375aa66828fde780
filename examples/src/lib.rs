//! What the examples share: the case reader, the scenario format, and the two
//! examples on real input.

pub mod cases;
pub mod fix;
pub mod script;
pub mod seen;
pub mod suite;
pub mod survey;

/// The listings of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
