//! One message of a chat, as far as it is read. Borrowed from the source wherever nothing in it is escaped, and
//! lenient: a field of another type than it should have says nothing.

use crate::trace::lenient::{Args, List, Object, Text};
use serde::Deserialize;

/// A message. Its text is `content`, or the texts of its parts.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(in crate::trace) struct Message<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_calls: List<Call<'a>>,
    #[serde(borrow)]
    pub(super) function_call: Object<Call<'a>>,
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) finish_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
    #[serde(borrow)]
    pub(super) error: Text<'a>,
}

/// A call. The name and the arguments stand in `function`, or beside the id.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Object<Function<'a>>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Args<'a>,
}

/// What is called.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Args<'a>,
}

impl Call<'_> {
    pub(super) fn name(&self) -> &str {
        self.function.0.as_ref().map_or(&self.name.0, |function| &function.name.0)
    }

    pub(super) fn arguments(&self) -> &str {
        self.function.0.as_ref().map_or(&self.arguments.0, |function| &function.arguments.0)
    }
}
