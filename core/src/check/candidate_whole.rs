//! The provider did not cut the candidate short.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::event::Finish;

pub(super) struct CandidateWhole;

impl Check for CandidateWhole {
    fn name(&self) -> &str {
        "candidate_whole"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, made)) = view.candidate else { return Ok(None) };
        let message = match made.finish {
            Finish::Length => "the provider's output limit cut the answer short",
            Finish::ContentFilter if !made.text.trim().is_empty() => "the provider's content filter cut the answer short",
            Finish::Refusal => "the model refused to answer",
            Finish::Stop | Finish::ToolCalls | Finish::ContentFilter => return Ok(None),
        };
        Ok(Some(finding(self.name(), vec![view.ledger.reference(node)], message, "answer again, shorter or in parts")))
    }
}
