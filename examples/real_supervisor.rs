//! A supervisor with two specialists, and a real model: `cargo run -p countersign-services --example real_supervisor`.
//!
//! The key is in `OPENAI_API_KEY`; `OPENAI_BASE_URL` leads to any other server that speaks the same.

use countersign::{Agent, Runner, Supervisor, ToolSpec};
use countersign_connect::model::{ChatModel, Settings};
use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let desk = Agent::new("supervisor", "You run the desk. Have specialists look into it, then conclude.")
        .tool(ToolSpec::transfer("billing"))
        .tool(ToolSpec::transfer("shipping"))
        .tool(ToolSpec::conclude());
    let runner = Runner::builder(Supervisor::default(), ChatModel::new(Settings::openai("gpt-5-mini"))?)
        .agent(desk)
        .agent(Agent::new("billing", "You know about bills."))
        .agent(Agent::new("shipping", "You know about parcels."))
        .build()?;
    let result = runner.run("I paid, and nothing came.").await?;
    println!("{}", result.text().unwrap_or("no final answer"));
    Ok(())
}
