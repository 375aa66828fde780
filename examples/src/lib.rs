//! What the examples share: the case reader, the scenario format, tools over real files, and the two
//! examples on real input.

pub mod cases;
pub mod fix;
pub mod folder_tools;
pub mod seen;
pub mod survey;
pub mod script;
pub mod suite;
