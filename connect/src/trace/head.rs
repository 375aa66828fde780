//! What a source looks like, from its content: the records on its first lines, or the outline of its document.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Lines that are looked at.
const LINES_MAX: usize = 40;
/// Elements of a list that are looked at.
const ELEMENTS_MAX: usize = 4;

/// What a source looks like.
#[derive(Debug)]
pub enum Head {
    /// One JSON record a line; the first of them, as far as they can be read.
    Lines(Vec<Value>),
    /// One document; `lists` holds the first elements of each list in it, under its key, and under a blank key
    /// those of a document that is a list.
    Document {
        /// The keys at its top.
        keys: Vec<String>,
        /// First elements of its lists.
        lists: BTreeMap<String, Vec<Value>>,
    },
    /// Not JSON: its first bytes.
    Bytes(Vec<u8>),
}

impl Head {
    /// Whether some record on the first lines has all of these keys.
    pub fn line_has(&self, keys: &[&str]) -> bool {
        self.line(|record| keys.iter().all(|k| record.get(k).is_some()))
    }

    /// Whether some record on the first lines is of this kind.
    pub fn line(&self, is: impl Fn(&Value) -> bool) -> bool {
        matches!(self, Self::Lines(records) if records.iter().any(is))
    }

    /// Whether the document has all of these keys.
    pub fn has(&self, wanted: &[&str]) -> bool {
        matches!(self, Self::Document { keys, .. } if wanted.iter().all(|w| keys.iter().any(|k| k == w)))
    }

    /// Whether some element of a list in the document is of this kind; a blank key names the document itself.
    pub fn element(&self, list: &str, is: impl Fn(&Value) -> bool) -> bool {
        matches!(self, Self::Document { lists, .. } if lists.get(list).is_some_and(|elements| elements.iter().any(is)))
    }

    pub(super) fn is_lines(&self) -> bool {
        matches!(self, Self::Lines(_))
    }

    /// Lines, where the first is a record and another follows it, or where it is broken and others are records; else no
    /// more than the first bytes.
    pub(super) fn of_lines(start: &[u8]) -> Self {
        let text = String::from_utf8_lossy(start);
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty()).take(LINES_MAX);
        let record = |line: &str| serde_json::from_str::<Value>(line).ok().filter(Value::is_object);
        let (first, second) = (lines.next().unwrap_or_default(), lines.next());
        let (whole, records) = (record(first), [Some(first), second].into_iter().flatten().chain(lines).filter_map(record));
        let is_lines = match whole {
            Some(_) => second.is_some(),
            // The last elements of a list that is spread out look like records. The document goes on past its first
            // line, though; what is broken does not.
            None => first.starts_with('{') && !goes_on(start),
        };
        let records: Vec<Value> = if is_lines { records.collect() } else { Vec::new() };
        if records.is_empty() { Self::Bytes(start.get(..64.min(start.len())).unwrap_or_default().to_vec()) } else { Self::Lines(records) }
    }

    pub(super) fn of_document(text: &str) -> Self {
        let mut lists = BTreeMap::new();
        if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(text) {
            lists.insert(String::new(), first(&elements));
            return Self::Document { keys: Vec::new(), lists };
        }
        let top: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
        for (key, value) in &top {
            if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(value.get()) {
                lists.insert(key.clone(), first(&elements));
            }
        }
        Self::Document { keys: top.into_keys().collect(), lists }
    }
}

/// Whether this is JSON up to where it stops, over all of its lines.
fn goes_on(start: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(start).map_or_else(|why| why.is_eof(), |_| true)
}

fn first(elements: &[&RawValue]) -> Vec<Value> {
    elements.iter().take(ELEMENTS_MAX).filter_map(|e| serde_json::from_str(e.get()).ok()).collect()
}
