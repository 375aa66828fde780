//! Supervisor mode: a supervisor transfers work to two specialists in one reply, gets control back once from
//! each, and concludes.
//!
//! What to look at: a specialist writes `FINAL ANSWER`, and it changes nothing, for its words are evidence.
//! The supervisor then answers in plain text and says nothing of what came back, which is refused.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Event, ModelReply, ModelRequest, Runner, Supervisor, ToolSpec};
use serde_json::json;

fn supervisor(request: &ModelRequest) -> ModelReply {
    let back = request.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. }));
    match replies(&request.transcript) {
        0 => ModelReply::call("transfer_to_billing", r#"{"task":"Was it paid twice?"}"#)
            .and_call("transfer_to_shipping", r#"{"task":"Where is the parcel?"}"#),
        1 => ModelReply::text("All is in order."),
        _ => {
            let account: Vec<_> = back.map(|e| json!({ "result": e.node, "disposition": "adopted" })).collect();
            let conclusion = json!({ "answer": "It was paid once; the parcel comes on Monday.", "dispositions": account });
            ModelReply::call("conclude", conclusion.to_string())
        }
    }
}

fn model(request: &ModelRequest) -> ModelReply {
    match &*request.agent.name {
        "supervisor" => supervisor(request),
        "billing" => ModelReply::text("FINAL ANSWER: it was paid once. The task is complete."),
        _ => ModelReply::text("The parcel is on its way and comes on Monday."),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let desk = Agent::new("supervisor", "You run the desk.")
        .tool(ToolSpec::transfer("billing"))
        .tool(ToolSpec::transfer("shipping"))
        .tool(ToolSpec::conclude());
    let runner = Runner::builder(Supervisor::default(), ScriptedModel(model))
        .agent(desk)
        .agent(Agent::new("billing", "You know about bills."))
        .agent(Agent::new("shipping", "You know about parcels."))
        .build()?;

    let result = runner.run("I paid, and nothing came.").await?;

    for record in result.run.ledger().log() {
        match &record.event {
            Event::ActivationStarted { agent, prompt, .. } => println!("{agent} is asked: {prompt}"),
            Event::Returned { result, .. } => println!("control comes back with result {result}"),
            Event::Decided { decision, .. } => {
                println!("ruling: {}, {} results unaccounted for", decision.completion_reason.name(), decision.unreconciled_results.len());
            }
            _ => {}
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    Ok(())
}
