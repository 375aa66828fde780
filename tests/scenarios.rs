//! Every file below `examples/scenarios` is told to the gate. `UPDATE_SCENARIOS=1` rewrites what the gate
//! says, for review in the diff; it never rewrites a header.

use crate::{files, root, short};
use countersign_examples::script::{self, play::Said};
use similar::TextDiff;

#[test]
fn every_scenario_ends_as_it_says() {
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    let mut wrong = Vec::new();
    let all = files(&root().join("examples/scenarios"), ".txt");
    assert!(all.len() >= 39, "only {} scenarios were found", all.len());
    for path in &all {
        let text = std::fs::read_to_string(path).expect("a scenario can be read");
        match told(&text) {
            Err(why) => wrong.push(format!("{}: {why}", short(path))),
            Ok((script, said)) => {
                let now = script::rewritten(&text, &said.lines);
                if now != text && update {
                    std::fs::write(path, &now).expect("a scenario can be rewritten");
                } else if now != text {
                    wrong.push(TextDiff::from_lines(&text, &now).unified_diff().context_radius(2).header(&short(path), "the gate").to_string());
                }
                let finals = script.said("finals").map(|f| f.parse::<usize>().expect("`finals` is a number"));
                if finals.is_some_and(|f| f != said.finals) {
                    wrong.push(format!("{}: {} finals, the header says {}", short(path), said.finals, finals.unwrap_or_default()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n\nif the gate is right: UPDATE_SCENARIOS=1 cargo test -p countersign-tests", wrong.join("\n"));
}

fn told(text: &str) -> Result<(script::Script, Said), script::ScriptError> {
    let script = script::parse(text)?;
    let said = script::play::play(&script)?;
    Ok((script, said))
}

#[test]
fn every_scenario_has_a_title_and_asks_the_gate() {
    for path in files(&root().join("examples/scenarios"), ".txt") {
        let text = std::fs::read_to_string(&path).expect("a scenario can be read");
        let script = script::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", short(&path)));
        assert!(script.said("title").is_some_and(|t| !t.is_empty()), "{} has no title", short(&path));
        assert!(script.blocks.iter().any(|b| b.asked), "{} never asks the gate", short(&path));
    }
}

#[test]
fn a_faulty_scenario_names_its_line_and_what_is_legal_there() {
    let faults = [
        ("call c1 grep\n", "line 1: legal here: `run MODE`"),
        ("run single\ncall c1\n", "line 2: its tool is missing; legal here: call ID TOOL [by=]"),
        ("run single\n\nfetch c1\n", "line 3: `fetch` is not a fact; legal here: run, reply, call"),
        ("run single\ncall c1 grep effct=read\n", "line 2: `effct=` means nothing here; legal here: call ID TOOL"),
        ("run single nudges=many\n", "line 1: `nudges=`: `many` is not a number"),
        ("run single\ncandidate main \"half\n", "line 2: a quote is not closed"),
        ("run single\nrun deep\n", "line 2: a run begins once"),
        ("# only a title\n", "line 1: nothing happens here"),
        (
            "run single policy=security_testing\nattest scope \"in scope\" refs=c9\n",
            "line 2: no call, job, sub-agent reply or record is known as `c9`",
        ),
        ("run single\nattest scope \"in scope\"\n", "line 2: the governance profile has no rule `scope`"),
        ("run single on_cap_spent=maybe\n", "line 1: `on_cap_spent=maybe` is not known"),
    ];
    for (text, wanted) in faults {
        let why = match told(text) {
            Err(why) => why.to_string(),
            Ok(_) => panic!("{text:?} was told"),
        };
        assert!(why.starts_with(wanted), "{text:?}: {why}");
    }
}

#[test]
fn what_the_gate_says_is_rewritten_in_place() {
    let text = "# t\nrun single  # a comment stays\ncandidate main \"Yes.\"\n---\nwrong\nlines\n\nclient-back k1\n---\n";
    let (_, said) = told(text).expect("it can be told");
    let wanted = "# t\nrun single  # a comment stays\ncandidate main \"Yes.\"\n---\ncompleted not_required deliver\n\nclient-back k1\n---\ncompleted already_final none\n";
    assert_eq!(script::rewritten(text, &said.lines), wanted);
}
