//! What is broken is said, with its line, and the rest is read.

use super::{chat, lines, read};
use countersign_connect::trace::Place;
use serde_json::json;

fn stored(kind: &str, message: serde_json::Value) -> serde_json::Value {
    json!({"type": kind, "uuid": "u", "sessionId": "s", "message": message})
}

#[test]
fn a_broken_line_is_reported_and_the_next_one_is_read() {
    let asked = stored("user", json!({"role": "user", "content": "hello"}));
    let said = stored("assistant", json!({"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}));
    let report = read(&format!("{asked}\n{{\"type\": \"user\", \"uuid\n\n{said}\n")).expect("the rest is a session");
    assert_eq!(report.format, "claude-code");
    assert_eq!(report.faults.iter().map(|f| f.line).collect::<Vec<_>>(), [2]);
    assert!(report.verdicts[0].is_final());
}

#[test]
fn a_broken_first_line_hides_no_format() {
    let said = stored("assistant", json!({"role": "assistant", "content": "Hello."}));
    let report = read(&format!("{{\"broken\n{said}\n{said}\n")).expect("the rest is a session");
    assert_eq!((report.format, report.faults[0].line), ("claude-code", 1));
}

#[test]
fn bytes_that_are_no_text_are_reported() {
    let said = stored("assistant", json!({"role": "assistant", "content": "Hello."}));
    let bytes =
        [format!("{said}\n").into_bytes(), b"{\"type\": \"user\", \"x\": \"\xff\xfe\"}\n".to_vec(), format!("{said}\n").into_bytes()].concat();
    let source = countersign_connect::trace::Source::of(std::io::Cursor::new(bytes)).expect("memory can be read");
    let report = countersign_connect::trace::Audit::new(Default::default()).read("x", source).expect("a session");
    assert_eq!(report.faults[0].line, 2);
}

#[test]
fn an_escape_that_is_none_is_mended_and_said() {
    let text = "{\"messages\": [\n{\"role\": \"user\", \"content\": \"see \\user\"},\n{\"role\": \"assistant\", \"content\": \"Seen.\"}]}";
    let report = read(text).expect("the rest is a chat");
    assert_eq!(report.faults.iter().map(|f| f.line).collect::<Vec<_>>(), [2]);
    assert!(report.verdicts[0].is_final());
}

#[test]
fn a_document_that_breaks_off_is_read_up_to_there() {
    let whole = "{\"messages\": [\n{\"role\": \"user\", \"content\": \"a, [b\"},\n{\"role\": \"assistant\", \"content\": \"Yes.\"},\n";
    for rest in ["{\"role\": \"assist", "{\"role\": \"assistant\", \"tool_calls\": [{\"id\": 1}, {\"id\"", "nonsense], \"x\": 1}"] {
        let report = read(&format!("{whole}{rest}")).expect("the first two messages are whole");
        assert_eq!((report.format, report.faults[0].line), ("chat", 4), "{rest}");
        assert!(report.verdicts[0].is_final(), "{rest}");
    }
    let why = read("{\"messages\": [\n{\"role\": \"user\",").expect_err("no element of it is whole").to_string();
    assert!(why.starts_with("line 2: this is not JSON: "), "{why}");
}

#[test]
fn findings_name_their_line_and_their_item() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": "{}"}}]});
    let text = format!(
        "{{\"messages\": [\n{},\n{call},\n{}\n]}}",
        json!({"role": "user", "content": "Go."}),
        json!({"role": "assistant", "content": "Gone."})
    );
    let report = read(&text).expect("a chat");
    assert_eq!(report.verdicts[0].places, [[Place { line: 3, item: Some(1), beside: None }]]);
    // A document of one line still says which message.
    let one_line = chat(json!([{"role": "user", "content": "Go."}, call, {"role": "assistant", "content": "Gone."}]));
    assert_eq!(read(&one_line).expect("a chat").verdicts[0].places, [[Place { line: 1, item: Some(1), beside: None }]]);
}

#[test]
fn a_result_without_its_call_is_kept_as_unplaced() {
    let text = chat(
        json!([{"role": "user", "content": "Go."}, {"role": "tool", "tool_call_id": "gone", "content": "x"}, {"role": "assistant", "content": "Gone."}]),
    );
    let verdict = &read(&text).expect("a chat").verdicts[0];
    assert!(verdict.is_final());
    assert_eq!(verdict.unplaced, ["no call is known as `gone`"]);
}

#[test]
fn a_session_of_one_line_is_a_session() {
    let report = read(&lines(&[stored("assistant", json!({"role": "assistant", "content": "Hello."}))])).expect("a session");
    assert_eq!((report.format, report.verdicts[0].is_final()), ("claude-code", true));
}
