//! Scenarios as text: facts, `---`, what the gate says. `UPDATE_SCENARIOS=1` rewrites what it says.
//!
//! ```text
//! # Only failed tools do not satisfy required evidence
//! run single evidence=required
//! call c1 install by=main effect=write
//! result c1 error
//! candidate main "Installed."
//! ---
//! in_progress missing_execution_evidence nudge | evidence_ok
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`grammar`] | the verbs and their words, both ways |
//! | [`mod@line`] | one line taken apart and put together |
//! | [`mod@play`] | blocks told to a witness, and what the gate says of each |
//! | [`mod@retell`] | case files as scenarios |

pub mod grammar;
pub mod line;
pub mod play;
pub mod retell;

use crate::cases::What;
use line::Fact;

/// A scenario that cannot be read or told, with the line on which it fails.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what is legal there.
    pub why: String,
}

/// One fact with its line.
#[derive(Debug, Clone)]
pub struct Told {
    /// The line, from 1.
    pub line: usize,
    /// The fact.
    pub fact: Fact,
}

/// Facts, and what the gate is expected to say after them.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// The facts.
    pub facts: Vec<Told>,
    /// Whether the gate is asked after them.
    pub asked: bool,
    /// The lines after `---`.
    pub expected: Vec<String>,
}

/// A scenario.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Header comments as `key: value`; lines without a key are the title.
    pub header: Vec<(String, String)>,
    /// What happens.
    pub blocks: Vec<Block>,
}

impl Script {
    /// What the header says under a key.
    pub fn said(&self, key: &str) -> Option<&str> {
        self.header.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The words that the header lists under a key.
    pub fn listed(&self, key: &str) -> impl Iterator<Item = &str> {
        self.said(key).unwrap_or_default().split_whitespace()
    }

    /// Every event in order, where the facts are events of the cases' vocabulary.
    pub fn events(&self) -> Vec<&What> {
        let facts = self.blocks.iter().flat_map(|b| &b.facts);
        facts.filter_map(|t| if let Fact::Event(what) = &t.fact { Some(&**what) } else { None }).collect()
    }
}

/// Reads a scenario.
pub fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut script = Script::default();
    let mut block = Block::default();
    for (at, raw) in text.lines().enumerate() {
        let (number, trimmed) = (at + 1, raw.trim());
        match () {
            () if trimmed.is_empty() => {
                if block.asked {
                    script.blocks.push(std::mem::take(&mut block));
                }
            }
            () if block.asked => block.expected.push(trimmed.to_owned()),
            () if trimmed.starts_with('#') => {
                if script.blocks.is_empty() && block.facts.is_empty() {
                    script.header.push(header_line(trimmed));
                }
            }
            () if trimmed == "---" => block.asked = true,
            () => {
                let first = script.blocks.is_empty() && block.facts.is_empty();
                let fact = line::read(trimmed, first).map_err(|why| ScriptError { line: number, why })?;
                block.facts.push(Told { line: number, fact });
            }
        }
    }
    if block.asked || !block.facts.is_empty() {
        script.blocks.push(block);
    }
    if script.blocks.iter().all(|b| b.facts.is_empty()) {
        return Err(ScriptError { line: 1, why: "nothing happens here; a scenario begins with `run MODE`".into() });
    }
    Ok(script)
}

/// Keys of a header; any other line of it is the title.
const KEYS: &[&str] = &["source", "finals", "must", "must_not"];

fn header_line(line: &str) -> (String, String) {
    let text = line.trim_start_matches('#').trim();
    match text.split_once(": ") {
        Some((key, value)) if KEYS.contains(&key) => (key.to_owned(), value.trim().to_owned()),
        _ => ("title".to_owned(), text.to_owned()),
    }
}

/// The same text with every expectation replaced by what the gate said.
pub fn rewritten(text: &str, said: &[String]) -> String {
    let mut out = String::new();
    let mut said = said.iter();
    let mut skipping = false;
    for raw in text.lines() {
        if skipping && !raw.trim().is_empty() {
            continue;
        }
        skipping = raw.trim() == "---";
        out.push_str(raw);
        out.push('\n');
        if skipping && let Some(line) = said.next() {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
