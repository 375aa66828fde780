//! What the examples share: the case reader, the scenario format, and the suite.

pub mod cases;
pub mod script;
pub mod suite;
