//! Rules of the audit, as checks beside the gate's own. They read the ledger alone: none knows the format, the
//! file or the set from which a trace comes.

mod last_work_ok;
mod todos_done;
mod words_backed;
mod words_kept;
mod work_done;

pub use last_work_ok::LastWorkOk;
pub use todos_done::TodosDone;
pub use words_backed::WordsBacked;
pub use words_kept::WordsKept;
pub use work_done::WorkDone;

use countersign_core::ledger::ToolRun;
use countersign_core::{CallKind, Event, Finding, Gate, Ledger, NodeId, Outcome, RunState, Via, View};

/// The kind of a note that keeps the exit status of a command that did not exit with 0.
pub const EXIT_STATUS: &str = "exit_status";

/// The kind of a note that keeps how many items of the agent's todo list are open.
pub const TODO_LIST: &str = "todo_list";

/// The kind of a note that keeps that agents speak to one another in this run, and that no person reads along.
pub const COLLEAGUES: &str = "colleagues";

/// The kind of a note that keeps what a reply owns up to.
pub const AVOWED: &str = "avowed";

/// The gate of the audit: the built-in checks, and those of this module that are not opt-in.
pub fn gate() -> Gate {
    Gate::default().with(WorkDone).with(LastWorkOk).with(WordsKept).with(WordsBacked)
}

/// Calls that counted as work, oldest first: runs of tools that are more than bookkeeping.
fn work(ledger: &Ledger) -> impl DoubleEndedIterator<Item = &ToolRun> {
    own(ledger).filter(|run| run.declared.kind == CallKind::Run && run.declared.evidence)
}

/// Calls that no sub-agent made inside its own task: whoever gave the task reads what came of it.
fn own(ledger: &Ledger) -> impl DoubleEndedIterator<Item = &ToolRun> {
    let inner = |run: &ToolRun| ledger.activation(run.activation).is_some_and(|by| matches!(by.via, Via::Child | Via::Call(_)));
    ledger.tool_runs().iter().filter(move |run| !inner(run))
}

/// Whether a call was made and failed. A command that exited with a status other than 0 ran, and told something.
fn failed(run: &ToolRun, exited: &[NodeId]) -> bool {
    matches!(run.state, RunState::Settled(Outcome::Failed | Outcome::TimedOut)) && exited.binary_search(&run.id).is_err()
}

/// Commands of which a status other than 0 is known, sorted.
fn exited(ledger: &Ledger) -> Vec<NodeId> {
    let mut exited: Vec<NodeId> = notes(ledger, EXIT_STATUS).filter_map(|(_, call)| call).collect();
    exited.sort_unstable();
    exited
}

/// Whether agents speak to one another in this run: nobody beside them does what they ask for.
fn colleagues(ledger: &Ledger) -> bool {
    notes(ledger, COLLEAGUES).next().is_some()
}

/// Notes of a kind, oldest first: what each says, and the first node on which it rests.
fn notes<'a>(ledger: &'a Ledger, wanted: &'a str) -> impl Iterator<Item = (&'a str, Option<NodeId>)> {
    ledger.log().iter().filter_map(move |record| match &record.event {
        Event::Note { kind, data, rests_on } if **kind == *wanted => Some((&**data, rests_on.first().copied())),
        _ => None,
    })
}

fn finding(view: &View<'_>, check: &str, runs: &[NodeId], message: &str, remedy: &str) -> Finding {
    Finding { check: check.into(), subjects: view.refs(runs.iter().copied()), message: message.into(), remedy: remedy.into() }
}
