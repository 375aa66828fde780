//! The suite: one test binary, a module an area.
//!
//! | module | what it proves |
//! |---|---|
//! | [`scenarios`] | every scenario ends as it says, whoever rewrites it |
//! | [`bad_input`] | each kind of bad input ends in a typed error or a recorded event |
//! | [`cancel`] | the three kinds of cancellation |
//! | [`conversations`] | what a run is told of those before it: finals as answers, and nothing else as one |
//! | [`driver`] | the modes on the driver, taken up again from every event; approvals; streams |
//! | [`guards`] | guards that data can describe: patterns, and programs |
//! | [`hooks`] | what hooks see, refuse and change |
//! | [`late`] | a tool's line back to its run: progress, and results that nobody waits for any more |
//! | [`live_resume`] | a run comes to the same, whichever event its process died at |
//! | [`live_suite`] | every live scenario comes to what it must, and its log to the same ruling |
//! | [`cases`] | every duty named by a scenario has a test, or an issue that owns it |
//! | [`oracle`] | a second, naive gate agrees on random logs |
//! | [`append`] | every illegal event is refused and leaves no trace |
//! | [`cli`] | the commands of the program |
//! | [`decision`] | the JSON of a decision, word for word |
//! | [`book`] | the README and the book say what the code does |
//! | [`models`] | providers that fail, refuse, or ask to wait |
//! | [`real_input`] | the two examples on real input |
//! | [`tools`] | built-in tools: what leads out, what may run, what is cut, killed and reaped |
//! | [`images`] | images that come with a task: what may be shown, to whom, and what is kept of them |
//! | [`journal`] | what every journal promises, of each that there is |
//! | [`kill`] | processes killed with SIGKILL at every event and inside tools, taken up again from their file |
//! | [`resume`] | approvals, messages and forks across processes |
//! | [`orphans`] | what a process leaves behind, and what fails beside other work |
//! | [`simulation`] | thousands of seeded worlds in which processes die and journals fail |
//! | [`typed`] | answers that have to be of a type |
//! | [`view`] | a run in the terminal: what is drawn, and what a person is asked |
//! | [`stop_hook`] | what hosts are answered, that it never loops, and what an installation changes |
//! | [`trace`] | traces of other people's agents, in every format: what is accepted, what is refused, and where |
//! | [`server`] | runs over HTTP: the wire, streams, steering, entry points, the page, who may do what |
//! | [`work`] | what agents are given of each other's work, how often they are asked, and what a budget of nothing is |
//! | [`tidy`] | what the code may not contain |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs, unreachable_pub)]

mod append;
mod bad_input;
mod book;
mod cancel;
mod cases;
mod cli;
mod conversations;
mod decision;
mod driver;
mod guards;
mod hooks;
mod images;
mod journal;
mod kill;
mod late;
mod live_resume;
mod live_suite;
mod models;
mod oracle;
mod orphans;
mod real_input;
mod resume;
mod scenarios;
mod scratch;
mod server;
mod simulation;
mod stop_hook;
mod tidy;
mod tools;
mod trace;
mod typed;
mod view;
mod work;

use std::path::{Path, PathBuf};

/// The root of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ stands in the workspace")
}

/// Every file below a folder whose name ends so, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
            let path = entry.expect("a folder can be listed").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match () {
                () if path.is_dir() && !matches!(name.as_str(), "target" | ".git") => todo.push(path),
                () if name.ends_with(ending) => found.push(path),
                () => {}
            }
        }
    }
    found.sort();
    found
}

/// A path as the repository knows it.
fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}
