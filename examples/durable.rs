//! A run that outlives its process. `cargo run --example durable -- FILE` begins a run that needs a person's grant, and
//! ends; the same command again, minutes or days later, grants it and ends with the answer. A third time shows it.

use countersign::live::Command;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use std::sync::Arc;

const RUN: &str = "bill-17";

// ANCHOR: durable
fn runner(file: &str) -> Result<Runner, Box<dyn std::error::Error>> {
    let declared = Declared { approval: true, ..Declared::run(Effect::Write) };
    let pay = FnTool::plain("pay", "Pays a bill.", declared, |bill: u32| Ok(format!("bill {bill} is paid")));
    let agent = Agent::new("main", "Pay what is due.").tool(pay.spec());
    let journal = Arc::new(SqliteJournal::open(file)?);
    Ok(Runner::builder(Single::default(), model()).agent(agent).tool(pay).policy(Policy::execution()).journal(journal).build()?)
}

/// Begins the run, or takes it up with a grant for all that it waits for.
async fn go_on(runner: &Runner) -> Result<RunResult, DriveError> {
    let Some(summary) = runner.journal().summary(RUN).await? else {
        return runner.start(RUN, "Pay bill 17.")?.result().await;
    };
    println!("found run `{RUN}`: {} after {} events", summary.status.name(), summary.seq);
    let parked = runner.read(RUN).await?;
    let grant = |approval| Command::Approve { approval, granted: true, by: "ann".into(), why: "it is due".into(), args: None };
    let grants = parked.ledger().open().approvals.iter().map(grant).collect();
    runner.resume(RUN, grants, None).await?.result().await
}
// ANCHOR_END: durable

/// Stands in for a model: asks for the payment, then says that it was made.
fn model() -> impl Model {
    ScriptedModel(|r: &ModelRequest| if replies(&r.transcript) == 0 { ModelReply::call("pay", "17") } else { ModelReply::text("Bill 17 is paid.") })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("say in which file the run is kept")?;
    let runner = runner(&file)?;
    match go_on(&runner).await {
        Ok(result) => println!("{}", explain(result.run.ledger(), &result.decision).trim_end()),
        Err(DriveError::Ended(_)) => println!("{:?}", runner.journal().message(RUN).await?.unwrap_or_default().content),
        Err(why) => return Err(why.into()),
    }
    Ok(())
}
