//! One agent with a tool. Its first answer rests on nothing, so the gate refuses it and says what is missing;
//! the agent looks, answers again, and the second answer is final.
//!
//! What to look at: the model below is free to say anything at any time. Only the evidence decides.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Declared, Effect, Event, FnTool, ModelReply, ModelRequest, Policy, Runner, Single, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the tool takes; the model is shown its schema.
#[derive(Deserialize, JsonSchema)]
struct Door {
    /// Which door.
    door: String,
}

/// A model that answers first and looks only when it is told to.
fn model(request: &ModelRequest) -> ModelReply {
    match replies(&request.transcript) {
        0 => ModelReply::text("The front door is surely locked."),
        1 => ModelReply::call("look", r#"{"door":"front"}"#),
        _ => ModelReply::text("The front door is open: I looked."),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let look = FnTool::plain("look", "Looks at a door.", Declared::run(Effect::Read), |args: Door| Ok(format!("the {} door is open", args.door)));
    let runner = Runner::builder(Single::default(), ScriptedModel(model))
        .agent(Agent::new("main", "You look after a house.").tool(look.spec()))
        .tool(look)
        .policy(Policy::execution()) // an answer must rest on work that was done
        .build()?;

    let result = runner.run("Is the front door locked?").await?;

    for record in result.run.ledger().log() {
        match &record.event {
            Event::ModelReplied { text, calls, .. } if calls.is_empty() => println!("the model says:  {text}"),
            Event::ModelReplied { calls, .. } => calls.iter().for_each(|call| println!("the model calls: {} {}", call.name, call.args)),
            Event::ToolSettled { text, .. } => println!("the tool says:   {text}"),
            Event::Decided { decision, .. } => println!("the gate rules:  {}", decision.completion_reason.name()),
            _ => {}
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    println!("it rests on: {}", result.decision.evidence_refs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    Ok(())
}
