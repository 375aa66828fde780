//! What a tool says of itself.

use rmcp::model::Tool;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A tool, as its server defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name at the server.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// Whether the server says that it destroys.
    pub destructive: bool,
    /// Digest of all that a model or a person is shown of it.
    pub digest: String,
}

impl Definition {
    pub(super) fn of(tool: &Tool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default().to_owned();
        let schema = Value::Object((*tool.input_schema).clone());
        let annotations = serde_json::to_value(&tool.annotations).unwrap_or_default();
        let shown = json!({"name": &*tool.name, "description": tool.description, "title": tool.title, "schema": schema, "annotations": annotations});
        let destructive = tool.annotations.as_ref().is_some_and(|a| a.destructive_hint == Some(true) && a.read_only_hint != Some(true));
        Self { name: tool.name.to_string(), description, schema, destructive, digest: digest(&shown) }
    }
}

/// The same for the same content, in whichever order a server writes it.
fn digest(value: &Value) -> String {
    let mut hash = Sha256::new();
    feed(value, &mut hash);
    hash.finalize().iter().fold(String::from("sha256:"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn feed(value: &Value, hash: &mut Sha256) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            hash.update(b"{");
            for key in keys {
                hash.update(Value::String(key.clone()).to_string());
                map.get(key).into_iter().for_each(|value| feed(value, hash));
            }
            hash.update(b"}");
        }
        Value::Array(list) => {
            hash.update(b"[");
            list.iter().for_each(|value| feed(value, hash));
            hash.update(b"]");
        }
        plain => hash.update(plain.to_string() + ","),
    }
}
