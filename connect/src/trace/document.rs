//! Lists of messages, steps or events inside a document, each with its place.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The lines of a document, counted once from front to back.
pub struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    /// Counts in this document.
    pub fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line on which a part of the document begins; parts are asked for in order.
    pub fn of_part(&mut self, part: &str) -> u32 {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if let Some(between) = self.text.as_bytes().get(self.at..start) {
            self.line += u32::try_from(memchr::memchr_iter(b'\n', between).count()).unwrap_or(u32::MAX);
            self.at = start;
        }
        self.line
    }
}

/// One element of a list.
pub struct Item {
    /// The line on which it begins.
    pub line: u32,
    /// Its place in the list, from 0.
    pub at: u32,
    /// The element.
    pub value: Value,
}

/// The elements of a list, in order; blank where it is no list.
pub fn items<'a>(lines: &mut Lines<'a>, list: &'a RawValue) -> Vec<Item> {
    let item = |(at, raw): (usize, &&RawValue)| {
        let line = lines.of_part(raw.get());
        let value = serde_json::from_str(raw.get()).unwrap_or_default();
        Item { line, at: u32::try_from(at).unwrap_or(u32::MAX), value }
    };
    elements(list).iter().enumerate().map(item).collect()
}

/// The elements of a list as they stand; blank where it is no list.
pub(super) fn elements(list: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(list.get()).unwrap_or_default()
}

/// The text of a field; blank where it has none.
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// What a message says: its text, or the texts of its parts.
pub fn content(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|p| p.as_str().or_else(|| p.get("text").and_then(Value::as_str)));
            texts.collect::<Vec<_>>().join("\n").into()
        }
        _ => Cow::default(),
    }
}
