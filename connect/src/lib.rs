//! Connects Countersign to models, tools and traces of other people's making. One feature for each connector;
//! none of their types is part of the crates below.

#[cfg(feature = "trace")]
pub mod trace;
