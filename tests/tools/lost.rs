//! A tool whose runner is gone: what may be run twice has failed, and nobody guesses about the rest.

use countersign::live::Command;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{
    Agent, Declared, Effect, Event, FnTool, ModelReply, ModelRequest, OnLost, Outcome, Policy, Reason, RunResult, Runner, Single, Status, Tool,
    ToolError,
};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A tool that is lost at its first call and works afterwards.
fn runner(declared: Declared, on_lost: OnLost) -> (Runner, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let pay = FnTool::plain("pay", "Pays.", declared, move |_: Value| match counted.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ToolError::Lost("the server died".into())),
        _ => Ok("paid"),
    });
    let model = ScriptedModel(|request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("pay", "{}"),
        _ => ModelReply::text("That is what became of it."),
    });
    let policy = Policy { on_lost, ..Policy::default() };
    let builder = Runner::builder(Single::default(), model).agent(Agent::new("main", "").tool(pay.spec())).tool(pay).policy(policy);
    (builder.build().expect("it fits together"), calls)
}

fn settled(result: &RunResult) -> Vec<Outcome> {
    let settled = |event: &Event| if let Event::ToolSettled { outcome, .. } = event { Some(*outcome) } else { None };
    result.run.ledger().log().iter().filter_map(|r| settled(&r.event)).collect()
}

#[tokio::test]
async fn a_lost_write_parks_the_run_until_somebody_resolves_it() {
    let (runner, _) = runner(Declared::run(Effect::Write), OnLost::Ask);
    let result = runner.start("lost", "pay").expect("it starts").result().await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Blocked, Reason::UnknownOutcome), "{}", result.log());
    assert_eq!(settled(&result), [Outcome::Lost]);
    let call = result.run.ledger().open().lost.iter().next().expect("it is open");
    let resolved = Command::Resolve { call, outcome: Some(Outcome::Completed), text: "the bank says that it was paid".into(), by: "me".into() };
    let result = runner.resume("lost", vec![resolved], None).await.expect("it is resumed").result().await.expect("it comes to rest");
    assert_eq!((result.status(), settled(&result)), (Status::Completed, vec![Outcome::Lost, Outcome::Completed]), "{}", result.log());
}

#[tokio::test]
async fn a_policy_resolves_it_at_once() {
    let (failing, calls) = runner(Declared::run(Effect::Write), OnLost::Fail);
    let result = failing.run("pay").await.expect("it comes to rest");
    assert_eq!((settled(&result), calls.load(Ordering::Relaxed)), (vec![Outcome::Lost, Outcome::Failed], 1), "{}", result.log());
    assert_eq!(result.status(), Status::Completed);
    let (retrying, calls) = runner(Declared::run(Effect::Write), OnLost::Retry);
    let result = retrying.run("pay").await.expect("it comes to rest");
    assert_eq!((settled(&result), calls.load(Ordering::Relaxed)), (vec![Outcome::Lost, Outcome::Completed], 2), "{}", result.log());
}

#[tokio::test]
async fn a_lost_read_has_failed() {
    let (runner, _) = runner(Declared::run(Effect::Read), OnLost::Ask);
    let result = runner.run("pay").await.expect("it comes to rest");
    assert_eq!((result.status(), settled(&result)), (Status::Completed, vec![Outcome::Failed]), "{}", result.log());
}
