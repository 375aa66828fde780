//! A supervisor and its specialists. Only the supervisor ends the run.

use crate::agent::Agents;
use crate::mode::{Answer, Mode};
use crate::tool::ToolKind;
use crate::work::{Flow, Work};
use countersign_core::{ModeRules, Policy};

/// A supervisor that transfers work to specialists, gets control back, and concludes. Recommended where
/// it depends on the case who has to look at it.
pub struct Supervisor {
    /// The supervising agent.
    pub agent: &'static str,
}

impl Default for Supervisor {
    fn default() -> Self {
        Self { agent: "supervisor" }
    }
}

impl Mode for Supervisor {
    fn name(&self) -> &str {
        "supervisor"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::explicit(self.agent)
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let reply = work.ask(self.agent, self.agent, task)?;
        match work.handed_over() {
            // By policy, this specialist's words are the answer.
            Some(specialist) => work.answer(specialist),
            None => work.answer(reply),
        }
    }

    fn infeasible(&self, agents: &Agents, _policy: &Policy) -> Option<String> {
        let transfers = agents.get(self.agent)?.tools.values().any(|t| matches!(t.kind, ToolKind::Transfer { .. } | ToolKind::Delegate { .. }));
        (!transfers).then(|| format!("the supervisor `{}` has no specialist to transfer to; add one, or use single mode", self.agent))
    }
}
