//! The commands over files: verdicts, totals, exit status, scores.

use crate::scratch::Scratch;
use countersign_cli::audit::{self, AuditArgs};
use countersign_cli::eval::{self, EvalArgs};
use serde_json::{Value, json};
use std::path::PathBuf;

const GOOD: &str = r#"{"messages": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello."}]}"#;
const BAD: &str = r#"{"messages": [{"role": "user", "content": "Hello?"}]}"#;

fn folder(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    for (name, text) in files {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    scratch
}

fn audited(args: AuditArgs) -> (u8, String) {
    let mut out = Vec::new();
    let status = audit::run(&args, &mut out).unwrap_or(2);
    (status, String::from_utf8(out).expect("text"))
}

fn of(paths: impl IntoIterator<Item = PathBuf>) -> AuditArgs {
    AuditArgs { paths: paths.into_iter().collect(), ..AuditArgs::default() }
}

#[test]
fn a_folder_is_ruled_on_file_by_file_with_totals() {
    let folder = folder(&[("a.json", GOOD), ("deep/b.json", BAD), ("notes.md", "no trace"), ("c.json", "{}")]);
    let (status, text) = audited(of([folder.path().to_owned()]));
    assert_eq!(status, 1);
    assert!(text.contains("a.json: final: not_required [chat]"), "{text}");
    assert!(text.contains("b.json: not final: empty_response [chat]\n  candidate_text: there is no answer"), "{text}");
    assert!(text.contains("c.json: not read: this is of an unknown format"), "{text}");
    assert!(text.contains("     1  traces would be final\n     1  would not\n     1  sources could not be read\n"), "{text}");
    assert!(!text.contains("notes.md"), "{text}");
}

#[test]
fn the_exit_status_says_what_was_found() {
    let folder = folder(&[("good.json", GOOD), ("bad.json", BAD), ("odd.json", "{}")]);
    let status = |names: &[&str]| audited(of(names.iter().map(|n| folder.path().join(n)))).0;
    assert_eq!(status(&["good.json"]), 0);
    assert_eq!(status(&["good.json", "bad.json"]), 1);
    assert_eq!(status(&["good.json", "odd.json"]), 2);
    assert_eq!(status(&["missing.json"]), 2);
}

#[test]
fn json_is_a_line_a_trace() {
    let folder = folder(&[("a.json", GOOD), ("b.json", BAD), ("c.json", "{}")]);
    let (_, text) = audited(AuditArgs { json: true, ..of([folder.path().to_owned()]) });
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["final"], &lines[1]["final"]), (&json!(true), &json!(false)));
    assert_eq!(lines[1]["verdict"]["decision"]["completionReason"], "empty_response");
    assert_eq!(lines[1]["verdict"]["places"], json!([[{"line": 1, "item": 0}]]));
    assert!(lines[2]["error"].as_str().is_some_and(|e| e.contains("unknown format")));
}

#[test]
fn a_policy_asks_for_more() {
    let folder = folder(&[("good.json", GOOD), ("policy.toml", "require_execution_evidence = true\n"), ("broken.toml", "nonsense = 1\n")]);
    let with = |name: &str| AuditArgs { policy: Some(folder.path().join(name)), ..of([folder.path().join("good.json")]) };
    let (status, text) = audited(with("policy.toml"));
    assert_eq!(status, 1);
    assert!(text.contains("missing_execution_evidence"), "{text}");
    assert_eq!(audited(with("broken.toml")).0, 2);
}

#[test]
fn graphs_and_explanations_are_printed() {
    let folder = folder(&[("good.json", GOOD)]);
    let args = || of([folder.path().join("good.json")]);
    for (form, mark) in [
        (audit::GraphForm::Mermaid, "flowchart"),
        (audit::GraphForm::Dot, "digraph"),
        (audit::GraphForm::Svg, "<svg"),
        (audit::GraphForm::Json, "\"nodes\""),
    ] {
        let (_, text) = audited(AuditArgs { graph: Some(form), ..args() });
        assert!(text.contains(mark), "{text}");
    }
    assert!(audited(AuditArgs { explain: true, ..args() }).1.contains("    final"));
    let formats = audited(AuditArgs { formats: true, ..AuditArgs::default() }).1;
    assert!(formats.lines().any(|l| l == "claude-code") && formats.lines().any(|l| l == "otlp"), "{formats}");
}

#[test]
fn the_todo_list_counts_where_it_is_asked_for() {
    let line = |kind: &str, content: Value| {
        format!("{}\n", json!({"type": kind, "uuid": "u", "sessionId": "s", "message": {"role": kind, "content": content}}))
    };
    let todo = |status: &str| {
        let call = json!([{"type": "tool_use", "id": status, "name": "TodoWrite", "input": {"todos": [{"content": "x", "status": status}]}}]);
        line("assistant", call) + &line("user", json!([{"type": "tool_result", "tool_use_id": status, "content": "ok"}]))
    };
    let session = |todos: &[String]| [line("user", json!("Go.")), todos.concat(), line("assistant", json!("Gone."))].concat();
    let folder = folder(&[("open.jsonl", &session(&[todo("in_progress")])), ("done.jsonl", &session(&[todo("pending"), todo("completed")]))]);
    let status = |name: &str, todos| audited(AuditArgs { todos, ..of([folder.path().join(name)]) }).0;
    assert_eq!([status("open.jsonl", false), status("open.jsonl", true), status("done.jsonl", true)], [0, 1, 0]);
}

#[test]
fn a_sub_agent_is_no_run_of_its_own_where_its_session_stands() {
    let asked = json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "Hello?"}}).to_string() + "\n";
    let said = json!({"type": "assistant", "uuid": "u", "sessionId": "s", "message": {"role": "assistant", "content": "Hello."}}).to_string();
    let good = format!("{asked}{said}\n");
    let files = [("s.jsonl", &*good), ("s/subagents/agent-a1.jsonl", &*asked), ("lost/subagents/agent-a2.jsonl", &*good)];
    let scratch = folder(&files);
    let (status, text) = audited(of([scratch.path().into()]));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("sub_agents_done") && !text.contains("agent-a1.jsonl"), "{text}");
    assert!(text.contains("agent-a2.jsonl"), "without its session it is all there is: {text}");
}

fn manifest() -> Scratch {
    let line = |file: &str, outcome: &str| format!("{}\n", json!({"set": "s", "file": file, "outcome": outcome, "labels": {"x": 1}}));
    let lines =
        [line("a.json", "success"), line("b.json", "failure"), line("a.json", "failure"), line("b.json", "unknown"), line("c.json", "failure")]
            .concat();
    folder(&[("t/a.json", GOOD), ("t/b.json", BAD), ("t/c.json", "{}"), ("t/manifest.jsonl", &lines)])
}

fn evaluated(args: EvalArgs, folder: &Scratch) -> (u8, String) {
    let mut out = Vec::new();
    let status = eval::run(&EvalArgs { manifest: folder.path().join("t/manifest.jsonl"), ..args }, &mut out).unwrap_or(2);
    (status, String::from_utf8(out).expect("text"))
}

#[test]
fn scores_count_what_was_caught_and_what_was_refused() {
    let folder = manifest();
    let (status, text) = evaluated(EvalArgs { json: true, ..EvalArgs::default() }, &folder);
    let scores: Value = serde_json::from_str(&text).expect("JSON");
    let set = &scores["s"];
    assert_eq!(status, 0);
    assert_eq!((&set["failures"], &set["caught"], &set["good"], &set["refused"]), (&json!(2), &json!(1), &json!(1), &json!(0)));
    assert_eq!((&set["unknown"], &set["unread"]), (&json!(1), &json!(1)));
    assert_eq!(set["rules"]["candidate_text"], json!({"caught": 1, "refused": 0}));
    // Wilson's interval of 1 in 2.
    assert!((set["caughtPercent95"][0].as_f64().expect("a number") - 9.45).abs() < 0.01, "{set}");
    assert!((set["caughtPercent95"][1].as_f64().expect("a number") - 90.55).abs() < 0.01, "{set}");
    let (_, listed) = evaluated(EvalArgs { list: true, ..EvalArgs::default() }, &folder);
    assert!(listed.contains("failed and passed: a.json") && listed.contains("not read: c.json"), "{listed}");
}

#[test]
fn a_limit_that_is_broken_is_an_exit_status() {
    let folder = manifest();
    let status = |args: EvalArgs| evaluated(args, &folder).0;
    assert_eq!(status(EvalArgs { refused_max: Some(0), ..EvalArgs::default() }), 0);
    assert_eq!(status(EvalArgs { caught_min: vec![("s".into(), 1)], ..EvalArgs::default() }), 0);
    assert_eq!(status(EvalArgs { caught_min: vec![("s".into(), 2)], ..EvalArgs::default() }), 1);
    assert_eq!(status(EvalArgs { caught_min: vec![("another".into(), 1)], ..EvalArgs::default() }), 1);
    let good_and_refused = json!({"file": "b.json", "outcome": "success"}).to_string();
    std::fs::write(folder.path().join("t/manifest.jsonl"), good_and_refused).expect("it can be written");
    assert_eq!(status(EvalArgs { refused_max: Some(0), ..EvalArgs::default() }), 1);
    assert_eq!(status(EvalArgs { refused_max: Some(1), refused_percent_max: Some(0.5), ..EvalArgs::default() }), 0);
    assert_eq!(status(EvalArgs { refused_percent_max: Some(0.5), ..EvalArgs::default() }), 1);
    std::fs::write(folder.path().join("t/manifest.jsonl"), "{\"file\": 1}").expect("it can be written");
    assert_eq!(status(EvalArgs::default()), 2);
}
