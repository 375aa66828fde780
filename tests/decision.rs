//! The JSON of a decision is a contract: names, order and values, word for word.

use countersign_examples::script;

fn decision(text: &str) -> String {
    let script = script::parse(text).expect("a scenario");
    let decision = script::play::decision(&script).expect("it can be told");
    assert_eq!(decision.policy_digest.len(), 16);
    // The digest moves with every new field of the policy; all else is fixed.
    serde_json::to_string_pretty(&decision).expect("JSON").replace(&*decision.policy_digest, "0000000000000000")
}

#[test]
fn a_refusal_tells_all_and_echoes_nothing() {
    let refusal = decision(
        r#"run deep evidence=required
child a1 researcher
call c1 grep by=main effect=read
candidate main "A secret draft."
"#,
    );
    assert_eq!(refusal, REFUSAL.trim_end());
    assert!(!refusal.contains("secret"));
}

#[test]
fn a_final_lists_its_evidence_and_what_failed() {
    let text = r#"run single evidence=required
call c1 probe by=main effect=read
result c1 error
call c2 grep by=main effect=read
result c2 ok
candidate main "Two hits."
"#;
    assert_eq!(decision(text), FINAL.trim_end());
}

#[test]
fn a_decision_reads_back_as_it_was_written() {
    for text in [REFUSAL.trim_end(), FINAL.trim_end()] {
        let read: countersign_core::Decision = serde_json::from_str(text).expect("a decision");
        assert_eq!(serde_json::to_string_pretty(&read).expect("JSON"), text);
    }
}

const REFUSAL: &str = include_str!("decision/refusal.json");

const FINAL: &str = include_str!("decision/final.json");
