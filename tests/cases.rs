//! The duties that the cases name: each is proved by a scenario or a test here, or an issue owns it. Where an
//! issue stands beside a scenario, the gate's part is proved and the runtime's is still owed.

mod duties;

use crate::{files, root, short};
use countersign_examples::script;
use duties::{MUST, MUST_NOT};
use std::collections::BTreeSet;

/// What shows that a duty is done.
#[derive(Debug)]
pub enum Proof {
    /// A scenario, below `examples/scenarios`, that names the duty in its header.
    Scenario(&'static str),
    /// A test of this suite.
    Test(&'static str),
    /// The issue that owns it.
    Later(&'static str),
}

const ISSUES: &[&str] = &["durable runs", "real models and tools", "server and page", "audit and hooks", "beyond one machine"];

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
                Proof::Test(name) => assert!(sources.contains(&format!("#[test]\nfn {name}()")), "{id}: there is no test `{name}`"),
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
