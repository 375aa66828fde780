//! Plan-execute mode: a planner writes steps, executors carry out what is ready side by side, and a replanner
//! looks at what came of them.
//!
//! What to look at: one step comes back empty. The replanner tries to answer all the same, which the gate
//! refuses, as two steps are open; then it says of each why it cannot be done. The answer goes out as
//! `verified_partial`, with what failed listed. An executor's words can never be the answer.

use countersign::testing::ScriptedModel;
use countersign::transcript::{question, replies};
use countersign::{Agent, Declared, Effect, Event, FnTool, ModelReply, ModelRequest, PlanExecute, Policy, Runner, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// What the tool takes.
#[derive(Deserialize, JsonSchema)]
struct Room {
    /// Which room.
    room: String,
}

fn planner(_: &ModelRequest) -> ModelReply {
    let steps = json!([
        { "id": "kitchen", "text": "measure the kitchen" },
        { "id": "cellar", "text": "measure the cellar" },
        { "id": "sum", "text": "add both up", "needs": ["kitchen", "cellar"] },
    ]);
    ModelReply::call("plan", json!({ "steps": steps }).to_string())
}

fn executor(request: &ModelRequest) -> ModelReply {
    match replies(&request.transcript) {
        _ if question(&request.transcript).contains("step `cellar`") => ModelReply::text(""), // it has nothing to say
        0 => ModelReply::call("measure", r#"{"room":"kitchen"}"#),
        _ => ModelReply::text("The kitchen has 12 square metres."),
    }
}

fn replanner(request: &ModelRequest) -> ModelReply {
    let answer = "The kitchen has 12 square metres; nobody could measure the cellar.";
    let blocked = json!([{ "id": "cellar", "why": "it is locked" }, { "id": "sum", "why": "the cellar is missing" }]);
    let blocked = if replies(&request.transcript) == 0 { json!([]) } else { blocked };
    ModelReply::call("verdict", json!({ "act": "respond", "answer": answer, "blocked": blocked }).to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedModel(|request: &ModelRequest| match &*request.agent.name {
        "planner" => planner(request),
        "executor" => executor(request),
        _ => replanner(request),
    });
    let measure =
        FnTool::plain("measure", "Measures a room.", Declared::run(Effect::Read), |args: Room| Ok(format!("{}: 12 square metres", args.room)));
    let runner = Runner::builder(PlanExecute, model)
        .agent(PlanExecute::planner("You plan."))
        .agent(Agent::new("executor", "You carry out one step.").tool(measure.spec()))
        .agent(PlanExecute::replanner("You look at what came of the plan."))
        .tool(measure)
        .policy(Policy::execution())
        .build()?;

    let result = runner.run("How large are the kitchen and the cellar?").await?;

    for record in result.run.ledger().log() {
        match &record.event {
            Event::PlanMade { steps, .. } => steps.iter().for_each(|step| println!("step `{}`: {}", step.id, step.text)),
            Event::StepSettled { outcome, why, .. } => println!("a step is given up ({outcome:?}): {why}"),
            Event::Decided { decision, .. } => {
                println!("ruling: {}, {} steps open", decision.completion_reason.name(), decision.pending_plan_steps.len());
            }
            _ => {}
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    println!("what failed: {}", result.decision.failed_refs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    Ok(())
}
