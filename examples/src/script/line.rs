//! One line of a scenario: taken apart into a fact, and put together from an event.

use super::grammar::{OWN, Shape, VERBS, Verb, Word, legal, takes_steps, usage, verb_for, verb_named};
use crate::cases::{self, What};
use serde_json::{Map, Value, json};

/// What a line says.
#[derive(Debug, Clone)]
pub enum Fact {
    /// How the run begins: its event, and the words that the cases do not have.
    Run(Box<What>, Vec<(String, String)>),
    /// An event of the cases' vocabulary.
    Event(Box<What>),
    /// A governance rule is attested.
    Attest {
        /// The rule.
        rule: String,
        /// The statement.
        statement: String,
        /// What it points at, by name.
        refs: Vec<String>,
        /// Why not, where that is said.
        waived: Option<String>,
    },
    /// A fact is recorded under a name.
    Record {
        /// Its name in the scenario.
        id: String,
        /// Its kind.
        kind: String,
        /// What is recorded.
        what: String,
        /// What it rests on, by name.
        refs: Vec<String>,
    },
    /// The gate is asked for good.
    Rule,
}

/// A word of a line: positional, or with its key.
#[derive(Debug)]
struct Token {
    key: Option<String>,
    value: String,
}

/// Reads a line. The first one begins the run, and no other does.
pub fn read(text: &str, first: bool) -> Result<Fact, String> {
    let tokens = tokens(text)?;
    let mut words = tokens.iter();
    let name = words.next().map(|t| t.value.as_str()).unwrap_or_default();
    match (first, name == "run") {
        (true, false) => return Err("legal here: `run MODE`, which begins the scenario".into()),
        (false, true) => return Err(format!("a run begins once; {}", legal())),
        _ => {}
    }
    let rest: Vec<&Token> = words.collect();
    if OWN.iter().any(|(own, _)| *own == name) {
        return own(name, &rest);
    }
    let verb = verb_named(name).ok_or_else(|| format!("`{name}` is not a fact; {}", legal()))?;
    let (fields, own) = fields(verb, &rest).map_err(|why| format!("{why}; legal here: {}", usage(verb)))?;
    let what = cases::event(fields).map_err(|e| format!("{e}; legal here: {}", usage(verb)))?;
    Ok(if name == "run" { Fact::Run(Box::new(what), own) } else { Fact::Event(Box::new(what)) })
}

fn own(name: &str, words: &[&Token]) -> Result<Fact, String> {
    let shape = OWN.iter().find(|(own, _)| *own == name).map_or("", |(_, usage)| *usage);
    let places: Vec<&str> = words.iter().filter(|t| t.key.is_none()).map(|t| t.value.as_str()).collect();
    let key = |key: &str| words.iter().find(|t| t.key.as_deref() == Some(key)).map(|t| t.value.clone());
    let refs: Vec<String> = key("refs").map(|r| split(&r).map(str::to_owned).collect()).unwrap_or_default();
    if let Some(other) = words.iter().filter_map(|t| t.key.as_deref()).find(|k| !matches!(*k, "refs" | "waived")) {
        return Err(format!("`{other}=` means nothing to `{name}`; legal here: {shape}"));
    }
    match (name, places.as_slice()) {
        ("attest", [rule, statement]) => Ok(Fact::Attest { rule: (*rule).into(), statement: (*statement).into(), refs, waived: key("waived") }),
        ("record", [id, kind, what]) => Ok(Fact::Record { id: (*id).into(), kind: (*kind).into(), what: (*what).into(), refs }),
        ("rule", []) => Ok(Fact::Rule),
        _ => Err(format!("legal here: {shape}")),
    }
}

type Fields = (Map<String, Value>, Vec<(String, String)>);

fn fields(verb: &Verb, words: &[&Token]) -> Result<Fields, String> {
    let (mut fields, mut policy, mut own) = (Map::new(), Map::new(), Vec::new());
    let mut steps = Vec::new();
    let mut place = 0;
    fields.insert("ev".into(), json!(verb.event));
    for word in words {
        match (&word.key, verb.places.get(place)) {
            (Some(key), _) => {
                let (name, field, shape) = verb.keys.iter().find(|(k, _, _)| k == key).ok_or_else(|| format!("`{key}=` means nothing here"))?;
                let value = value(*shape, &word.value).map_err(|why| format!("`{key}=`: {why}"))?;
                match verb.name {
                    "run" if super::grammar::OWN_POLICY.contains(name) => own.push(((*name).to_owned(), word.value.clone())),
                    "run" => drop(policy.insert((*field).into(), value)),
                    _ => drop(fields.insert((*field).into(), value)),
                }
            }
            (None, Some((_, field, _))) => {
                fields.insert((*field).into(), json!(word.value));
                place += 1;
            }
            (None, None) if takes_steps(verb) => steps.push(step(&word.value)),
            (None, None) => return Err(format!("`{}` is one word too many", word.value)),
        }
    }
    if place < verb.needed {
        let missing = verb.places.get(place).map_or("", |(word, _, _)| *word);
        return Err(format!("its {missing} is missing"));
    }
    if takes_steps(verb) {
        fields.insert("steps".into(), json!(steps));
    }
    if verb.name == "run" {
        fields.insert("policy".into(), json!(policy));
    }
    if let Some(Value::Object(dropped)) = fields.get("dropped").cloned() {
        let records: Vec<Value> = dropped.iter().map(|(id, why)| json!({ "id": id, "why": why })).collect();
        fields.insert("dropped".into(), json!(records));
    }
    Ok((fields, own))
}

fn value(shape: Shape, text: &str) -> Result<Value, String> {
    match shape {
        Shape::Word | Shape::Text => Ok(json!(text)),
        Shape::Number => text.parse::<u64>().map(|n| json!(n)).map_err(|_| format!("`{text}` is not a number")),
        Shape::Flag => text.parse::<bool>().map(|b| json!(b)).map_err(|_| format!("`{text}` is neither `true` nor `false`")),
        Shape::List => Ok(json!(split(text).collect::<Vec<_>>())),
        Shape::Pairs | Shape::Marks => {
            let mut pairs = Map::new();
            for pair in split(text) {
                let (key, said) = pair.split_once(':').ok_or_else(|| format!("`{pair}` is not of the form `key:value`"))?;
                let said = if shape == Shape::Marks { json!(said == "true") } else { json!(said) };
                pairs.insert(key.to_owned(), said);
            }
            Ok(Value::Object(pairs))
        }
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|s| !s.is_empty())
}

fn step(text: &str) -> Value {
    match text.split_once('(') {
        Some((id, needs)) => json!({ "id": id, "needs": split(needs.trim_end_matches(')')).collect::<Vec<_>>() }),
        None => json!({ "id": text }),
    }
}

/// Words apart by blanks; quotes keep blanks, `\"` and `\\` stand for themselves, `#` begins a comment.
fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.peek().copied() {
        if next == '#' {
            break;
        }
        if next.is_whitespace() {
            rest.next();
            continue;
        }
        let (mut key, mut word) = (None, String::new());
        while let Some(c) = rest.next_if(|c| !c.is_whitespace()) {
            match c {
                '"' => quoted(&mut rest, &mut word)?,
                '=' if key.is_none() && is_key(&word) => key = Some(std::mem::take(&mut word)),
                c => word.push(c),
            }
        }
        found.push(Token { key, value: word });
    }
    Ok(found)
}

fn is_key(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            Some('"') => return Ok(()),
            Some('\\') => match rest.next() {
                Some('n') => word.push('\n'),
                Some(c) => word.push(c),
                None => return Err("a quote is not closed".into()),
            },
            Some(c) => word.push(c),
            None => return Err("a quote is not closed".into()),
        }
    }
}

/// Writes an event of a case as a line; fields that only inform are left out.
pub fn write(event: &Map<String, Value>) -> Option<String> {
    let verb = verb_for(event.get("ev")?.as_str()?)?;
    let mut words = vec![verb.name.to_owned()];
    let said = |field: &str| event.get(field).filter(|v| !v.is_null());
    let last = verb.places.iter().rposition(|(_, field, _)| said(field).is_some()).map_or(0, |at| at + 1);
    for (_, field, shape) in verb.places.iter().take(last.max(verb.needed)) {
        words.push(shown(*shape, said(field).unwrap_or(&json!(""))));
    }
    let keys: Vec<(&Word, &Value)> = match said("policy") {
        Some(policy) => verb.keys.iter().filter_map(|w| policy.get(w.1).map(|v| (w, v))).collect(),
        None => verb.keys.iter().filter_map(|w| said(w.1).map(|v| (w, v))).collect(),
    };
    let steps = said("steps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    words.extend(steps.iter().map(shown_step));
    let empty = |v: &Value| v.as_array().is_some_and(Vec::is_empty) || v.as_object().is_some_and(Map::is_empty);
    words.extend(keys.into_iter().filter(|(_, v)| !empty(v)).map(|((key, _, shape), v)| format!("{key}={}", shown(*shape, v))));
    Some(words.join(" "))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown(shape: Shape, value: &Value) -> String {
    match (shape, value) {
        (Shape::Text, _) => quote(&plain(value)),
        (Shape::List, Value::Array(items)) => word(&items.iter().map(plain).collect::<Vec<_>>().join(",")),
        (Shape::Pairs | Shape::Marks, Value::Object(fields)) => {
            word(&fields.iter().map(|(key, value)| format!("{key}:{}", plain(value))).collect::<Vec<_>>().join(","))
        }
        (Shape::Pairs, Value::Array(dropped)) => {
            let pair = |d: &Value| format!("{}:{}", d.get("id").map(plain).unwrap_or_default(), d.get("why").map(plain).unwrap_or_default());
            word(&dropped.iter().map(pair).collect::<Vec<_>>().join(","))
        }
        _ => word(&plain(value)),
    }
}

fn shown_step(step: &Value) -> String {
    let id = step.get("id").map(plain).unwrap_or_else(|| plain(step));
    match step.get("needs").and_then(Value::as_array).filter(|n| !n.is_empty()) {
        Some(needs) => word(&format!("{id}({})", needs.iter().map(plain).collect::<Vec<_>>().join(","))),
        None => word(&id),
    }
}

fn word(text: &str) -> String {
    let simple = !text.is_empty() && text.chars().all(|c| !c.is_whitespace() && !matches!(c, '"' | '#' | '=' | '\\'));
    if simple { text.to_owned() } else { quote(text) }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Every verb's usage, for the page that documents the format.
pub fn all_usages() -> Vec<String> {
    VERBS.iter().map(usage).chain(OWN.iter().map(|(_, usage)| (*usage).to_owned())).collect()
}
