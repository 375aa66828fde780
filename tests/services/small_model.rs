//! A real model of 135 million parameters: its answers have the form that they must. Whether they are wise is not asked.

use crate::llama::Llama;
use countersign::{
    Agent, Declared, Effect, Event, Finish, FnTool, PlanExecute, PlanOutput, Policy, ReplanVerdict, RunResult, Runner, Single, Status, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Door {
    door: String,
}

fn look() -> impl Tool {
    FnTool::plain("look", "Looks at a door.", Declared::run(Effect::Read), |args: Door| Ok(format!("the {} door is open", args.door)))
}

/// Few turns: it may go on for ever.
fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.limits.turns = 8;
    policy.limits.replans = 1;
    policy
}

/// Calls of every reply that was not cut short, by name; checks that none was prose and none failed.
fn calls(result: &RunResult) -> Vec<(String, String)> {
    let mut calls = Vec::new();
    for record in result.run.ledger().log() {
        match &record.event {
            Event::ModelFailed { why, .. } => panic!("the server failed: {why}"),
            Event::ModelReplied { finish: Finish::Length, .. } => {}
            Event::ModelReplied { extra, calls: made, text, .. } => {
                assert!(!extra.as_ref().is_some_and(|e| e.markup), "neither an answer nor a call: {text}");
                assert!(extra.as_ref().is_some_and(|e| e.usage.is_some_and(|u| u.input_tokens > 0 && u.output_tokens > 0)), "it says what it used");
                calls.extend(made.iter().map(|c| (c.name.to_string(), c.args.to_string())));
            }
            _ => {}
        }
    }
    calls
}

#[tokio::test]
async fn it_answers_and_calls_in_single_mode() {
    let llama = Llama::start();
    let plain = Runner::builder(Single::default(), llama.model()).agent(Agent::new("main", "Answer in one word.")).policy(policy());
    let result = plain.build().expect("it fits together").run("Which colour is grass?").await.expect("it comes to rest");
    assert_eq!(result.status(), Status::Completed, "{}", result.log());
    assert!(result.text().is_some_and(|t| !t.trim().is_empty()));

    let look = look();
    let agent = Agent::new("main", "You look after a house.").tool(look.spec());
    let runner = Runner::builder(Single::default(), llama.model()).agent(agent).tool(look).policy(policy()).build().expect("it fits together");
    let result = runner.run("Is the front door open?").await.expect("it comes to rest");
    for (name, args) in calls(&result) {
        assert_eq!(name, "look");
        assert!(serde_json::from_str::<Door>(&args).is_ok(), "{args}");
    }
    assert!(!matches!(result.status(), Status::Failed | Status::Cancelled), "{}", result.log());
}

/// An agent whose only tool has a narrower schema: one that a very small model can hardly fail.
fn narrowed(mut agent: Agent, schema: serde_json::Value) -> Agent {
    let tool = agent.tools.values_mut().next().expect("it has a tool");
    tool.schema = Arc::new(schema);
    agent
}

#[tokio::test]
async fn it_plans_and_concludes_in_plan_execute_mode() {
    let llama = Llama::start();
    let step = json!({"type": "object", "properties": {"id": {"const": "first"}, "text": {"type": "string"}}, "required": ["id", "text"]});
    let plan =
        json!({"type": "object", "properties": {"steps": {"type": "array", "items": step, "minItems": 1, "maxItems": 1}}, "required": ["steps"]});
    let verdict = json!({"type": "object", "properties": {"act": {"const": "respond"}, "answer": {"type": "string"}}, "required": ["act", "answer"]});
    let runner = Runner::builder(PlanExecute, llama.model())
        .agent(narrowed(PlanExecute::planner("Plan one short step."), plan))
        .agent(narrowed(PlanExecute::replanner("Answer from what the steps came to."), verdict))
        .agent(Agent::new("executor", "Carry out the step, in one short sentence."))
        .policy(policy())
        .build()
        .expect("it fits together");
    let result = runner.run("Say which colour grass is.").await.expect("it comes to rest");
    let calls = calls(&result);
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["plan", "verdict"], "{}", result.log());
    assert!(serde_json::from_str::<PlanOutput>(&calls[0].1).is_ok_and(|p| p.steps.len() == 1), "{calls:?}");
    assert!(matches!(serde_json::from_str(&calls[1].1), Ok(ReplanVerdict::Respond { .. })), "{calls:?}");
    let (done, text) = (result.status() == Status::Completed, result.text().unwrap_or_default());
    assert!(done && calls[1].1.contains(text.trim()), "{}", result.log());
}
