//! Typed finals: an answer that does not fit is a missing check, of which the model is told.

use countersign::testing::ScriptedModel;
use countersign::transcript::{Message, message, replies};
use countersign::{Agent, ModelReply, ModelRequest, NotFinal, Reason, Runner, Single, Status};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bill {
    cents: u64,
}

fn runner(answers: &'static [&'static str]) -> Runner {
    let model = ScriptedModel(|request: &ModelRequest| ModelReply::text(answers[replies(&request.transcript).min(answers.len() - 1)]));
    Runner::builder(Single::default(), model).agent(Agent::new("main", "")).answers::<Bill>().build().expect("it fits together")
}

#[tokio::test]
async fn an_answer_that_fits_is_of_its_type() {
    let bill = runner(&[r#"{"cents": 1200}"#]).run_as::<Bill>("add it up").await.expect("it comes to rest");
    assert_eq!(bill.expect("it is final"), Bill { cents: 1200 });
}

#[tokio::test]
async fn one_that_does_not_fit_is_refused_and_the_agent_is_told_the_schema() {
    let told = ScriptedModel(|request: &ModelRequest| {
        let last = request.transcript.iter().rev().find_map(message);
        match last {
            Some(Message::User(text)) if text.contains("answer_fits") && text.contains("\"cents\"") => ModelReply::text(r#"{"cents": 1200}"#),
            _ => ModelReply::text("It comes to the secret sum of 12 euros."),
        }
    });
    let runner = Runner::builder(Single::default(), told).agent(Agent::new("main", "")).answers::<Bill>().build().expect("it fits together");
    let result = runner.run("add it up").await.expect("it comes to rest");
    assert_eq!(result.parse::<Bill>().expect("it is final"), Bill { cents: 1200 });
    assert!(!result.decision.missing_checks.iter().any(|f| f.message.contains("secret")));
}

#[tokio::test]
async fn it_is_told_a_bounded_number_of_times() {
    let result =
        runner(&["twelve", r#"{"euros": 12}"#, r#"{"cents": "1200"}"#, r#"{"cents": 1200}"#]).run("add it up").await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Blocked, Reason::CustomCheck), "{}", result.log());
    assert!(matches!(result.parse::<Bill>(), Err(NotFinal::Refused(_))));
}
