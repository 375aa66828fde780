//! What of a line is read. Borrowed from the line wherever nothing in it is escaped: sessions are long, and most of
//! their bytes are outputs that no rule looks at.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A text that stands in the line as it is, where it can.
#[derive(Deserialize, Default, Debug)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// One line of a session.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) subtype: Option<Text<'a>>,
    #[serde(default)]
    pub(super) is_sidechain: bool,
    /// In `stream-json`, the call of the sub-agent to which the line belongs.
    #[serde(borrow, default, rename = "parent_tool_use_id")]
    pub(super) parent_call: Option<Text<'a>>,
    #[serde(default)]
    pub(super) is_meta: bool,
    #[serde(default)]
    pub(super) is_compact_summary: bool,
    #[serde(default)]
    pub(super) is_api_error_message: bool,
    #[serde(borrow, default)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    /// The text of a queued message, and of what the system says.
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
}

/// The message of a line.
#[derive(Deserialize, Debug)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) model: Option<Text<'a>>,
}

/// One block of a message.
#[derive(Deserialize, Debug)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "tool_use_id")]
    pub(super) answers: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) is_error: Option<bool>,
}

impl<'a> Message<'a> {
    /// Its blocks; a message that is a text is one block of text.
    pub(super) fn blocks(&self) -> Result<Vec<Block<'a>>, serde_json::Error> {
        match self.content {
            Some(raw) if raw.get().starts_with('"') => {
                let text: Text<'a> = serde_json::from_str(raw.get())?;
                Ok(vec![Block { text: Some(text), ..Block::of_kind("text") }])
            }
            Some(raw) if raw.get().starts_with('[') => serde_json::from_str(raw.get()),
            _ => Ok(Vec::new()),
        }
    }
}

impl Block<'_> {
    fn of_kind(kind: &'static str) -> Self {
        Block { kind: Text(kind.into()), text: None, id: None, name: None, input: None, answers: None, content: None, is_error: None }
    }
}

/// The text of a field; blank where it has none.
pub(super) fn of<'l>(text: &'l Option<Text<'_>>) -> &'l str {
    text.as_ref().map_or("", |t| &t.0)
}
