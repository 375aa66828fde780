//! The settings of a host, as text: our entries are put in or taken out, and everything else stays as it stands.

use super::Host;
use indexmap::IndexMap;
use serde_json::json;
use serde_json::value::RawValue;
use std::fmt::Write;

/// By this our entries are known again.
const OURS: &str = " hook --host ";
/// Seconds that a host waits for the hook.
const TIMEOUT_S: u32 = 15;

/// An object whose values are kept as they were written.
type Object = IndexMap<String, Box<RawValue>>;
/// The entries of each event.
type Hooks = IndexMap<String, Vec<Box<RawValue>>>;

/// Events at which a host asks.
fn events(host: Host) -> &'static [&'static str] {
    match host {
        Host::ClaudeCode => &["Stop", "SubagentStop", "TaskCompleted"],
        Host::Codex => &["Stop", "SubagentStop"],
        Host::Cursor => &["stop", "subagentStop"],
    }
}

/// The settings with the hook in them. A hook of ours that is there already is replaced.
pub(super) fn with_hook(text: &str, host: Host, program: &str) -> Result<String, serde_json::Error> {
    let (mut top, mut hooks) = parts(text)?;
    if host == Host::Cursor && !top.contains_key("version") {
        top.insert("version".into(), raw("1")?);
    }
    let command = format!("{}{OURS}{}", quoted(program), host.name());
    let entry = match host {
        Host::Cursor => json!({ "command": command, "timeout": TIMEOUT_S }),
        Host::ClaudeCode | Host::Codex => json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT_S }] }),
    };
    for event in events(host) {
        let entries = hooks.entry((*event).to_owned()).or_default();
        entries.retain(|e| !is_ours(e));
        entries.push(raw(&entry.to_string())?);
    }
    Ok(written(&top, &hooks))
}

/// The settings without it; `None` where nothing else was in them.
pub(super) fn without_hook(text: &str, host: Host) -> Result<Option<String>, serde_json::Error> {
    let (top, mut hooks) = parts(text)?;
    for entries in hooks.values_mut() {
        entries.retain(|e| !is_ours(e));
    }
    hooks.retain(|_, entries| !entries.is_empty());
    let bare = |key: &String| key == "hooks" || host == Host::Cursor && key == "version";
    if hooks.is_empty() && top.keys().all(bare) {
        return Ok(None);
    }
    Ok(Some(written(&top, &hooks)))
}

/// The object at the top, and the entries of each event in its `hooks`.
fn parts(text: &str) -> Result<(Object, Hooks), serde_json::Error> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let top: Object = serde_json::from_str(text)?;
    let hooks = top.get("hooks").map(|hooks| serde_json::from_str(hooks.get())).transpose()?.unwrap_or_default();
    Ok((top, hooks))
}

fn raw(json: &str) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(json.to_owned())
}

fn is_ours(entry: &RawValue) -> bool {
    entry.get().contains("countersign") && entry.get().contains(OURS)
}

/// Two spaces a level, as these hosts write it; what was there is copied.
fn written(top: &Object, hooks: &Hooks) -> String {
    let mut out = String::from("{\n");
    let mut keys: Vec<&String> = top.keys().filter(|key| *key != "hooks" || !hooks.is_empty()).collect();
    let hooks_key = "hooks".to_owned();
    if !hooks.is_empty() && !top.contains_key("hooks") {
        keys.push(&hooks_key);
    }
    for (at, key) in keys.iter().enumerate() {
        let _ = write!(out, "  {}: ", json!(key));
        match top.get(*key).filter(|_| *key != "hooks") {
            Some(value) => out.push_str(value.get()),
            None => write_hooks(&mut out, hooks),
        }
        out.push_str(if at + 1 < keys.len() { ",\n" } else { "\n" });
    }
    out.push_str("}\n");
    out
}

fn write_hooks(out: &mut String, hooks: &Hooks) {
    out.push_str("{\n");
    for (at, (event, entries)) in hooks.iter().enumerate() {
        let _ = writeln!(out, "    {}: [", json!(event));
        let lines: Vec<String> = entries.iter().map(|e| format!("      {}", e.get())).collect();
        let _ = writeln!(out, "{}", lines.join(",\n"));
        out.push_str(if at + 1 < hooks.len() { "    ],\n" } else { "    ]\n" });
    }
    out.push_str("  }");
}

/// A program's path as a shell takes it.
fn quoted(program: &str) -> String {
    let plain = program.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':'));
    if plain { program.to_owned() } else { format!("'{}'", program.replace('\'', "'\\''")) }
}
