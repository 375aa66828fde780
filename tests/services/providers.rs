//! Both APIs, as a foreign server speaks them.

use crate::aimock::{CHAOS, Mock, ask};
use countersign::ledger::Entry;
use countersign::{
    Agent, Declared, Effect, Event, Finish, FnTool, ModeRules, ModelRequest, NodeId, Policy, Record, Retry, RunStarted, Runner, Single, Status, Tool,
    ToolSpec, Usage,
};
use countersign_connect::model::key::Key;
use countersign_connect::model::{Api, ChatModel, Settings, SetupError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const APIS: [Api; 2] = [Api::Openai, Api::Anthropic];

/// A request as the runtime makes it: the beginning of a run.
pub fn request(agent: Agent, task: &str) -> ModelRequest {
    let start = RunStarted::new("r", task, "single", ModeRules::owner("main"), Policy::default());
    let record = Arc::new(Record { seq: 1, at_ms: 0, event: Event::RunStarted(Box::new(start)) });
    let entry = Entry { record, node: NodeId(0), call: NodeId(0) };
    ModelRequest {
        run: "r".into(),
        activation: NodeId(0),
        agent: Arc::new(agent),
        transcript: Arc::new(vec![entry]),
        history: None,
        images: None,
        attempt: 0,
    }
}

fn looker() -> Agent {
    let look =
        ToolSpec::run("look", "Looks at a door.", json!({"type": "object", "properties": {"door": {"type": "string"}}}), Declared::run(Effect::Read));
    Agent::new("main", "You look after a house.").tool(look)
}

fn says(response: Value) -> Value {
    json!([{"match": {"userMessage": "front"}, "response": response}])
}

#[tokio::test]
async fn text_comes_with_its_reasoning_and_what_it_cost() {
    for (api, usage) in [
        (Api::Openai, json!({"prompt_tokens": 1000, "completion_tokens": 500})),
        (Api::Anthropic, json!({"input_tokens": 1000, "output_tokens": 500})),
    ] {
        let mock =
            Mock::play(&says(json!({"content": "The front door is open, as far as I can see.", "reasoning": "It stands ajar.", "usage": usage})));
        let reply = ask(&mock.model(api), looker(), "the front door?").await.expect("it answers");
        assert_eq!((&*reply.text, reply.finish), ("The front door is open, as far as I can see.", Finish::Stop), "{api:?}");
        assert_eq!(reply.reasoning.as_deref(), Some("It stands ajar."), "{api:?}");
        let cost = Usage { input_tokens: 1000, output_tokens: 500, cost_micros: 6_000 };
        assert_eq!(reply.usage, Some(cost), "{api:?}");
    }
}

#[tokio::test]
async fn calls_come_side_by_side_each_with_its_arguments() {
    let calls = json!([{"name": "look", "arguments": {"door": "front"}, "id": "a"}, {"name": "look", "arguments": {"door": "back"}, "id": "b"}]);
    let mock = Mock::play(&says(json!({"content": "Let me see.", "toolCalls": calls})));
    for api in APIS {
        let reply = ask(&mock.model(api), looker(), "the front door?").await.expect("it answers");
        assert_eq!(reply.finish, Finish::ToolCalls, "{api:?}");
        let called: Vec<(&str, &str, Option<&str>)> = reply.calls.iter().map(|c| (&*c.name, &*c.args, c.id.as_deref())).collect();
        assert_eq!(called, [("look", r#"{"door":"front"}"#, Some("a")), ("look", r#"{"door":"back"}"#, Some("b"))], "{api:?}");
        assert_eq!(&*reply.text, "Let me see.", "{api:?}");
    }
}

#[tokio::test]
async fn every_finish_reason_is_kept() {
    for (said, finish) in [("stop", Finish::Stop), ("length", Finish::Length), ("content_filter", Finish::ContentFilter)] {
        let mock = Mock::play(&says(json!({"content": "The front", "finishReason": said})));
        let reply = ask(&mock.model(Api::Openai), looker(), "the front door?").await.expect("it answers");
        assert_eq!(reply.finish, finish, "{said}");
    }
    for (said, finish) in [("end_turn", Finish::Stop), ("max_tokens", Finish::Length), ("refusal", Finish::Refusal)] {
        let mock = Mock::play(&says(json!({"content": "The front", "finishReason": said})));
        let reply = ask(&mock.model(Api::Anthropic), looker(), "the front door?").await.expect("it answers");
        assert_eq!(reply.finish, finish, "{said}");
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_an_error_with_what_had_come() {
    let fixtures = json!([{
        "match": {"userMessage": "front"}, "response": {"content": "The front door is open, as far as I can see."},
        "chunkSize": 10, "latency": 5, "truncateAfterChunks": 5,
    }]);
    let mock = Mock::play(&fixtures);
    for api in APIS {
        let error = ask(&mock.model(api), looker(), "the front door?").await.expect_err("it is cut");
        let partial = error.partial.clone().unwrap_or_default();
        assert!("The front door is open, as far as I can see.".starts_with(&partial) && !partial.is_empty(), "{api:?}: {error:?}");
        assert!(matches!(error.retry, Retry::After(_)), "{api:?}: {error:?}");
    }
}

#[tokio::test]
async fn every_kind_of_chaos_is_an_error_that_may_pass() {
    for (flag, what) in CHAOS {
        let mock = Mock::chaos(&says(json!({"content": "The front door is open."})), flag);
        for api in APIS {
            let error = ask(&mock.model(api), looker(), "the front door?").await.expect_err(what);
            assert!(matches!(error.retry, Retry::After(_)), "{flag} {api:?}: {error:?}");
            assert!(error.partial.is_none(), "{flag} {api:?}: {error:?}");
        }
    }
}

#[tokio::test]
async fn what_the_provider_asks_for_is_waited_and_no_longer_than_anybody_waits() {
    let limited = says(json!({"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 7}));
    let mock = Mock::play(&limited);
    for api in APIS {
        let mut settings = mock.settings(api);
        settings.patience.retry_max_ms = 60_000;
        let error = ask(&ChatModel::new(settings.clone()).expect("it can be set up"), looker(), "the front door?").await.expect_err("it is refused");
        assert_eq!(error.retry, Retry::After(Duration::from_secs(7)), "{api:?}: {error:?}");
        settings.patience.retry_max_ms = 1_000;
        let error = ask(&ChatModel::new(settings).expect("it can be set up"), looker(), "the front door?").await.expect_err("it is refused");
        assert_eq!(error.retry, Retry::After(Duration::from_secs(1)), "{api:?}");
    }
}

#[tokio::test]
async fn what_can_never_be_accepted_is_not_tried_again() {
    for (status, kind) in [(400, "invalid_request_error"), (401, "authentication_error"), (404, "not_found_error")] {
        let mock = Mock::play(&says(json!({"error": {"message": "no", "type": kind}, "status": status})));
        for api in APIS {
            let error = ask(&mock.model(api), looker(), "the front door?").await.expect_err("it is refused");
            assert_eq!(error.retry, Retry::Never, "{status} {api:?}: {error:?}");
            assert!(error.message.contains(&status.to_string()), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_slow_or_gone_is_an_error_that_may_pass() {
    let slow = json!([{"match": {"userMessage": "front"}, "response": {"content": "The front door."}, "chaos": {"latencyMs": 20_000}}]);
    let mock = Mock::play(&slow);
    let mut settings = mock.settings(Api::Openai);
    settings.patience.first_ms = 100;
    let error = ask(&ChatModel::new(settings.clone()).expect("it can be set up"), looker(), "the front door?").await.expect_err("it is slow");
    assert!(matches!(error.retry, Retry::After(_)), "{error:?}");
    settings.patience.whole_ms = 50;
    let error = ask(&ChatModel::new(settings.clone()).expect("it can be set up"), looker(), "the front door?").await.expect_err("it is slow");
    assert!(error.message.contains("took longer than 50ms"), "{error:?}");
    drop(mock);
    let error = ask(&ChatModel::new(settings).expect("it can be set up"), looker(), "the front door?").await.expect_err("it is gone");
    assert!(error.message.contains("the connection failed") && matches!(error.retry, Retry::After(_)), "{error:?}");
}

/// A provider that echoes the key in its error does not get it into the log, nor does anything else.
#[tokio::test]
async fn a_key_is_in_no_event_and_no_error() {
    const SECRET: &str = "sk-very-secret-0123456789";
    let echo = json!({"error": {"message": format!("incorrect key {SECRET}"), "type": "authentication_error"}, "status": 401});
    let mock = Mock::play(&says(echo));
    for api in APIS {
        let model = ChatModel::with_key(mock.settings(api), Some(Key::new(SECRET))).expect("it can be set up");
        let runner = Runner::builder(Single::default(), model).agent(Agent::new("main", "")).build().expect("it fits together");
        let result = runner.run("the front door?").await.expect("it comes to rest");
        assert_eq!(result.status(), Status::Failed);
        assert!(result.log().contains("incorrect key [key]"), "{}", result.log());
        assert!(!result.log().contains(SECRET));
    }
    assert_eq!(format!("{:?}", Key::new(SECRET)), "[key]");
}

#[test]
fn a_model_that_cannot_be_set_up_says_why() {
    let no_key = Settings { key_env: Some("COUNTERSIGN_NO_SUCH_KEY".into()), ..Settings::openai("m") };
    assert!(matches!(ChatModel::new(no_key), Err(SetupError::Key(_))));
    assert!(matches!(ChatModel::new(Settings::at("not an address", "m")), Err(SetupError::BaseUrl(_))));
    assert!(matches!(ChatModel::new(Settings::at("ftp://host/v1", "m")), Err(SetupError::BaseUrl(_))));
}

/// Pieces arrive while the answer is written, and come to the answer.
#[tokio::test]
async fn text_is_handed_on_as_it_comes() {
    let said = "The front door is open, as far as I can see.";
    let fixtures = json!([{"match": {"userMessage": "front"}, "response": {"content": said}, "chunkSize": 8, "latency": 5}]);
    let mock = Mock::play(&fixtures);
    let look = FnTool::plain("look", "Looks.", Declared::run(Effect::Read), |_: Value| Ok(""));
    let agent = Agent::new("main", "").tool(look.spec());
    let runner = Runner::builder(Single::default(), mock.model(Api::Openai)).agent(agent).tool(look).build().expect("it fits together");
    let run = runner.start("streamed", "the front door?").expect("it starts");
    let mut events = run.events(0);
    let mut pieces = Vec::new();
    while let Some(Ok(next)) = events.next().await {
        if let countersign::Streamed::Delta { text, .. } = next {
            pieces.push(text.to_string());
        }
    }
    let result = run.result().await.expect("it comes to rest");
    assert_eq!(result.text(), Some(said));
    assert!(pieces.len() > 1 && pieces.concat() == said, "{pieces:?}");
}
