//! Several runs in one conversation, over real HTTP: what a provider is sent of those before.

use crate::aimock::Mock;
use countersign::{Agent, Policy, Runner, Single, Status};
use countersign_connect::model::Api;
use serde_json::{Value, json};

/// The messages of each request that a server was sent, as `role: text`.
pub async fn sent(mock: &Mock) -> Vec<Vec<String>> {
    let journal: Value = serde_json::from_str(&crate::pages::get(&mock.url("/__aimock/journal")).await).expect("it is JSON");
    let text = |content: &Value| content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    let messages = |entry: &Value| entry["body"]["messages"].as_array().cloned().unwrap_or_default();
    let line = |message: &Value| format!("{}: {}", message["role"].as_str().unwrap_or_default(), text(&message["content"]));
    journal.as_array().expect("it is a list").iter().map(|entry| messages(entry).iter().map(line).collect()).collect()
}

#[tokio::test]
async fn a_provider_is_sent_what_was_said_before_as_messages() {
    for api in [Api::Openai, Api::Anthropic] {
        let script = json!([
            {"match": {"userMessage": "sunday"}, "response": {"content": "One train goes."}},
            {"match": {"userMessage": "which"}, "response": {"content": "Two trains go."}},
            {"match": {"userMessage": "guess"}, "response": {"content": "A secret guess."}},
            {"match": {"userMessage": "not final"}, "response": {"content": "Another secret guess."}},
        ]);
        let mock = Mock::play(&script);
        let runner = Runner::builder(Single::default(), mock.model(api)).agent(Agent::new("main", "You know trains."));
        let runner = runner.build().expect("it fits together");
        assert_eq!(runner.converse("trip", "which trains go?").await.expect("it comes to rest").text(), Some("Two trains go."));
        // One that is refused, in the same conversation, on terms of its own.
        let look = countersign::FnTool::plain("look", "Looks.", countersign::Declared::run(countersign::Effect::Read), |_: Value| Ok(""));
        let strict =
            Runner::builder(Single::default(), mock.model(api)).agent(Agent::new("main", "").tool(countersign::Tool::spec(&look))).tool(look);
        let strict = strict.policy(Policy::execution()).journal(runner.journal().clone()).build().expect("it fits together");
        assert_eq!(strict.converse("trip", "guess").await.expect("it comes to rest").status(), Status::Blocked);
        assert_eq!(runner.converse("trip", "and on sunday?").await.expect("it comes to rest").text(), Some("One train goes."));
        let last = sent(&mock).await.pop().expect("it was asked");
        let told = ["user: which trains go?", "assistant: Two trains go.", "user: guess\n\n[this got no answer: blocked]\n\nand on sunday?"];
        assert_eq!(last.iter().filter(|line| !line.starts_with("system")).collect::<Vec<_>>(), told.iter().collect::<Vec<_>>(), "{api:?}");
    }
}
