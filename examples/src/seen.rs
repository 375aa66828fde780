//! What a scripted model reads: its own transcript, as a real one would be shown it.

use countersign::transcript::{Message, message};
use countersign::{Call, ModelRequest, NodeId, Outcome};
use std::borrow::Cow;

/// One call with what came of it.
pub struct Seen<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments: JSON text.
    pub args: &'a str,
    /// How it ended.
    pub outcome: Outcome,
    /// What the model is shown.
    pub text: String,
}

impl Seen<'_> {
    /// Whether it did what it was asked to do.
    pub fn ok(&self) -> bool {
        self.outcome == Outcome::Completed
    }
}

/// Every call that has a result, in the order of the results.
pub fn results(request: &ModelRequest) -> Vec<Seen<'_>> {
    let mut calls: Vec<(NodeId, &Call)> = Vec::new();
    let mut seen = Vec::new();
    for said in request.transcript.iter().filter_map(message) {
        match said {
            Message::Assistant { calls: new, .. } => calls.extend(new),
            Message::Result { call, outcome, text } => {
                if let Some((_, made)) = calls.iter().find(|(node, _)| *node == call) {
                    seen.push(Seen { tool: &made.name, args: &made.args, outcome, text });
                }
            }
            Message::User(_) => {}
        }
    }
    seen
}

/// What the agent was asked, and told since.
pub fn told(request: &ModelRequest) -> impl Iterator<Item = Cow<'_, str>> {
    request.transcript.iter().filter_map(message).filter_map(|said| if let Message::User(text) = said { Some(text) } else { None })
}

/// A sub-agent's result taken apart: the id by which it is disposed of, its words, and its claims.
pub struct Told {
    /// The id.
    pub result: u32,
    /// Its words.
    pub summary: String,
    /// Key and value of each claim.
    pub claims: Vec<(String, String)>,
}

impl Told {
    /// Reads `[result 7, completed] summary` and the claims below it.
    pub fn read(text: &str) -> Option<Self> {
        let (head, rest) = text.strip_prefix("[result ")?.split_once("] ")?;
        let result = head.split(',').next()?.trim().parse().ok()?;
        let mut lines = rest.lines();
        let summary = lines.next().unwrap_or_default().to_owned();
        let claims = lines.filter_map(|l| l.strip_prefix("- ")?.split_once(": ")).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Some(Self { result, summary, claims })
    }

    /// What it claims under a key.
    pub fn claim(&self, key: &str) -> Option<&str> {
        self.claims.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }
}
