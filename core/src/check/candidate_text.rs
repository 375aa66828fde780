//! The candidate has words meant for the reader.

use super::{Check, View, finding};
use crate::decision::Finding;
use crate::decision::Form;

pub(super) struct CandidateText;

impl Check for CandidateText {
    fn name(&self) -> &str {
        "candidate_text"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let (message, remedy) = match view.candidate {
            None => ("there is no answer", "answer the task"),
            Some((_, made)) => match made.form {
                Form::ReasoningOnly => ("the answer holds only reasoning", "say the answer itself"),
                Form::Placeholder => ("the answer is stock text made by a framework", "answer in the agent's own words"),
                Form::CallMarkup => ("the answer is a tool call written out as prose", "call the tool, then answer"),
                Form::Text if made.text.trim().is_empty() => ("the answer is blank", "say the answer"),
                Form::Text => return Ok(None),
            },
        };
        let subject = view.candidate.map_or(view.scope, |(node, _)| node);
        Ok(Some(finding(self.name(), vec![view.ledger.reference(subject)], message, remedy)))
    }
}
