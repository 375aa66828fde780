//! Mending a small Rust project, in plan-execute mode: real edits, and a real compiler to check them.
//!
//! ```text
//! planner ──▶ look ──▶ edit ──▶ check ──▶ replanner ──▶ the answer
//!                       ▲                     │
//!                       └── edit-2, check-2 ◀─┘  while the compiler has more to suggest
//! ```
//!
//! Everything happens in a scratch copy. The answer has to rest on work that was done, the last check has to
//! have passed, nothing may have been written after it, and something has to have been edited at all.

pub mod diagnostics;
pub mod scratch;
pub mod scripted;
mod something_edited;

use countersign::{Agent, BuildError, Model, PlanExecute, Policy, Runner, Tool};
use countersign_connect::tool::{Commands, WritableFolder, command::Pattern, command::PatternError};
use something_edited::SomethingEdited;
use std::sync::Arc;

/// What the run is asked to do.
pub const TASK: &str = "Mend what the check complains of, and show that it passes.";

/// What has to hold before the run may be final.
pub fn policy() -> Policy {
    Policy { require_checks: true, require_fresh_evidence: true, ..Policy::execution() }
}

/// The compiler, as far as types and borrows. What it makes goes to `.out`, which nobody lists.
pub const RUSTC: &[&str] =
    &["rustc", "--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--error-format", "json", "--out-dir", ".out"];

/// The compiler, and nothing else, on files of the scratch folder.
pub fn compiler(scratch: &WritableFolder) -> Result<Commands, PatternError> {
    let rustc = Pattern::new(&[RUSTC, &["{paths}"]].concat())?;
    // Where a toolchain that `rustup` installed finds itself.
    Ok(Commands::new(scratch.folder(), vec![rustc]).keep_env(&["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"]))
}

/// A runner that mends the project in a scratch folder.
pub fn fix_runner(scratch: &WritableFolder, checks: Commands, model: impl Model + 'static) -> Result<Runner, BuildError> {
    let (list, read, edit) = (scratch.folder().list_tool(), scratch.folder().read_tool(), scratch.patch_tool());
    let check = Arc::new(checks).run_tool();
    let executor = Agent::new("executor", "Carry out one step with your tools, and say what came of it.")
        .tool(list.spec())
        .tool(read.spec())
        .tool(edit.spec())
        .tool(check.spec());
    Runner::builder(PlanExecute, model)
        .agent(PlanExecute::planner("Plan: look, edit, check."))
        .agent(PlanExecute::replanner("Answer from what the steps came to, or revise the plan."))
        .agent(executor)
        .tool(list)
        .tool(read)
        .tool(edit)
        .tool(check)
        .check(SomethingEdited)
        .policy(policy())
        .build()
}
