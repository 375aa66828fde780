//! What a new user writes is short, and works.

use crate::aimock::Mock;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Lines that say something: no blank ones, no comments, no imports.
fn lines(example: &str) -> usize {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example)).expect("it is there");
    let says = |line: &&str| !line.trim().is_empty() && !["//", "use "].iter().any(|begin| line.starts_with(begin));
    text.lines().filter(says).count()
}

/// Runs an example that was built beside this suite.
fn run(example: &str, mock: &Mock) -> String {
    let beside = Path::new(env!("CARGO_BIN_EXE_program")).with_file_name("examples").join(example);
    let mut command = Command::new(&beside);
    let done = command.env("OPENAI_BASE_URL", mock.url("/v1")).env("OPENAI_API_KEY", "none").output();
    let done = done.unwrap_or_else(|e| panic!("{}: {e}", beside.display()));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

#[test]
fn an_agent_with_a_typed_tool_takes_twelve_lines() {
    assert!(lines("real_agent.rs") <= 12, "{} lines", lines("real_agent.rs"));
    let mock = Mock::play(&json!([
        {"match": {"systemMessage": "weather", "turnIndex": 0}, "response": {"toolCalls": [{"name": "weather", "arguments": {"city": "Graz"}}]}},
        {"match": {"systemMessage": "weather", "turnIndex": 1, "toolResultContains": "rain in Graz"}, "response": {"content": "Yes: it rains."}},
    ]));
    assert_eq!(run("real_agent", &mock), "Yes: it rains.");
}

#[test]
fn a_supervisor_with_two_specialists_takes_eighteen_lines() {
    assert!(lines("real_supervisor.rs") <= 18, "{} lines", lines("real_supervisor.rs"));
    let adopted = |results: &[u32]| -> Vec<Value> { results.iter().map(|r| json!({"result": r, "disposition": "adopted"})).collect() };
    let conclusion = json!({"answer": "It was paid, and comes on Monday.", "dispositions": adopted(&[8, 10])});
    let transfer = |to: &str| json!({"name": format!("transfer_to_{to}"), "arguments": {"task": "Look into it."}});
    let mock = Mock::play(&json!([
        {"match": {"systemMessage": "the desk", "turnIndex": 0}, "response": {"toolCalls": [transfer("billing"), transfer("shipping")]}},
        {"match": {"systemMessage": "bills"}, "response": {"content": "It was paid."}},
        // Later than the other, so that it is known which result has which id.
        {"match": {"systemMessage": "parcels"}, "response": {"content": "It comes on Monday."}, "chaos": {"latencyMs": 1_000}},
        {"match": {"systemMessage": "the desk", "turnIndex": 1}, "response": {"toolCalls": [{"name": "conclude", "arguments": conclusion}]}},
    ]));
    assert_eq!(run("real_supervisor", &mock), "It was paid, and comes on Monday.");
}
