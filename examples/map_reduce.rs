//! A mode of one's own: the same question about each item of a list, side by side, then one answer from all.
//!
//! What to look at: `ask_as` reads structured output. A mapper can only end by calling `length`, and what does
//! not parse goes back to it, never to the mode. The list itself is written by an agent too, so the number of
//! questions is known only once it is there; the code says nothing special about that.

use countersign::testing::ScriptedModel;
use countersign::transcript::question;
use countersign::{Agent, Answer, Event, Flow, Mode, ModeRules, ModelReply, ModelRequest, Runner, ToolSpec, Work, all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the splitter ends with.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Items {
    items: Vec<String>,
}

/// What each mapper ends with.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Length {
    metres: u32,
}

/// Split, map, reduce.
struct MapReduce;

impl Mode for MapReduce {
    fn name(&self) -> &str {
        "map_reduce"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("reducer")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let list = work.ask_as::<Items>("splitter", "split", task.clone())?.value.items;
        let asked = list.iter().map(|item| work.ask_as::<Length>("mapper", format_args!("map/{item}"), format!("How long is {item}?")));
        let lengths = all(asked)?;
        let total: u32 = lengths.iter().map(|length| length.value.metres).sum();
        let answer = work.ask("reducer", "reduce", format!("{task}\n\n{} parts, {total} metres in all.", list.len()))?;
        work.answer(answer)
    }
}

/// A model that knows three bridges.
fn model(request: &ModelRequest) -> ModelReply {
    let asked = question(&request.transcript);
    match &*request.agent.name {
        "splitter" => ModelReply::call("items", r#"{"items":["the old bridge","the new bridge","the footbridge"]}"#),
        "mapper" if asked.contains("old") => ModelReply::call("length", r#"{"metres":120}"#),
        "mapper" if asked.contains("new") => ModelReply::call("length", r#"{"metres":300}"#),
        "mapper" => ModelReply::call("length", r#"{"metres":40}"#),
        _ => ModelReply::text(format!("By the figures: {}", asked.lines().last().unwrap_or_default())),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runner = Runner::builder(MapReduce, ScriptedModel(model))
        .agent(Agent::new("splitter", "You list the parts.").tool(ToolSpec::output::<Items>("items", "End with the list.")))
        .agent(Agent::new("mapper", "You know one part.").tool(ToolSpec::output::<Length>("length", "End with the length.")))
        .agent(Agent::new("reducer", "You sum up."))
        .build()?;

    let result = runner.run("How long are the bridges of this town together?").await?;

    for record in result.run.ledger().log() {
        if let Event::ActivationStarted { agent, key, .. } = &record.event {
            println!("{key}: {agent} is asked");
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    Ok(())
}
