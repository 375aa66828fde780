//! On which terms the tools of a server are used.

use super::definition::Definition;
use countersign::{Declared, Effect};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The terms of a server's tools, by the name that the server gives them. A tool without any is used on the
/// strictest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Terms(pub BTreeMap<String, Term>);

/// What you say of one tool. What is left out stays strict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Term {
    /// What it does to the world; `write` by default.
    pub effect: Option<Effect>,
    /// Whether it may run twice; no by default.
    pub idempotent: bool,
    /// Whether it runs without a person's word; no by default.
    pub trusted: bool,
    /// Whether its result counts as evidence; no by default.
    pub evidence: bool,
    /// The digest of the definition for which this was said. Where the tool has another by now, none of this
    /// holds, until you say it again.
    pub digest: Option<String>,
}

impl Terms {
    /// What is declared of a tool.
    pub(super) fn declared(&self, tool: &Definition) -> Declared {
        // The server's own word is taken only where it makes things stricter.
        let effect = if tool.destructive { Effect::Destructive } else { Effect::Write };
        let strict = Declared { idempotent: false, approval: true, evidence: false, ..Declared::run(effect) };
        match self.0.get(&tool.name).filter(|term| term.holds(tool)) {
            None => strict,
            Some(term) => Declared {
                idempotent: term.idempotent,
                approval: !term.trusted,
                evidence: term.evidence,
                ..Declared::run(term.effect.unwrap_or(effect))
            },
        }
    }

    /// Whether something was said of this tool when it was another.
    pub(super) fn is_outdated(&self, tool: &Definition) -> bool {
        self.0.get(&tool.name).is_some_and(|term| !term.holds(tool))
    }
}

impl Term {
    fn holds(&self, tool: &Definition) -> bool {
        self.digest.as_ref().is_none_or(|digest| *digest == tool.digest)
    }
}
