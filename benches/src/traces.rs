//! What it costs to rule on traces of line JSON: a session of a coding agent, an event a line, and chats, a whole one a
//! line. Both are written here.
//!
//! The floor is the parser alone: every line to a value, and nothing told. Where there is a `jq` on the path, it counts
//! the fields of the same lines in the same run.

use crate::measure::{Row, interleaved};
use countersign_connect::trace::{Audit, Source, Verdict};
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::Cursor;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Turns of the session.
const TURNS: usize = 4_000;
/// Bytes of each tool's output, as much as a short file.
const OUTPUT_BYTES: usize = 3_000;

pub(crate) fn rows() -> Vec<Row> {
    let shapes = [("a session, an event a line", session()), ("chats, one a line", chats())];
    shapes.into_iter().flat_map(|(name, text)| shape(name, &text)).collect()
}

fn shape(name: &str, text: &str) -> Vec<Row> {
    let mib = text.len() as f64 / f64::from(1 << 20);
    let audit = Audit::new(countersign::Policy::default());
    let mut audited = || {
        let report = Source::of(Cursor::new(text.to_owned())).and_then(|source| audit.read("bench", source));
        assert!(report.is_ok_and(|r| r.faults.is_empty() && r.verdicts.iter().all(Verdict::is_final)));
    };
    let mut parsed = || text.lines().for_each(|line| drop(black_box(serde_json::from_str::<Value>(line))));
    let [ours, floor] = interleaved(1, &mut [&mut audited, &mut parsed])[..] else { return Vec::new() };
    let mut row = Row::new(format!("countersign, {name}"), TURNS, ours / mib, "MiB");
    row.ratio_to_floor = Some(ours / floor);
    row.more.push(("mib_per_s", mib / ours * 1e6));
    if let Some((jq, wall)) = jq(text, &audit) {
        row.more.push(("times_jq_length", wall / jq));
    }
    vec![row, Row::new("the same, every line to a value", TURNS, floor / mib, "MiB")]
}

/// Chats of a few turns, each of which looks something up, changes it and says so.
fn chats() -> String {
    let rules = "Be polite, and change nothing that the customer did not ask for. ".repeat(60);
    let order =
        json!({"order_id": "#W1", "status": "pending", "items": vec![json!({"name": "Lamp", "price": 12.5, "options": {"color": "black"}}); 8]})
            .to_string();
    let call = |id: &str, name: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": "{\"order_id\": \"#W1\"}"}}]});
    let result = |id: &str, name: &str| json!({"role": "tool", "tool_call_id": id, "name": name, "content": order});
    let mut messages = vec![json!({"role": "system", "content": rules})];
    for turn in 0..8 {
        let (look, change) = (format!("call_{turn}a"), format!("call_{turn}b"));
        messages.push(json!({"role": "user", "content": "Please change my order: I would like another colour, if that can still be done."}));
        messages.extend([call(&look, "get_order"), result(&look, "get_order"), call(&change, "modify_order"), result(&change, "modify_order")]);
        messages.push(json!({"role": "assistant", "content": "That is done: your lamp is black now, and arrives on Monday."}));
    }
    let line = format!("{}\n", json!({"task_id": 1, "messages": messages}));
    line.repeat(TURNS / 8)
}

/// A session in which every turn calls a tool and reads its output, kept twice as such sessions keep it.
fn session() -> String {
    let line = |kind: &str, content: Value, kept: Value| json!({"type": kind, "uuid": "u", "sessionId": "s", "isSidechain": false, "message": {"role": kind, "content": content}, "toolUseResult": kept});
    let output = "let answer = \"forty-two\";\n".repeat(OUTPUT_BYTES / 26);
    let mut text = format!("{}\n", line("user", json!("Read it all."), Value::Null));
    for turn in 0..TURNS {
        let id = format!("call_{turn}");
        let call = line("assistant", json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "a.rs"}}]), Value::Null);
        let result = line("user", json!([{"type": "tool_result", "tool_use_id": id, "content": output}]), json!({"stdout": output}));
        text.extend([call, result].map(|line| format!("{line}\n")));
    }
    text + &line("assistant", json!([{"type": "text", "text": "Read."}]), Value::Null).to_string()
}

/// Seconds on the clock that `jq length` takes for these lines, and that the audit takes beside it.
fn jq(text: &str, audit: &Audit) -> Option<(f64, f64)> {
    let file = std::env::temp_dir().join(format!("countersign-bench-{}.jsonl", std::process::id()));
    std::fs::write(&file, text).ok()?;
    let begun = Instant::now();
    let ran = Command::new("jq").args(["-c", "length"]).arg(&file).stdout(Stdio::null()).status();
    let jq = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let read = audit.file(&file);
    let ours = begun.elapsed().as_secs_f64();
    let _ = std::fs::remove_file(&file);
    (ran.is_ok_and(|status| status.success()) && read.is_ok()).then_some((jq, ours))
}
