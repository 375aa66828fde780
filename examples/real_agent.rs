//! One agent with one typed tool, and a real model: `cargo run -p countersign-services --example real_agent`.
//!
//! The key is in `OPENAI_API_KEY`; `OPENAI_BASE_URL` leads to any other server that speaks the same.

use countersign::{Agent, Declared, Effect, FnTool, Runner, Single, Tool};
use countersign_connect::model::{ChatModel, Settings};
use std::error::Error;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let weather = FnTool::plain("weather", "Tells the weather.", Declared::run(Effect::Read), |at: Place| Ok(format!("rain in {}", at.city)));
    let agent = Agent::new("main", "You answer questions about the weather.").tool(weather.spec());
    let runner = Runner::builder(Single::default(), ChatModel::new(Settings::openai("gpt-5-mini"))?).agent(agent).tool(weather).build()?;
    println!("{}", runner.run("Do I need an umbrella in Graz?").await?.text().unwrap_or("no final answer"));
    Ok(())
}
