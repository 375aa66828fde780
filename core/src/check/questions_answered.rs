//! Every question to the user was answered.

use super::{Check, View, about};
use crate::decision::Finding;

pub(super) struct QuestionsAnswered;

impl Check for QuestionsAnswered {
    fn name(&self) -> &str {
        "questions_answered"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(about(self.name(), view.open(&view.ledger.open().questions), "a question to the user is open", "answer it"))
    }
}
