//! A way of working, and what comes of it.

use crate::agent::Agents;
use crate::work::{Flow, Work};
use countersign_core::{Finish, Form, ModeRules, NodeId, Policy, Str};

/// A way of working. A pure function of the ledger: the same ledger gives the same wants.
pub trait Mode: Send + Sync {
    /// Its name, as `agentMode` says it.
    fn name(&self) -> &str;

    /// Its version, recorded with each run: raise it when `advance` asks otherwise than before.
    fn version(&self) -> u32 {
        1
    }

    /// Who may conclude, and what must be reconciled.
    fn rules(&self) -> ModeRules;

    /// What is needed next. Asks through `work` and yields with `?` until the answers are there.
    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer>;

    /// Why these agents could never finish a run in this mode under this policy, if that is so. Asked when a
    /// run is built, before a token is spent.
    fn infeasible(&self, agents: &Agents, policy: &Policy) -> Option<String> {
        let _ = (agents, policy);
        None
    }
}

/// Text that a mode would like to be the answer. Only the gate can make it one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The activation whose words they are.
    pub by: NodeId,
    /// The reply from which they come.
    pub from: Option<NodeId>,
    /// The words.
    pub text: Str,
    /// What they are apart from that.
    pub form: Form,
    /// Why the provider stopped.
    pub finish: Finish,
    /// What had been read when they were said.
    pub rests_on: Vec<NodeId>,
    /// Whether a `conclude` call made them.
    pub synthesis: bool,
    /// What is said to be uncertain.
    pub uncertainties: Vec<Str>,
    /// What is said should come next.
    pub next_actions: Vec<Str>,
}
