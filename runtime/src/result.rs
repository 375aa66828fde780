//! What comes of a run.

use countersign_core::{Decision, Final, Reason, Run, Status, Str};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// How a run stands when its driver has nothing more to do. A final answer and a candidate are kept apart:
/// only a [`Final`], which only the gate makes, can be the answer.
pub struct RunResult {
    /// The answer, where the gate let one through.
    pub final_response: Option<Final>,
    /// What the run would like to have said, where it is not final. Partial; not for the user as an answer.
    pub candidate_response: Option<Str>,
    /// The ruling.
    pub decision: Arc<Decision>,
    /// The whole run: ledger, log, graph.
    pub run: Run,
}

/// A run that has no final answer, or none of the wanted form.
#[derive(Debug, thiserror::Error)]
pub enum NotFinal {
    /// The gate did not let an answer through.
    #[error("not final: {}", .0.completion_reason.name())]
    Refused(Arc<Decision>),
    /// The answer is not of the wanted type.
    #[error("the answer does not fit the wanted type: {0}")]
    Form(String),
}

impl RunResult {
    /// The answer's text, where there is one.
    pub fn text(&self) -> Option<&str> {
        self.final_response.as_ref().map(|f| &**f.text())
    }

    /// Where the run stands.
    pub fn status(&self) -> Status {
        self.decision.status
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.decision.completion_reason
    }

    /// Reads the final answer as JSON of a type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, NotFinal> {
        match &self.final_response {
            Some(answer) => serde_json::from_str(answer.text()).map_err(|e| NotFinal::Form(e.to_string())),
            None => Err(NotFinal::Refused(self.decision.clone())),
        }
    }

    /// The log, one JSON event a line: what `Run::read` reads.
    pub fn log(&self) -> String {
        let lines = self.run.ledger().log().iter().filter_map(|r| serde_json::to_string(&**r).ok());
        lines.fold(String::new(), |mut text, line| {
            text.push_str(&line);
            text.push('\n');
            text
        })
    }
}
