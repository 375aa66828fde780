//! Tools that work on this machine. Arguments come from a model, and are not trusted.
//!
//! | module | tools |
//! |---|---|
//! | [`folder`] | what files are looked for in: one folder, and nothing beside it |
//! | [`list`], [`read`], [`search`] | `list_files`, `read_file`, `search_files` |
//! | [`mod@write`], [`patch`] | `write_file`, `patch_file`, in a folder that was opened for writing |
//! | `command` | `run_command`, `start_command`, `job_output`, `stop_job`: programs from a list, without a shell |
//! | `fetch` | `fetch_url`: HTTP GET, not of private addresses (feature `fetch`) |
//!
//! Every one of them has limits of time and size, and says where something was cut. None is a sandbox: a
//! program that may be run has the rights of the process that runs it.

#[cfg(unix)]
pub mod command;
#[cfg(feature = "fetch")]
pub mod fetch;
pub mod folder;
pub mod list;
pub mod patch;
pub mod read;
pub mod search;
pub mod write;

#[cfg(unix)]
pub use command::Commands;
#[cfg(feature = "fetch")]
pub use fetch::Fetch;
pub use folder::{Folder, WritableFolder};
