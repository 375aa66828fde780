//! What a tool is, as far as its name tells. A name that says nothing is taken for a tool that may change things.

use countersign_core::{CallKind, Declared, Effect};

/// Bookkeeping of the loop itself: never evidence, and no reason to answer anew.
const LOOP: &[&str] = &[
    "todowrite",
    "todoread",
    "update_plan",
    "task_tracker",
    "taskcreate",
    "taskupdate",
    "tasklist",
    "taskget",
    "exitplanmode",
    "enterplanmode",
    "think",
    "skill",
    "toolsearch",
    "tool_search",
    "wait",
    "recall",
    "condensation",
];

/// Calls by which an agent hands in its answer, or the whole conversation, and ends.
const TERMINAL: &[&str] =
    &["finish", "submit", "final_answer", "conclude", "complete_task", "task_complete", "attempt_completion", "structuredoutput", "exit_task"];

/// A hand-over to a person: nothing of the agent's own follows it.
const TO_A_PERSON: &[&str] = &["human", "person", "operator", "representative"];

/// First words of names that look and change nothing.
const READS: &[&str] = &[
    "get",
    "find",
    "list",
    "search",
    "read",
    "fetch",
    "view",
    "glob",
    "grep",
    "ls",
    "cat",
    "open",
    "show",
    "query",
    "lookup",
    "check",
    "calculate",
    "web",
    "websearch",
    "webfetch",
    "retrieve",
    "browse",
    "bashoutput",
    "taskoutput",
];

/// What a tool of this name is.
pub fn declared(name: &str) -> Declared {
    let name = name.to_ascii_lowercase();
    let transfer = name.strip_prefix("transfer_to_").or_else(|| name.strip_prefix("escalate_to_"));
    match () {
        () if LOOP.contains(&&*name) => Declared::of(CallKind::Loop),
        () if TERMINAL.contains(&&*name) => Declared::of(CallKind::Terminal),
        () if transfer.is_some_and(|to| TO_A_PERSON.iter().any(|person| to.contains(person))) => Declared::of(CallKind::Terminal),
        () if looks(&name) => Declared::run(Effect::Read),
        // The approval, where one was needed, is the host's matter and told by itself.
        () => Declared { approval: false, ..Declared::run(Effect::Write) },
    }
}

fn looks(name: &str) -> bool {
    let first = name.split(['_', '-', '.', '/']).find(|part| !part.is_empty() && *part != "mcp").unwrap_or_default();
    READS.contains(&first)
}
