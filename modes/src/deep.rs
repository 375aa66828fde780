//! A main agent with sub-agents as tools. It concludes by synthesis.

use crate::mode::{Answer, Mode};
use crate::single::Single;
use crate::work::{Flow, Work};
use countersign_core::{ModeRules, Relay};

/// A main agent that hands parts of the work to sub-agents. Every result has to be accounted for, and
/// none may be passed on word for word. Recommended where parts can be looked into separately.
#[derive(Default)]
pub struct Deep(Single);

impl Mode for Deep {
    fn name(&self) -> &str {
        "deep"
    }

    fn rules(&self) -> ModeRules {
        ModeRules { relay: Relay::Refused, ..ModeRules::explicit(self.0.agent) }
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        self.0.advance(work)
    }
}
