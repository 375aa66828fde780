//! A server with scripted agents, to look at without a provider: `cargo run -p countersign-server --example serve`.
//!
//! | profile | what its runs do |
//! |---|---|
//! | `look` | answers at once, is refused, looks, and passes |
//! | `pay` | waits for a grant before it pays |
//! | `team` | a supervisor hands work to a specialist, and concludes |
//! | `stubborn` | never looks, and is blocked |

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{
    Agent, Declared, Effect, Event, FnTool, MemoryJournal, ModelReply, ModelRequest, Policy, Runner, Single, Supervisor, Tool, ToolError, ToolSpec,
};
use countersign_server::{Server, Token};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// What it is about.
    what: String,
}

fn tool(name: &'static str, declared: Declared) -> impl Tool {
    FnTool::new(name, "Does what it is called.", declared, move |args: Args| async move {
        // So that somebody can watch it at work.
        tokio::time::sleep(Duration::from_millis(600)).await;
        Ok::<_, ToolError>(format!("{name}: {} is as it should be", args.what))
    })
}

fn call(tool: &str, what: &str) -> ModelReply {
    ModelReply::call(tool, json!({ "what": what }).to_string())
}

fn looks(r: &ModelRequest) -> ModelReply {
    match replies(&r.transcript) {
        1 => call("look", "the shop"),
        _ => ModelReply::text("The shop is **open**, and all is as it should be."),
    }
}

fn pays(r: &ModelRequest) -> ModelReply {
    match replies(&r.transcript) {
        0 => call("pay", "bill 17"),
        _ => ModelReply::text("I have seen to bill 17."),
    }
}

fn team(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, replies(&r.transcript)) {
        ("supervisor", 0) => ModelReply::call("transfer_to_database", r#"{"task":"Are there slow queries?"}"#),
        ("supervisor", _) => {
            let results = r.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. }));
            let adopted: Vec<_> = results.map(|e| json!({ "result": e.node.0, "disposition": "adopted" })).collect();
            ModelReply::call("conclude", json!({ "answer": "It is not the database.", "dispositions": adopted }).to_string())
        }
        (_, 0) => call("look", "the database"),
        _ => ModelReply::text("The database is fine."),
    }
}

fn runner(mode: &str) -> Result<Runner, countersign::BuildError> {
    let (look, pay) = (tool("look", Declared::run(Effect::Read)), tool("pay", Declared { approval: true, ..Declared::run(Effect::Write) }));
    let main = Agent::new("main", "").tool(look.spec()).tool(pay.spec());
    let desk = Agent::new("supervisor", "").tool(ToolSpec::transfer("database")).tool(ToolSpec::conclude());
    let builder = match mode {
        "team" => Runner::builder(Supervisor::default(), ScriptedModel(team)).agent(desk).agent(Agent::new("database", "").tool(look.spec())),
        "pay" => Runner::builder(Single::default(), ScriptedModel(pays)).agent(main),
        "stubborn" => Runner::builder(Single::default(), ScriptedModel(|_: &ModelRequest| ModelReply::text("Believe me, it is open."))).agent(main),
        _ => Runner::builder(Single::default(), ScriptedModel(looks)).agent(main),
    };
    builder.tool(look).tool(pay).policy(Policy::execution()).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let addr = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8470".to_owned());
    let (secret, token) = match std::env::var("COUNTERSIGN_TOKEN") {
        Ok(secret) => (secret.clone(), Token::new(Some("example"), &secret)?),
        Err(_) => Token::generate("example")?,
    };
    let names = ["look", "pay", "team", "stubborn"];
    let mut server = Server::new(Arc::new(MemoryJournal::new())).token(token);
    for name in names {
        server = server.profile(name, &runner(name)?);
    }
    let server = server.bind(&addr).await?;
    println!("http://{}\ntoken: {secret}\nprofiles: {}", server.addr(), names.join(", "));
    server.serve(async { drop(tokio::signal::ctrl_c().await) }).await;
    Ok(())
}
