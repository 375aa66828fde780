//! What runs in processes of their own: the server, and the bare driver.

use super::{CALLS, RUNS};
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{
    Agent, BuildError, Declared, Effect, FnTool, Journal, JournalError, ModelReply, ModelRequest, Policy, Runner, Single, SqliteJournal, Tool,
};
use countersign_server::pace::{Rate, Rates};
use countersign_server::state::Bounds;
use countersign_server::{Server, Token};
use cpu_time::ProcessTime;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// The token of the load client.
pub(super) const TOKEN: &str = "load-0123456789abcdef";

/// Calls a tool so often, the first time one that has to be granted where it is to park, and answers.
fn runner(parks: bool) -> Result<Runner, BuildError> {
    let look = FnTool::plain("look", "Looks.", Declared::run(Effect::Read), |n: u32| Ok(format!("{n}: all is as it should be")));
    let declared = Declared { approval: true, ..Declared::run(Effect::Write) };
    let pay = FnTool::plain("pay", "Pays.", declared, |n: u32| Ok(format!("{n} is paid")));
    let agent = Agent::new("main", "").tool(look.spec()).tool(pay.spec());
    let model = ScriptedModel(move |request: &ModelRequest| match replies(&request.transcript) {
        0 if parks => ModelReply::call("pay", "0"),
        n if n < CALLS => ModelReply::call("look", n.to_string()),
        _ => ModelReply::text("All is as it should be."),
    });
    Runner::builder(Single::default(), model).agent(agent).tool(look).tool(pay).policy(Policy::execution()).build()
}

fn journal(folder: &str) -> Result<Arc<dyn Journal>, JournalError> {
    Ok(Arc::new(SqliteJournal::open(Path::new(folder).join("runs.db"))?))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Serves until it is killed.
pub(crate) fn serve(folder: &str) -> Result<(), Box<dyn Error>> {
    let often = Rate::new(1_000_000, 1_000_000);
    let rates = Rates { requests: often, starts: often, strangers: often };
    let server = Server::new(journal(folder)?).token(Token::new(Some("load"), TOKEN)?).bounds(Bounds { rates, ..Bounds::default() });
    let server = server.profile("parks", &runner(true)?).profile("works", &runner(false)?);
    runtime()?.block_on(async {
        let bound = server.bind("127.0.0.1:0").await?;
        println!("{}", bound.addr());
        bound.serve(std::future::pending()).await;
        Ok(())
    })
}

/// Runs without a server, and says how many microseconds of the processors an event took.
pub(crate) fn bare(folder: &str) -> Result<(), Box<dyn Error>> {
    let runner = runner(false)?.on(journal(folder)?);
    let cpu = ProcessTime::now();
    let events: u32 = runtime()?.block_on(async {
        let runs = (0..RUNS).map(|n| runner.start(&format!("run-{n}"), "Look at all of it.")).collect::<Result<Vec<_>, _>>()?;
        let mut events = 0;
        for run in runs {
            events += run.result().await?.run.ledger().seq();
        }
        Ok::<_, countersign::DriveError>(events)
    })?;
    println!("{}", cpu.elapsed().as_secs_f64() * 1e6 / f64::from(events));
    Ok(())
}
