//! An MCP server with bad manners: late answers, and tools that change in the middle of a run.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{
    Agent, CancelWhen, Effect, Event, Journal, ModelReply, ModelRequest, Outcome, Reason, RunResult, Runner, Single, Status, Streamed, Tool,
};
use countersign_connect::mcp::server::Patience;
use countersign_connect::mcp::{Launch, Program, Server, Term, Terms};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

async fn odd(patience: Patience) -> Server {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("odd.py").display().to_string();
    Server::connect("odd", &Launch::Program(Program::new(&["python3", &script])), patience).await.unwrap_or_else(|e| panic!("{e}"))
}

/// Everything that is needed to run without anybody's word, for the tools as they are now.
fn trusted(server: &Server) -> Terms {
    let term = |digest: &str| Term { effect: Some(Effect::Read), idempotent: true, trusted: true, evidence: true, digest: Some(digest.to_owned()) };
    Terms(server.definitions().iter().map(|tool| (tool.name.clone(), term(&tool.digest))).collect())
}

/// A run that calls these tools, one after the other.
fn runner(tools: Vec<Arc<dyn Tool>>, calls: &'static [&'static str]) -> Runner {
    let agent = tools.iter().fold(Agent::new("main", ""), |agent, tool| agent.tool(tool.spec()));
    let model = ScriptedModel(move |request: &ModelRequest| match calls.get(replies(&request.transcript)) {
        Some(name) => ModelReply::call(name, "{}"),
        None => ModelReply::text("That is what became of it."),
    });
    let builder = Runner::builder(Single::default(), model).agent(agent);
    tools.into_iter().fold(builder, |builder, tool| builder.shared_tool(tool)).build().expect("it fits together")
}

fn settled(result: &RunResult) -> Vec<(Outcome, String)> {
    let settled = |event: &Event| match event {
        Event::ToolSettled { outcome, text, .. } => Some((*outcome, text.to_string())),
        _ => None,
    };
    result.run.ledger().log().iter().filter_map(|r| settled(&r.event)).collect()
}

/// The late result of a run, once it is there.
async fn late(journal: &Arc<dyn Journal>, run: &str) -> (Outcome, String) {
    let mut after = 0;
    loop {
        for record in journal.read(run, after, 100).await.expect("it can be read") {
            after = record.seq;
            if let Event::LateResult { outcome, text, .. } = &record.event {
                return (*outcome, text.to_string());
            }
        }
        journal.grown(run, after).await.expect("it can be waited for");
    }
}

#[tokio::test]
async fn what_a_server_says_after_a_cancel_is_recorded_as_late() {
    let server = odd(Patience::default()).await;
    let runner = runner(server.tools(&trusted(&server)).expect("they can be offered"), &["odd__late"]);
    let run = runner.start("r", "wait").expect("it starts");
    let mut events = run.events(0);
    while let Some(Ok(next)) = events.next().await {
        // The server has the call, as it says itself.
        if matches!(next, Streamed::Progress { .. }) {
            run.cancel(CancelWhen::AtOnce);
        }
    }
    let result = run.result().await.expect("it comes to rest");
    assert_eq!((result.status(), settled(&result)[0].0), (Status::Cancelled, Outcome::Cancelled));
    assert!(!result.log().contains("after all"));
    assert_eq!(late(runner.journal(), "r").await, (Outcome::Completed, "here it is after all".to_owned()));
    let summary = runner.journal().summary("r").await.expect("it can be read").expect("it is there");
    assert_eq!((summary.status, summary.reason), (Status::Cancelled, Some(Reason::UserCancelled)));
}

/// The same where the call was out of time, and its run goes on.
#[tokio::test]
async fn what_a_server_says_after_its_time_is_recorded_as_late() {
    let patience = Patience { silence: Duration::from_secs(1), ..Patience::default() };
    let server = odd(patience).await;
    let runner = runner(server.tools(&trusted(&server)).expect("they can be offered"), &["odd__late", "odd__late", "odd__look"]);
    let result = runner.run("wait").await.expect("it comes to rest");
    assert_eq!((result.status(), settled(&result)[0].0), (Status::Completed, Outcome::TimedOut), "{}", result.log());
    let late: Vec<_> = result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::LateResult { .. })).collect();
    assert!(!late.is_empty(), "the first came while the second was waited for: {}", result.log());
    assert_eq!(settled(&result)[2], (Outcome::Completed, "it is open".to_owned()));
}

#[tokio::test]
async fn a_tool_that_changes_in_the_middle_of_a_run_is_not_called_until_a_person_has_looked() {
    let server = odd(Patience::default()).await;
    let terms = trusted(&server);
    let runner = runner(server.tools(&terms).expect("they can be offered"), &["odd__look", "odd__change", "odd__look"]);
    let result = runner.run("look").await.expect("it comes to rest");
    let settled = settled(&result);
    assert_eq!((settled[0].0, settled[1].0, settled[2].0), (Outcome::Completed, Outcome::Completed, Outcome::Failed));
    assert!(settled[2].1.contains("the definition of `look` has changed since it was offered"), "{settled:?}");
    // Taken up as it is now, it is strict again, and so is nothing else.
    let now = server.relisted().await.expect("it answers");
    assert_eq!(now.outdated(&terms), ["look"]);
    let approval = |name: &str| {
        let tools = now.tools(&terms).expect("they can be offered");
        tools.iter().find(|tool| *tool.spec().name == *name).expect("it is there").spec().declared().approval
    };
    assert_eq!((approval("odd__look"), approval("odd__change")), (true, false));
}
