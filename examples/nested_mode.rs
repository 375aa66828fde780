//! A mode used as an agent of another mode: a single agent hands a question to a whole deep team.
//!
//! What to look at: both are in one log, and the gate rules on each. The team's first try is refused inside and
//! mended there; its final is then evidence for the outer agent, who alone concludes.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Deep, Event, ModelReply, ModelRequest, ROOT, Runner, Single, ToolSpec};
use serde_json::json;

/// Everybody's lines, by agent and turn.
fn model(request: &ModelRequest) -> ModelReply {
    let back = request.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. }));
    match (&*request.agent.name, replies(&request.transcript)) {
        ("front", 0) => ModelReply::call("ask_team", r#"{"task":"Can the old bridge carry a bus?"}"#),
        ("front", _) => ModelReply::text("No. Our engineers looked into it: send the bus by the new bridge."),
        ("main", 0) => ModelReply::call("ask_engineer", r#"{"task":"How much can it carry?"}"#),
        ("main", 1) => ModelReply::text("It looks solid."), // says nothing of what the engineer found
        ("main", _) => {
            let account: Vec<_> = back.map(|e| json!({ "result": e.node, "disposition": "adopted" })).collect();
            ModelReply::call("conclude", json!({ "answer": "It carries 3 tons and a bus weighs 12: no.", "dispositions": account }).to_string())
        }
        _ => ModelReply::text("Three tons, by the survey of last year."),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runner = Runner::builder(Single { agent: "front" }, ScriptedModel(model))
        .agent(Agent::new("front", "You answer the public.").tool(ToolSpec::delegate("ask_team", "team")))
        .agent(Agent::mode("team", Deep::default())) // an agent that is a mode
        .agent(Agent::new("main", "You lead the team.").tool(ToolSpec::delegate("ask_engineer", "engineer")).tool(ToolSpec::conclude()))
        .agent(Agent::new("engineer", "You know bridges."))
        .build()?;

    let result = runner.run("Can the bus take the old bridge?").await?;

    for record in result.run.ledger().log() {
        if let Event::Decided { scope, decision, .. } = &record.event {
            let whose = if *scope == ROOT { "the run" } else { "the team inside" };
            println!("ruling on {whose}: {}", decision.completion_reason.name());
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    Ok(())
}
