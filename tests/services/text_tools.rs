//! Tools for models that have none of their own: read strictly, or not at all.

use crate::aimock::{Mock, ask};
use countersign::{Agent, Declared, Effect, Event, Finish, FnTool, ModelReply, Policy, Reason, RunResult, Runner, Single, Status, Tool, ToolSpec};
use countersign_connect::model::{Api, ChatModel, Protocol};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const FENCED: &str = "```call\n{\"name\": \"look\", \"arguments\": {\"door\": \"front\"}}\n```";
const SCHEMA: &str = r#"{"reply":{"call":"look","arguments":{"door":"front"}}}"#;
const ANSWER: &str = "The front door stands open.";

#[derive(Deserialize, JsonSchema)]
struct Door {
    door: String,
}

fn look() -> impl Tool {
    FnTool::plain("look", "Looks at a door.", Declared::run(Effect::Read), |args: Door| Ok(format!("the {} door is open", args.door)))
}

fn model(mock: &Mock, protocol: Protocol) -> ChatModel {
    ChatModel::new(countersign_connect::model::Settings { protocol, ..mock.settings(Api::Openai) }).expect("it can be set up")
}

/// What a reply of this text is read as.
async fn read(protocol: Protocol, agent: Agent, said: &str) -> ModelReply {
    let mock = Mock::play(&json!([{"match": {"userMessage": "front"}, "response": {"content": said}}]));
    ask(&model(&mock, protocol), agent, "the front door?").await.expect("it answers")
}

fn agent() -> Agent {
    Agent::new("main", "You look after a house.").tool(look().spec())
}

fn called(reply: &ModelReply) -> Vec<(&str, Value)> {
    reply.calls.iter().map(|c| (&*c.name, serde_json::from_str(&c.args).expect("arguments are JSON"))).collect()
}

#[tokio::test]
async fn calls_are_all_of_the_text() {
    let front = ("look", json!({"door": "front"}));
    let twice = format!("{FENCED}\n\n{FENCED}\n");
    for (protocol, said, wanted) in [(Protocol::Fenced, FENCED, 1), (Protocol::Fenced, &twice, 2), (Protocol::Schema, SCHEMA, 1)] {
        let reply = read(protocol, agent(), said).await;
        assert_eq!((called(&reply), reply.finish, reply.markup), (vec![front.clone(); wanted], Finish::ToolCalls, false), "{said}");
        assert_eq!(&*reply.text, "", "a call is no text");
    }
}

#[tokio::test]
async fn an_answer_is_one() {
    for (protocol, said) in [
        (Protocol::Fenced, ANSWER.to_owned()),
        (Protocol::Native, ANSWER.to_owned()),
        (Protocol::Native, "Write `<tool_call>` to call a tool.".to_owned()),
        (Protocol::Schema, json!({"reply": {"answer": ANSWER}}).to_string()),
    ] {
        let reply = read(protocol, agent(), &said).await;
        assert!(reply.calls.is_empty() && !reply.markup && reply.finish == Finish::Stop, "{said}: {reply:?}");
        assert!(said.contains(&*reply.text), "{reply:?}");
    }
}

#[tokio::test]
async fn what_is_neither_a_call_nor_an_answer_is_neither() {
    let fenced = |text: &str| (Protocol::Fenced, text.to_owned());
    let schema = |text: &str| (Protocol::Schema, text.to_owned());
    let native = |text: &str| (Protocol::Native, text.to_owned());
    for (protocol, said) in [
        fenced(&format!("I will look.\n{FENCED}")),
        fenced(&format!("{FENCED}\nI have looked: it is open.")),
        fenced("```call\n{\"name\": \"look\"}\n```"),
        fenced("```call\n{\"name\": \"look\", \"arguments\": {}, \"why\": \"curious\"}\n```"),
        fenced("```call\nlook(front)\n```"),
        fenced("```call\n{\"name\": \"look\", \"arguments\": {}}"),
        fenced("<tool_call>{\"name\": \"look\"}</tool_call>"),
        schema(ANSWER),
        schema(&format!("Sure: {SCHEMA}")),
        schema(&format!("{SCHEMA}{SCHEMA}")),
        schema(r#"{"reply":{"call":"look"}}"#),
        schema(r#"{"reply":{"call":"look","arguments":{},"answer":"both"}}"#),
        schema(r#"{"call":"look","arguments":{}}"#),
        native("I will look.\n<tool_call>\n{\"name\": \"look\"}\n</tool_call>"),
        native("[TOOL_CALLS] [{\"name\": \"look\"}]"),
        native("<function=look>{}</function>"),
    ] {
        let reply = read(protocol, agent(), &said).await;
        assert!(reply.calls.is_empty() && reply.markup, "{protocol:?} {said}: {reply:?}");
    }
}

/// An agent that can only end by one tool writes its arguments, and cannot answer in another way.
#[tokio::test]
async fn an_agent_that_owes_an_output_writes_nothing_else() {
    let owes = || Agent::new("main", "").tool(ToolSpec::output::<Door>("door", "End with the door."));
    let reply = read(Protocol::Schema, owes(), r#"{"door":"front"}"#).await;
    assert_eq!(called(&reply), [("door", json!({"door": "front"}))]);
    assert!(read(Protocol::Schema, owes(), ANSWER).await.markup);
    let more = owes().tool(look().spec());
    assert!(read(Protocol::Schema, more, &json!({"reply": {"answer": ANSWER}}).to_string()).await.markup);
}

async fn run(protocol: Protocol, turns: &[String]) -> (RunResult, Mock) {
    let turn = |(at, said): (usize, &String)| json!({"match": {"systemMessage": "house", "turnIndex": at}, "response": {"content": said}});
    let mock = Mock::play(&turns.iter().enumerate().map(turn).collect());
    let look = look();
    let runner = Runner::builder(Single::default(), model(&mock, protocol)).agent(agent()).tool(look).policy(Policy::execution()).build();
    (runner.expect("it fits together").run("the front door?").await.expect("it comes to rest"), mock)
}

#[tokio::test]
async fn a_run_without_tools_of_the_provider_is_verified() {
    let answer = json!({"reply": {"answer": ANSWER}}).to_string();
    for (protocol, turns) in [(Protocol::Fenced, [FENCED.to_owned(), ANSWER.to_owned()]), (Protocol::Schema, [SCHEMA.to_owned(), answer])] {
        let (result, mock) = run(protocol, &turns).await;
        assert_eq!((result.text(), result.reason()), (Some(ANSWER), Reason::Verified), "{protocol:?}: {}", result.log());
        // What the server was sent: no tools, the call and its result as text, and a schema where there is one.
        let journal = crate::pages::get(&mock.url("/__aimock/journal")).await;
        let asked: Value = serde_json::from_str(&journal).expect("it is JSON");
        let bodies: Vec<&Value> = asked.as_array().expect("it is a list").iter().map(|entry| &entry["body"]).collect();
        assert_eq!(bodies.len(), 2);
        for body in &bodies {
            assert!(body.get("tools").is_none(), "{body}");
            assert_eq!(body["response_format"]["type"] == "json_schema", protocol == Protocol::Schema, "{body}");
        }
        let roles: Vec<&str> = bodies[1]["messages"].as_array().expect("a list").iter().filter_map(|m| m["role"].as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        assert_eq!(bodies[1]["messages"][3]["content"], "Result of `look`:\nthe front door is open");
    }
}

/// A call inside prose is refused as an answer, the agent is told, and what it does then counts.
#[tokio::test]
async fn a_call_inside_prose_is_no_answer() {
    let prose = format!("I will look.\n{FENCED}");
    let (result, _mock) = run(Protocol::Fenced, &[prose.clone(), FENCED.to_owned(), ANSWER.to_owned()]).await;
    assert_eq!((result.text(), result.reason()), (Some(ANSWER), Reason::Verified), "{}", result.log());
    let markup = |decision: &countersign::Decision| decision.missing_checks.iter().any(|f| f.message.contains("written out as prose"));
    let refused = |event: &Event| matches!(event, Event::Decided { decision, .. } if !decision.finalizable && markup(decision));
    assert_eq!(result.run.ledger().log().iter().filter(|r| refused(&r.event)).count(), 1, "{}", result.log());
    let (result, _mock) = run(Protocol::Fenced, &[prose.clone(), prose.clone(), prose.clone(), prose]).await;
    assert_eq!(result.status(), Status::Blocked, "{}", result.log());
    assert!(result.final_response.is_none());
}
