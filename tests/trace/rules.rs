//! The rules of the audit, on traces that differ in one thing.

use super::{accepted, chat, refused};
use serde_json::{Value, json};

/// A chat in which a tool is called once for each of these results, and then something is said.
fn called(tool: &str, results: &[&str]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    for (at, result) in results.iter().enumerate() {
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": format!("c{at}"), "function": {"name": tool, "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": result}));
    }
    messages.push(json!({"role": "assistant", "content": "That is that."}));
    chat(Value::Array(messages))
}

#[test]
fn the_newest_work_must_not_have_failed() {
    accepted("chat", &called("book_seat", &["Error: no such seat", "booked"]));
    refused("chat", &called("book_seat", &["booked", "Error: no such seat"]), &["last_work_ok"]);
    // A look that finds nothing tells something.
    accepted("chat", &called("find_seat", &["12a", "Error: no such seat"]));
}

#[test]
fn some_work_must_have_been_done_where_any_was_tried() {
    refused("chat", &called("find_seat", &["Error: no such seat", "Tool call timed out."]), &["work_done"]);
    accepted("chat", &called("find_seat", &["Error: no such seat", "12a"]));
    accepted("chat", &chat(json!([{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello."}])));
}

#[test]
fn failures_are_told_from_the_flag_of_the_protocol_and_from_no_word_inside() {
    refused("chat", &called("run", &["content=[TextContent(type='text', text='no')] isError=True"]), &["work_done", "last_work_ok"]);
    refused("chat", &called("run", &["{\"content\": [], \"isError\": true}"]), &["work_done", "last_work_ok"]);
    accepted("chat", &called("run", &["{\"content\": [], \"isError\": false}"]));
    accepted("chat", &called("run", &["There was an error in line 3, and now there is none."]));
}

#[test]
fn handing_over_to_a_person_is_an_honest_end() {
    let handed = |result: &str| {
        chat(json!([
            {"role": "user", "content": "Change my flight."},
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "update_flight", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "ok"},
            {"role": "assistant", "tool_calls": [{"id": "b", "function": {"name": "update_flight", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "b", "content": "Error: not available"},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "transfer_to_human_agents", "arguments": "{\"summary\": \"wants another flight\"}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": result}]))
    };
    accepted("chat", &handed("done"));
    refused("chat", &handed("Error: nobody is there"), &["candidate_text", "last_work_ok"]);
}

#[test]
fn an_answer_that_is_an_error_of_a_client_is_none() {
    let said = |text: &str| chat(json!([{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": text}]));
    for error in ["Connection error.", "Request timed out.", "Error: Connection error.", "API Error: 500 {\"type\": \"error\"}"] {
        refused("chat", &said(error), &["candidate_text", "normal_stop"]);
    }
    for answer in ["A connection error. Plug the cable in.", "Error handling is explained in chapter 3."] {
        accepted("chat", &said(answer));
    }
    refused("chat", &said("  "), &["candidate_text"]);
}

#[test]
fn an_answer_that_is_a_limit_is_none() {
    let said = |text: &str| chat(json!([{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": text}]));
    let verdict = refused("chat", &said("Agent stopped due to iteration limit or time limit."), &["candidate_text", "normal_stop"]);
    assert_eq!(verdict.reason().name(), "turn_limit");
    accepted("chat", &said("The agent stopped due to an iteration limit or time limit; I raised it."));
}

#[test]
fn a_run_that_died_has_no_answer() {
    refused("chat", &json!({"traj": null, "info": {"error": "Token limit is exceeded."}}).to_string(), &["candidate_text", "normal_stop"]);
}
