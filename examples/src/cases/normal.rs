//! Case files as people write them: numeric ids, nulls, missing numbers. Made regular before they are read.

use serde_json::{Map, Value, json};

/// Fields whose numbers stay numbers.
const NUMBERS: &[&str] = &["n", "after", "size", "shown", "tools_ok", "depth", "chars", "last_seen", "finals", "budget"];
/// Fields that name something: compared without surrounding blanks.
const NAMES: &[&str] =
    &["id", "agent", "by", "call", "for", "from", "of", "owner", "parent", "reads", "step", "to", "transfer", "replies", "uses", "needs", "resolved"];
/// Fields that stay as they are.
const OPEN: &[&str] = &["claims", "criteria", "raw", "expect", "policy", "child_results", "client_view"];

/// A whole case.
pub(super) fn case(mut value: Value) -> Value {
    let mode = value.get("mode").cloned();
    if let Some(events) = value.get_mut("events").and_then(Value::as_array_mut) {
        for (at, told) in events.iter_mut().enumerate() {
            if let Some(fields) = told.as_object_mut() {
                fields.entry("n").or_insert_with(|| json!(at + 1));
                if let (Some(mode), Some("run_started")) = (&mode, fields.get("ev").and_then(Value::as_str)) {
                    fields.entry("mode").or_insert_with(|| mode.clone());
                }
                event(fields);
            }
        }
    }
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, v| !v.is_null());
        fields.entry("events").or_insert_with(|| json!([]));
        fields.entry("expect").or_insert_with(|| json!({}));
        if let Some(Value::Number(id)) = fields.get("id").cloned() {
            fields.insert("id".into(), json!(id.to_string()));
        }
    }
    value
}

/// One event: without nulls, with words where words belong.
pub(super) fn event(fields: &mut Map<String, Value>) {
    fields.retain(|_, v| !v.is_null());
    let from_is_a_number = fields.get("ev").and_then(Value::as_str) == Some("candidate");
    for (name, value) in fields.iter_mut() {
        if NUMBERS.contains(&name.as_str()) || OPEN.contains(&name.as_str()) || (name == "from" && from_is_a_number) {
            continue;
        }
        match value {
            Value::Number(number) => *value = json!(number.to_string()),
            Value::String(text) if NAMES.contains(&name.as_str()) => *text = text.trim().to_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| element(name, item)),
            _ => {}
        }
    }
    if let Some(Value::Object(policy)) = fields.get_mut("policy") {
        policy.retain(|_, v| !v.is_null());
    }
}

/// One element of a list: an id, a step or a dropped step.
fn element(list: &str, item: &mut Value) {
    let keyed = matches!(list, "steps" | "dropped");
    match item {
        Value::Number(number) => *item = json!(number.to_string()),
        Value::String(text) if NAMES.contains(&list) => *text = text.trim().to_owned(),
        Value::Object(fields) => event(fields),
        _ => {}
    }
    if let (true, Value::String(id)) = (keyed, &*item) {
        *item = json!({ "id": id });
    }
}
