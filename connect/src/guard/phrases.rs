//! Patterns that an answer has to match, or may not match.

use countersign::{Guard, GuardSaid, GuardState};
use regex::Regex;

/// A pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern: {why}")]
pub struct NoPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Asks for a second look at an answer that lacks a pattern, or has one that it may not have.
#[derive(Clone, Debug)]
pub struct Phrases {
    name: String,
    required: Vec<Regex>,
    forbidden: Vec<Regex>,
    nudge: Option<String>,
}

impl Phrases {
    /// Asks for nothing yet. The name stands in the log.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), required: Vec::new(), forbidden: Vec::new(), nudge: None }
    }

    /// An answer has to match this, somewhere.
    pub fn require(mut self, pattern: &str) -> Result<Self, NoPattern> {
        self.required.push(read(pattern)?);
        Ok(self)
    }

    /// An answer may match this nowhere.
    pub fn forbid(mut self, pattern: &str) -> Result<Self, NoPattern> {
        self.forbidden.push(read(pattern)?);
        Ok(self)
    }

    /// What the agent is told, instead of the patterns.
    #[must_use]
    pub fn nudge(mut self, text: &str) -> Self {
        self.nudge = Some(text.to_owned());
        self
    }
}

fn read(pattern: &str) -> Result<Regex, NoPattern> {
    // The last line of what the crate says has the reason; the lines before it draw the place.
    let why = |e: regex::Error| e.to_string().lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
    Regex::new(pattern).map_err(|e| NoPattern { pattern: pattern.to_owned(), why: why(e) })
}

impl Guard for Phrases {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, state: &GuardState<'_>) -> GuardSaid {
        let lacks = self.required.iter().filter(|p| !p.is_match(state.final_text)).map(|p| format!("The answer has to match `{p}`."));
        let has = self.forbidden.iter().filter(|p| p.is_match(state.final_text)).map(|p| format!("The answer may not match `{p}`."));
        let wrong: Vec<String> = lacks.chain(has).collect();
        if wrong.is_empty() {
            return GuardSaid::Accept;
        }
        GuardSaid::Nudge(self.nudge.clone().unwrap_or_else(|| wrong.join("\n")))
    }
}
