//! What a foreign loop tells, by its own names.

use crate::decision::Form;
use crate::event::{Declared, Finish, Outcome, Report};
use crate::ledger::AppendError;
use crate::node::{NodeId, Str};

/// Something that was told and could not be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing of this kind was seen under this name.
    #[error("no {what} is known as `{name}`")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: Str,
    },
    /// The ledger refused the event.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// A call, as a foreign loop tells it.
#[derive(Clone, Debug)]
pub struct ForeignCall<'a> {
    /// The agent who called.
    pub agent: &'a str,
    /// The provider's id; may be blank or repeated.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub args: &'a str,
    /// What the tool is.
    pub declared: Declared,
    /// The step that it serves, by name.
    pub step: Option<&'a str>,
    /// The sub-agent whose result it reads again in full.
    pub reads: Option<&'a str>,
}

/// A candidate, as a foreign loop tells it.
#[derive(Clone, Debug, Default)]
pub struct ForeignCandidate<'a> {
    /// The agent who says it.
    pub agent: &'a str,
    /// The words.
    pub text: &'a str,
    /// What it is apart from its words.
    pub form: Form,
    /// Why the provider stopped.
    pub finish: Finish,
    /// The reply from which it comes, where it is not new.
    pub from: Option<NodeId>,
    /// Sub-agents whose replies it says it used.
    pub uses: Vec<&'a str>,
}

/// How a sub-agent ended, as a foreign loop tells it.
#[derive(Clone, Debug)]
pub struct ForeignReply<'a> {
    /// The sub-agent's id.
    pub id: &'a str,
    /// The agent.
    pub agent: &'a str,
    /// How it ended. Completed with blank text counts as empty; text that is not told is not blank.
    pub outcome: Outcome,
    /// The sub-agent above it; `None` where the owner of the answer is.
    pub parent: Option<&'a str>,
    /// The transfer that it answers.
    pub transfer: Option<&'a str>,
    /// What it said, where that is told.
    pub text: Option<&'a str>,
    /// Claims, verdict, and how much it executed.
    pub report: Report,
}
