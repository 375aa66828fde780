//! One agent, who concludes.

use crate::mode::{Answer, Mode};
use crate::work::{Flow, Work};
use countersign_core::ModeRules;

/// One agent, who concludes. Recommended where one set of tools does.
pub struct Single {
    /// The agent.
    pub agent: &'static str,
}

impl Default for Single {
    fn default() -> Self {
        Self { agent: "main" }
    }
}

impl Mode for Single {
    fn name(&self) -> &str {
        "single"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner(self.agent)
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let reply = work.ask(self.agent, self.agent, task)?;
        work.answer(reply)
    }
}
