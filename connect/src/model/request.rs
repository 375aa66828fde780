//! Writing a request as the provider's crate wants it.

use super::protocol::Said;
use super::window::Turn;
use genai::chat::{ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse};
use serde_json::{Value, json};

/// The request for one turn.
pub(super) fn chat(said: &Said) -> ChatRequest {
    let mut request = ChatRequest::new(said.turns.iter().map(message).collect());
    if !said.system.trim().is_empty() {
        request = request.with_system(said.system.as_str());
    }
    if !said.tools.is_empty() {
        let offered = said.tools.iter().map(|t| Tool::new(&*t.name).with_description(&*t.description).with_schema(parameters(&t.schema)));
        request = request.with_tools(offered);
    }
    request
}

fn message(turn: &Turn) -> ChatMessage {
    match turn {
        Turn::User { text, images } if images.is_empty() => ChatMessage::user(text.as_str()),
        Turn::User { text, images } => {
            let shown = images.iter().map(|i| ContentPart::from_binary_base64(i.reference().media.name(), i.base64().clone(), None));
            ChatMessage::user(shown.chain([ContentPart::from_text(text.as_str())]).collect::<Vec<_>>())
        }
        Turn::Assistant { text, calls } if calls.is_empty() => {
            ChatMessage::assistant(if text.trim().is_empty() { "(nothing)" } else { text.as_str() })
        }
        Turn::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| ToolCall {
                call_id: call.id.clone(),
                fn_name: call.name.clone(),
                fn_arguments: object(&call.args),
                thought_signatures: None,
            });
            let mut content = MessageContent::from_text(text.as_str());
            if text.trim().is_empty() {
                content = MessageContent::default();
            }
            content.extend(MessageContent::from_tool_calls(calls.collect()));
            ChatMessage::assistant(content)
        }
        Turn::Results(results) => {
            let results: Vec<ToolResponse> = results.iter().map(|came| ToolResponse::new(&came.id, &came.text).with_fn_name(&came.name)).collect();
            ChatMessage::from(results)
        }
    }
}

/// Arguments of an earlier call: providers want an object, whatever the model wrote.
fn object(args: &str) -> Value {
    match serde_json::from_str(args) {
        Ok(Value::Object(map)) => Value::Object(map),
        _ => json!({"arguments": args}),
    }
}

/// A tool's schema, without what only readers of schemas need. A tool without arguments takes an empty object.
fn parameters(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.remove("$schema");
        map.remove("title");
        map.entry("type").or_insert_with(|| json!("object"));
        if map.get("type") == Some(&json!("object")) {
            map.entry("properties").or_insert_with(|| json!({}));
        }
    }
    schema
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use countersign::Image;

    /// The smallest that is one: what it shows is nobody's concern here.
    const GIF: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0;";

    #[test]
    fn images_stand_before_the_words_that_they_came_with() {
        let image = Image::new(GIF).unwrap();
        let base64 = image.base64().clone();
        let turns = vec![
            Turn::user("before"),
            Turn::Assistant { text: "yes".into(), calls: Vec::new() },
            Turn::User { text: "now".into(), images: vec![image] },
        ];
        let said = Said { system: String::new(), turns, tools: Vec::new(), shape: None, must_call: false };
        let messages = serde_json::to_value(&chat(&said).messages).unwrap();
        let parts = &messages[2]["content"];
        assert_eq!(parts[0]["Binary"]["content_type"], "image/gif", "{messages}");
        assert_eq!(parts[0]["Binary"]["source"]["Base64"], &*base64);
        assert_eq!(parts[1]["Text"], "now");
        assert!(messages[0]["content"].get(1).is_none(), "and with no others");
    }
}
