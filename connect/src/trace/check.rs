//! Rules of the audit, as checks beside the gate's own. They read the ledger alone: none knows the format, the
//! file or the set from which a trace comes.

mod last_work_ok;
mod todos_done;
mod work_done;

pub use last_work_ok::LastWorkOk;
pub use todos_done::TodosDone;
pub use work_done::WorkDone;

use countersign_core::ledger::ToolRun;
use countersign_core::{CallKind, Event, Finding, Gate, Ledger, NodeId, Outcome, RunState, View};

/// The kind of a note that keeps the exit status of a command that did not exit with 0.
pub const EXIT_STATUS: &str = "exit_status";

/// The kind of a note that keeps how many items of the agent's todo list are open.
pub const TODO_LIST: &str = "todo_list";

/// The gate of the audit: the built-in checks, and those of this module that are not opt-in.
pub fn gate() -> Gate {
    Gate::default().with(WorkDone).with(LastWorkOk)
}

/// Calls that counted as work, oldest first: runs of tools that are more than bookkeeping.
fn work(ledger: &Ledger) -> impl DoubleEndedIterator<Item = &ToolRun> {
    ledger.tool_runs().iter().filter(|run| run.declared.kind == CallKind::Run && run.declared.evidence)
}

/// Whether a call was made and failed. A command that exited with a status other than 0 ran, and told something.
fn failed(run: &ToolRun, exited: &[NodeId]) -> bool {
    matches!(run.state, RunState::Settled(Outcome::Failed | Outcome::TimedOut)) && exited.binary_search(&run.id).is_err()
}

/// Commands of which a status other than 0 is known, sorted.
fn exited(ledger: &Ledger) -> Vec<NodeId> {
    let notes = ledger.log().iter().filter_map(|record| match &record.event {
        Event::Note { kind, rests_on, .. } if **kind == *EXIT_STATUS => rests_on.first().copied(),
        _ => None,
    });
    let mut exited: Vec<NodeId> = notes.collect();
    exited.sort_unstable();
    exited
}

fn finding(view: &View<'_>, check: &str, runs: &[NodeId], message: &str, remedy: &str) -> Finding {
    Finding { check: check.into(), subjects: view.refs(runs.iter().copied()), message: message.into(), remedy: remedy.into() }
}
