//! Reading an answer from its stream.

use super::fault::{self, Fault};
use countersign::{Deltas, Finish, ModelReply, ToolCall};
use futures_util::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent, StopReason, StreamEnd};
use serde_json::Value;

/// An answer, with the tokens given and made.
pub(super) struct Read {
    pub(super) reply: ModelReply,
    pub(super) usage: Option<(u64, u64)>,
}

/// Reads a stream to its end. One that ends without saying so, or without saying why, was cut: what had come is
/// partial.
pub(super) async fn read(mut stream: ChatStream, deltas: &Deltas) -> Result<Read, Fault> {
    let (mut text, mut reasoning) = (String::new(), String::new());
    while let Some(event) = stream.next().await {
        match event {
            Ok(ChatStreamEvent::Chunk(chunk)) => {
                deltas.send(&chunk.content);
                text += &chunk.content;
            }
            Ok(ChatStreamEvent::ReasoningChunk(chunk)) => reasoning += &chunk.content,
            Ok(ChatStreamEvent::End(end)) => {
                let Some(stop) = end.captured_stop_reason.clone() else { break };
                return Ok(whole(text, reasoning, &stop, end));
            }
            Ok(
                ChatStreamEvent::Start | ChatStreamEvent::ToolCallChunk(_) | ChatStreamEvent::ThoughtSignatureChunk(_) | ChatStreamEvent::Heartbeat,
            ) => {}
            Err(error) => return Err(fault::of(error).with(text)),
        }
    }
    Err(Fault::cut().with(text))
}

fn whole(text: String, reasoning: String, stop: &StopReason, end: StreamEnd) -> Read {
    let usage = end.captured_usage.as_ref().map(|u| (tokens(u.prompt_tokens), tokens(u.completion_tokens)));
    let calls: Vec<ToolCall> = end.captured_into_tool_calls().unwrap_or_default().into_iter().map(call).collect();
    let (thought, text) = apart(text);
    let reasoning = Some(thought + &reasoning).filter(|r| !r.is_empty());
    let finish = match stop {
        StopReason::MaxTokens(_) => Finish::Length,
        StopReason::ContentFilter(why) if why == "refusal" => Finish::Refusal,
        StopReason::ContentFilter(_) => Finish::ContentFilter,
        _ if !calls.is_empty() => Finish::ToolCalls,
        _ => Finish::Stop,
    };
    Read { reply: ModelReply { text: text.into(), reasoning, calls, finish, markup: false, usage: None }, usage }
}

/// Thoughts that local models write in front of their answer, and the answer.
fn apart(text: String) -> (String, String) {
    let open = text.trim_start().strip_prefix("<think>");
    match open.and_then(|rest| rest.split_once("</think>")) {
        Some((thought, answer)) => (thought.trim().to_owned(), answer.trim_start().to_owned()),
        None => (String::new(), text),
    }
}

/// A call as the model wrote it. Arguments that are not JSON stay as they are: the tool says what is wrong.
fn call(said: genai::chat::ToolCall) -> ToolCall {
    let args = match said.fn_arguments {
        // A tool without arguments is often called with none.
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text,
        Value::Null => "{}".to_owned(),
        value => value.to_string(),
    };
    ToolCall { id: Some(said.call_id.into()), name: said.fn_name.into(), args: args.into() }
}

fn tokens(count: Option<i32>) -> u64 {
    count.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}
