//! Programs in the background: a handle, a look, a stop, and an end with the run.
#![cfg(unix)]

use super::commands::commands;
use super::{open, scratch};
use countersign::testing::ScriptedModel;
use countersign::transcript::{Message, message, replies};
use countersign::{Agent, CancelWhen, Event, ModelReply, ModelRequest, Outcome, RunResult, Runner, RunnerBuilder, Single, Status};
use countersign_examples::fix::scratch::Scratch;
use std::sync::Arc;

const SERVER: &str = "echo up; mkfifo up; sleep 600\n";

fn builder(folder: &Scratch, model: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> RunnerBuilder {
    let commands = Arc::new(commands(folder, &["sh {path}"]));
    let tools = commands.job_tools();
    let agent = tools.iter().fold(Agent::new("main", ""), |agent, tool| agent.tool(tool.spec()));
    tools.into_iter().fold(Runner::builder(Single::default(), ScriptedModel(model)).agent(agent), RunnerBuilder::shared_tool)
}

/// What the model was told of the call before.
fn told(request: &ModelRequest) -> String {
    match request.transcript.iter().rev().find_map(message) {
        Some(Message::Result { text, .. }) => text,
        _ => String::new(),
    }
}

fn ends(result: &RunResult) -> Vec<(Outcome, String)> {
    let end = |event: &Event| match event {
        Event::BackgroundEnded { outcome, text, .. } => Some((*outcome, text.to_string())),
        _ => None,
    };
    result.run.ledger().log().iter().filter_map(|r| end(&r.event)).collect()
}

#[tokio::test]
async fn a_job_is_looked_at_and_stopped_by_its_name() {
    let folder = scratch(&[("server.sh", SERVER)]);
    let model = |request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("start_command", r#"{"job":"server","argv":["sh","server.sh"]}"#),
        1 => ModelReply::call("job_output", r#"{"job":"client"}"#),
        // It looks until there is something to see.
        _ if told(request).contains("no job is called `client`; those that run are: `server`") || told(request).is_empty() => {
            ModelReply::call("job_output", r#"{"job":"server"}"#)
        }
        _ if told(request) == "up\n" => ModelReply::call("stop_job", r#"{"job":"server"}"#),
        _ => ModelReply::text("It was up."),
    };
    let mut policy = countersign::Policy::default();
    policy.limits.repeats = 10_000;
    policy.limits.turns = 10_000;
    policy.limits.tool_calls = 10_000;
    let runner = builder(&folder, model).policy(policy).build().expect("it fits together");
    let result = runner.run("start the server").await.expect("it comes to rest");
    assert_eq!(result.text(), Some("It was up."), "{}", result.log());
    assert_eq!(ends(&result), [(Outcome::Failed, "job `server` was stopped\nup\n".to_owned())]);
}

#[tokio::test]
async fn a_job_that_ends_by_itself_says_how() {
    let folder = scratch(&[("short.sh", "echo done\n")]);
    let model = |request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("start_command", r#"{"job":"short","argv":["sh","short.sh"]}"#),
        _ => ModelReply::text("It ended."),
    };
    let runner = builder(&folder, model).build().expect("it fits together");
    let result = runner.run("run it").await.expect("it comes to rest");
    assert_eq!((result.status(), ends(&result)), (Status::Completed, vec![(Outcome::Completed, "job `short` passed\ndone\n".to_owned())]));
}

#[tokio::test]
async fn a_cancelled_run_kills_its_jobs() {
    let folder = scratch(&[("server.sh", SERVER)]);
    let model = |request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("start_command", r#"{"job":"server","argv":["sh","server.sh"]}"#),
        _ => ModelReply::text("It runs."),
    };
    let runner = builder(&folder, model).build().expect("it fits together");
    let run = runner.start("jobs", "start the server").expect("it starts");
    let root = open(&folder).root().to_owned();
    while !root.join("up").exists() {
        tokio::task::yield_now().await;
    }
    run.cancel(CancelWhen::AtOnce);
    let result = run.result().await.expect("it comes to rest");
    assert_eq!(result.status(), Status::Cancelled);
    assert_eq!(ends(&result).first().map(|(outcome, _)| *outcome), Some(Outcome::Cancelled));
}
