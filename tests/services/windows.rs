//! Transcripts that are too long for their model: shorter for the call, whole in the ledger.

use crate::aimock::Mock;
use countersign::{Agent, Declared, Effect, Event, FnTool, Policy, Reason, Runner, Single, Status, Tool};
use countersign_connect::model::settings::Settings;
use countersign_connect::model::window::{Called, Came, Talk, Turn};
use countersign_connect::model::{Api, ChatModel, Compaction, KeepNewest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Page {
    page: u32,
}

const PAGES: u32 = 12;
const LONG: usize = 6_000;

fn reader(mock: &Mock, window_tokens: Option<usize>) -> ChatModel {
    ChatModel::new(Settings { window_tokens, ..mock.settings(Api::Openai) }).expect("it can be set up")
}

/// Reads page after page, then answers.
fn script() -> Value {
    let read = |at: u32| json!({"match": {"systemMessage": "pages", "hasToolResult": at > 0, "sequenceIndex": at.saturating_sub(1)}, "response": {"toolCalls": [{"name": "read", "arguments": {"page": at}}]}});
    let answer = json!({"match": {"systemMessage": "pages", "hasToolResult": true, "sequenceIndex": PAGES - 1}, "response": {"content": "All pages were read."}});
    (0..PAGES).map(read).chain([answer]).collect()
}

#[tokio::test]
async fn a_long_run_fits_its_window_and_its_evidence_is_whole() {
    let mock = Mock::play(&script());
    let read =
        FnTool::plain("read", "Reads a page.", Declared::run(Effect::Read), |args: Page| Ok(format!("page {}: {}", args.page, "x".repeat(LONG))));
    let agent = Agent::new("main", "You read pages.").tool(read.spec());
    let window = 16_000;
    let runner = Runner::builder(Single::default(), reader(&mock, Some(window))).agent(agent).tool(read).policy(Policy::execution()).build();
    let result = runner.expect("it fits together").run("Read them all.").await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Completed, Reason::Verified), "{}", result.log());
    assert_eq!(result.decision.evidence_refs.len() as u32, PAGES, "every page counts");
    let whole = |event: &Event| matches!(event, Event::ToolSettled { text, .. } if text.len() > LONG);
    assert_eq!(result.run.ledger().log().iter().filter(|r| whole(&r.event)).count() as u32, PAGES, "and the ledger has all of it");
    let asked: Value = serde_json::from_str(&crate::pages::get(&mock.url("/__aimock/journal")).await).expect("it is JSON");
    let last = asked.as_array().and_then(|list| list.last()).expect("it was asked").clone();
    let messages = last["body"]["messages"].as_array().expect("a list").clone();
    let size: usize = messages.iter().map(|m| m.to_string().len()).sum();
    assert!(size < window * 3 && size > LONG, "{size} characters");
    // Each call that is shown has its result behind it.
    for pair in messages.windows(2).filter(|pair| pair[0].get("tool_calls").is_some()) {
        assert_eq!(pair[0]["tool_calls"][0]["id"], pair[1]["tool_call_id"], "{pair:?}");
    }
    assert!(messages.iter().any(|m| m.to_string().contains("[shortened: call_")), "older results are shown by their beginning");
}

fn pair(at: usize, text: &str) -> [Turn; 2] {
    let (id, name) = (format!("call_{at}"), "read".to_owned());
    let call = Called { id: id.clone(), name: name.clone(), args: "{}".into() };
    [Turn::Assistant { text: String::new(), calls: vec![call] }, Turn::Results(vec![Came { id, name, text: text.into() }])]
}

#[test]
fn the_newest_turns_and_the_question_stay() {
    let mut turns = vec![Turn::user("the question")];
    (0..20).for_each(|at| turns.extend(pair(at, &"x".repeat(900))));
    let now = |turns: Vec<Turn>| Talk { before: Vec::new(), now: turns };
    let short = KeepNewest::default().compact(now(turns.clone()), 2_000);
    assert!(short.tokens() <= 2_000, "{}", short.tokens());
    let short = short.now;
    assert!(matches!(&short[0], Turn::User { text, .. } if text.starts_with("the question") && text.contains("earlier turns are left out")));
    assert_eq!(short[short.len() - 6..], turns[turns.len() - 6..], "the newest are as they were");
    assert_eq!(KeepNewest::default().compact(now(turns[..3].to_vec()), 100_000).now, turns[..3], "what fits is left alone");
}

/// The oldest messages of the conversation go first, and the question stays.
#[test]
fn a_long_conversation_makes_room_for_the_run() {
    let said = |text: &str| Turn::Assistant { text: text.into(), calls: Vec::new() };
    let before: Vec<Turn> = (0..20).flat_map(|at| [Turn::user(format!("message {at}")), said(&"x".repeat(300))]).collect();
    let mut now = vec![Turn::user("the question")];
    (0..3).for_each(|at| now.extend(pair(at, "seen")));
    let short = KeepNewest::default().compact(Talk { before: before.clone(), now: now.clone() }, 1_000);
    assert!(short.tokens() <= 1_000 + 20, "{}", short.tokens());
    assert_eq!(short.now, now, "the run is whole");
    let kept = short.before.len() - 1;
    assert_eq!(short.before[1..], before[before.len() - kept..], "the newest are as they were");
    assert_eq!(short.before[0], Turn::user(format!("[{} earlier messages of this conversation are left out here]", before.len() - kept)));
}

/// A compaction of one's own that tears a call from its result is not sent.
#[tokio::test]
async fn calls_and_results_stay_paired_or_nothing_is_sent() {
    struct Torn;
    impl Compaction for Torn {
        fn compact(&self, mut talk: Talk, _: usize) -> Talk {
            talk.now.retain(|turn| !matches!(turn, Turn::Results(_)));
            talk
        }
    }
    let mock = Mock::play(&script());
    let read = FnTool::plain("read", "Reads a page.", Declared::run(Effect::Read), |_: Page| Ok("x".repeat(LONG)));
    let agent = Agent::new("main", "You read pages.").tool(read.spec());
    let model = reader(&mock, Some(500)).compaction(Torn);
    let result = Runner::builder(Single::default(), model).agent(agent).tool(read).build().expect("it fits together").run("Read.").await;
    let result = result.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Failed, Reason::ProviderError));
    assert!(result.log().contains("shortened between a call and its result") && result.log().contains("\"lasting\":true"), "{}", result.log());
}
