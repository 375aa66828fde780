//! Deep mode: a main agent puts two sub-agents to work side by side and concludes from their reports.
//!
//! What to look at: the two claim different things under one key. The first conclusion passes over that and is
//! refused; the second settles it by name. Each result has to be accounted for, and what is said to be
//! uncertain ends up in the report.

use countersign::testing::ScriptedModel;
use countersign::transcript::{question, replies};
use countersign::{Agent, Deep, Event, ModelReply, ModelRequest, RunReport, Runner, ToolSpec};
use serde_json::json;

/// The ids of the results that an agent was given.
fn results(request: &ModelRequest) -> Vec<u32> {
    let back = |e: &&countersign::ledger::Entry| matches!(e.record.event, Event::ActivationEnded { .. });
    request.transcript.iter().filter(back).map(|e| e.node.0).collect()
}

fn main_agent(request: &ModelRequest) -> ModelReply {
    let adopted: Vec<_> = results(request).iter().map(|id| json!({ "result": id, "disposition": "adopted" })).collect();
    match replies(&request.transcript) {
        0 => ModelReply::call("ask_reader", r#"{"task":"When was the bridge built, by the plaque?"}"#)
            .and_call("ask_reader", r#"{"task":"When was the bridge built, by the archive?"}"#),
        1 => ModelReply::call("conclude", json!({ "answer": "It was built in 1890.", "dispositions": adopted }).to_string()),
        _ => {
            let conclusion = json!({
                "answer": "It was opened in 1892; the plaque gives the year in which work began.",
                "dispositions": adopted,
                "resolved": [{ "key": "built", "why": "the archive has the opening, the plaque the first stone" }],
                "uncertainties": ["the archive's page is torn"],
                "next_actions": ["ask the town for its copy"],
            });
            ModelReply::call("conclude", conclusion.to_string())
        }
    }
}

fn reader(request: &ModelRequest) -> ModelReply {
    let (source, year) = if question(&request.transcript).contains("plaque") { ("plaque", "1890") } else { ("archive", "1892") };
    let report = json!({ "summary": format!("The {source} says {year}."), "claims": [{ "key": "built", "value": year }] });
    ModelReply::call("report", report.to_string())
}

fn model(request: &ModelRequest) -> ModelReply {
    if &*request.agent.name == "main" { main_agent(request) } else { reader(request) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runner = Runner::builder(Deep::default(), ScriptedModel(model))
        .agent(Agent::new("main", "You write about bridges.").tool(ToolSpec::delegate("ask_reader", "reader")).tool(ToolSpec::conclude()))
        .agent(Agent::new("reader", "You read one source.").tool(ToolSpec::report()))
        .build()?;

    let result = runner.start("bridge", "When was the bridge built?")?.result().await?;

    for record in result.run.ledger().log() {
        if let Event::Decided { decision, .. } = &record.event {
            println!("ruling: {}", decision.completion_reason.name());
            decision.conflicts.iter().filter(|_| !decision.finalizable).for_each(|key| println!("  two results disagree on `{key}`"));
        }
    }
    println!("\n{}", result.text().unwrap_or("no answer"));
    let report = RunReport::of(result.run.ledger(), &result.decision);
    println!("\n{}", report.to_markdown());
    Ok(())
}
