//! Drives a run in a schema of a database, and stands still inside its tool until it is killed.

#![allow(clippy::unwrap_used)]

use countersign::testing::ScriptedModel;
use countersign::*;
use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let (dsn, schema) = (args.next().unwrap(), args.next().unwrap());
    let journal = PostgresJournal::open_with(&dsn, PostgresOptions { schema, ..PostgresOptions::default() }).await.unwrap();
    let look = FnTool::new("look", "x", Declared::run(Effect::Read), |_: serde_json::Value| async {
        println!("here");
        std::future::pending::<Result<String, ToolError>>().await
    });
    let agent = Agent::new("main", "").tool(look.spec());
    let model = ScriptedModel(|_: &ModelRequest| ModelReply::call("look", "1"));
    let builder = Runner::builder(Single::default(), model).agent(agent).tool(look).policy(Policy::execution()).journal(Arc::new(journal));
    builder.build().unwrap().start("driven", "Look, please").unwrap().result().await.unwrap();
}
