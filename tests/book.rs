//! The README and the book say what the code does: every name is there, every default is the default, and what is
//! printed is what is shown.

use crate::{files, root, short};
use countersign::check::built_in;
use countersign::{NodeKind, Policy, Reason};
use countersign_examples::suite::{row::folder, rows, table::explained};
use std::path::Path;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", short(path)))
}

fn page(name: &str) -> String {
    read(&root().join("book/src").join(name))
}

#[tokio::test]
async fn the_readme_shows_a_refusal_as_it_is_printed() {
    let shown = read(&root().join("README.md"));
    let rows = rows(&folder(), "single/answers_without_looking", |_| {}).await.expect("the scenarios can be read");
    let printed = explained(&rows);
    assert!(shown.contains(printed.trim()), "the README shows something else than:\n{printed}");
}

/// The two commands that a reader is told to type come first, and nothing else that begins so comes before them.
#[test]
fn the_first_commands_of_the_readme_are_the_two() {
    let text = read(&root().join("README.md"));
    let mut fenced = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if fenced && line.starts_with("cargo ") {
            commands.push(line);
        }
    }
    assert_eq!(commands.get(..2), Some(&["cargo run --example scenarios", "cargo test"][..]));
}

#[test]
fn every_reason_and_every_check_is_described() {
    let page = page("decision.md");
    for reason in Reason::ALL {
        assert!(page.contains(&format!("| `{}` |", reason.name())), "{}", reason.name());
    }
    for check in built_in() {
        assert!(page.contains(&format!("| `{}` |", check.name())), "{}", check.name());
    }
}

#[test]
fn every_field_of_a_decision_is_described() {
    let page = page("decision.md");
    let decision: serde_json::Value = serde_json::from_str(&read(&root().join("tests/decision/final.json"))).expect("it is JSON");
    let fields = decision.as_object().expect("it is an object").keys().map(String::as_str);
    for field in fields.chain(["conversationId", "messageId"]) {
        assert!(page.contains(&format!("| `{field}` |")), "{field}");
    }
}

#[test]
fn every_default_is_the_default() {
    let page = page("policies.md");
    let policy = serde_json::to_value(Policy::default()).expect("a policy is data");
    for (field, value) in policy.as_object().expect("it is an object").iter().filter(|(name, _)| *name != "limits") {
        let row = page.lines().find(|l| l.starts_with(&format!("| `{field}` |"))).unwrap_or_else(|| panic!("`{field}` is not described"));
        let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert!(value.is_null() || row.contains(&format!("| `{said}` |")), "`{field}` is {said} by default: {row}");
    }
    for (limit, value) in policy["limits"].as_object().expect("it is an object") {
        assert!(page.contains(&format!("| `{limit}` | `{value}` |")), "`{limit}` is {value} by default");
    }
    let governance = Policy::security_testing().governance.expect("it has a profile");
    for rule in &governance.rules {
        assert!(page.contains(&format!("| `{}` | {} |", rule.id, rule.text)), "{}", rule.id);
    }
}

/// Policies that are shown can be read.
#[test]
fn every_policy_that_is_shown_is_one() {
    for text in [page("policies.md"), read(&root().join("README.md"))] {
        let shown: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!shown.is_empty());
        for policy in shown {
            Policy::from_toml(policy).unwrap_or_else(|e| panic!("{e}\n{policy}"));
        }
    }
}

#[test]
fn every_chapter_is_listed_and_every_listing_is_there() {
    let summary = page("SUMMARY.md");
    for path in files(&root().join("book/src"), ".md") {
        let name = short(&path).replace("book/src/", "");
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name} is in no table of contents");
        for include in read(&path).split("{{#include ").skip(1).filter_map(|rest| rest.split("}}").next()) {
            let (file, part) = include.rsplit_once(':').unwrap_or((include, ""));
            let file = path.parent().expect("a file has a folder").join(file);
            assert!(file.is_file(), "{name} includes {include}, which is not there");
            assert!(part.is_empty() || read(&file).contains(&format!("// ANCHOR: {part}\n")), "{name} includes {include}, which has no such part");
        }
    }
}

#[test]
fn links_between_chapters_lead_somewhere() {
    let pages = files(&root().join("book/src"), ".md").into_iter().chain([root().join("README.md")]);
    for path in pages {
        for target in read(&path).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            let there = file.is_empty() || file.contains("://") || path.parent().expect("a file has a folder").join(file).exists();
            assert!(there, "{} links to {target}", short(&path));
        }
    }
}

/// Kinds of nodes have names on the wire that differ from the words of people; both are known.
#[test]
fn every_kind_of_node_is_a_word() {
    let page = page("words.md");
    let kinds = [NodeKind::Activation, NodeKind::ToolRun, NodeKind::Candidate, NodeKind::Synthesis, NodeKind::Decision];
    for kind in kinds {
        assert!(page.contains(&kind.name().replace('_', " ")), "{}", kind.name());
    }
}
