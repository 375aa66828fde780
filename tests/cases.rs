//! The duties that the cases name: each is proved by a scenario or a test, an issue owns it, or something else is done on
//! purpose. Where an issue stands beside a scenario, the gate's part is proved and the runtime's is still owed.

mod duties;

use crate::{files, root, short};
use countersign_examples::{cases, script, suite};
use duties::{MUST, MUST_NOT};
use std::collections::BTreeSet;

/// What shows that a duty is done.
#[derive(Debug)]
pub enum Proof {
    /// A scenario, below `examples/scenarios`, that names the duty in its header.
    Scenario(&'static str),
    /// A scenario that is played by agents; see `examples/src/suite`.
    Live(&'static str),
    /// A test of this suite, or of the one against servers of other people.
    Test(&'static str),
    /// The issue that owns it.
    Later(&'static str),
    /// What is done instead, on purpose.
    Not(&'static str),
}

const ISSUES: &[&str] = &["server and page", "audit and hooks", "beyond one machine"];

#[test]
fn the_table_is_whole_and_says_each_duty_once() {
    assert_eq!((MUST.len(), MUST_NOT.len()), (83, 46));
    let names: BTreeSet<&str> = MUST.iter().chain(MUST_NOT).map(|(id, _)| *id).collect();
    assert_eq!(names.len(), MUST.len() + MUST_NOT.len());
    for (id, proofs) in MUST.iter().chain(MUST_NOT) {
        assert!(!proofs.is_empty(), "`{id}` is proved by nothing and owned by no issue");
    }
}

#[test]
fn every_proof_is_there() {
    let sources: String = files(&root().join("tests"), ".rs").iter().map(|p| std::fs::read_to_string(p).expect("a test can be read")).collect();
    for (list, rows) in [("must", MUST), ("must_not", MUST_NOT)] {
        for (id, proof) in rows.iter().flat_map(|(id, proofs)| proofs.iter().map(move |p| (id, p))) {
            match proof {
                Proof::Scenario(name) => {
                    let path = root().join("examples/scenarios").join(format!("{name}.txt"));
                    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{id}: {}: {e}", short(&path)));
                    let script = script::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", short(&path)));
                    assert!(script.listed(list).any(|said| said == *id), "{} does not say `{list}: {id}`", short(&path));
                }
                Proof::Test(name) => {
                    assert!(sources.contains(&format!("fn {name}()")), "{id}: there is no test `{name}`");
                }
                Proof::Live(name) => assert!(suite::all().any(|live| live.name == *name), "{id}: there is no live scenario `{name}`"),
                Proof::Not(why) => assert!(why.len() > 20, "{id}: say why not, and what is done instead"),
                Proof::Later(issue) => assert!(ISSUES.contains(issue), "{id}: there is no issue `{issue}`"),
            }
        }
    }
}

#[test]
fn every_duty_that_a_scenario_names_is_in_the_table() {
    for path in files(&root().join("examples/scenarios"), ".txt") {
        let script =
            script::parse(&std::fs::read_to_string(&path).expect("a scenario can be read")).unwrap_or_else(|e| panic!("{}: {e}", short(&path)));
        for (list, rows) in [("must", MUST), ("must_not", MUST_NOT)] {
            for id in script.listed(list) {
                assert!(rows.iter().any(|(known, _)| *known == id), "{}: `{list}: {id}` is in no glossary", short(&path));
            }
        }
    }
}

fn differences(events: &str, decision: &str) -> Vec<String> {
    let case =
        format!(r#"{{ "id": 7, "mode": "single", "kind": null, "events": {events}, "expect": {{ "decisions": [{decision}], "finals": 1 }} }}"#);
    let case = cases::parse(&case).unwrap_or_else(|e| panic!("{e}"));
    cases::differences(&case).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn cases_are_read_as_people_write_them() {
    let events = r#"[
        { "ev": "run_started", "policy": { "evidence": "required", "checks": null, "colour": "red" } },
        { "ev": "plan_created", "by": null, "steps": ["s1", { "id": 2, "needs": ["s1"] }] },
        { "ev": "tool_call", "id": 17, "name": "grep", "effect": "read", "agent": null },
        { "ev": "tool_result", "id": " 17 ", "outcome": "ok", "text": null, "payload_ref": "o1", "exit": { "code": 0 } },
        { "ev": "step_done", "id": "s1", "raw": { "seen": true } },
        { "ev": "replanned", "steps": [], "carried": ["s1"], "dropped": [{ "id": 2, "why": "no need" }] },
        { "ev": "sub_agent_reply", "id": 3, "agent": "w", "outcome": "ok", "claims": [{ "key": "x", "value": 4 }], "criteria": ["a: met"], "verdict": "approved" },
        { "ev": "candidate", "text": "One hit.", "agent": "main", "uses": [3], "from": null }
    ]"#;
    let expected = r#"{ "after": 8, "status": "completed", "reason": "verified", "next": "deliver" }"#;
    assert_eq!(differences(events, expected), Vec::<String>::new());
    let wrong = r#"{ "after": 8, "status": "blocked", "reason": "verified", "next": "deliver", "missing": ["tools_closed"] }"#;
    assert_eq!(differences(events, wrong), ["after 8: status completed, not blocked", "after 8: missing , not tools_closed"]);
}

#[test]
fn unknown_events_are_refused_and_a_case_without_a_start_too() {
    let unknown = r#"{ "events": [{ "n": 1, "ev": "tea_was_made" }], "expect": {} }"#;
    let why = cases::parse(unknown).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(why.contains("tea_was_made"), "{why}");
    let headless = cases::parse(r#"{ "id": "x", "events": [], "expect": { "finals": 0 } }"#).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(cases::differences(&headless), Err(cases::CaseError::NoStart)));
}
