//! Typed finals: an answer that has to be JSON of a type.

use countersign_core::{Check, Finding, View};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// Longest schema that an agent is told, in bytes.
const SCHEMA_BYTES_MAX: usize = 4_000;

/// Holds where the answer is JSON of a type. What an agent is told where it is not is the schema.
pub(crate) struct AnswerFits<T> {
    schema: String,
    of: PhantomData<fn() -> T>,
}

impl<T: JsonSchema> AnswerFits<T> {
    pub(crate) fn new() -> Self {
        let schema = serde_json::to_string(&schemars::schema_for!(T)).unwrap_or_default();
        Self { schema: if schema.len() <= SCHEMA_BYTES_MAX { schema } else { T::schema_name().into_owned() }, of: PhantomData }
    }
}

impl<T: DeserializeOwned + JsonSchema> Check for AnswerFits<T> {
    fn name(&self) -> &str {
        "answer_fits"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, made)) = view.candidate.filter(|(_, made)| !made.text.trim().is_empty()) else { return Ok(None) };
        let Err(why) = serde_json::from_str::<T>(&made.text) else { return Ok(None) };
        // By its place only: a finding never repeats the words of the answer.
        let what = if why.is_data() { "is JSON of another form" } else { "is not JSON" };
        Ok(Some(Finding {
            check: self.name().into(),
            subjects: view.refs([node]),
            message: format!("the answer {what}, from line {}, column {}", why.line(), why.column()),
            remedy: format!("answer with JSON of this schema and nothing else: {}", self.schema),
        }))
    }
}
