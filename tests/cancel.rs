//! The three kinds of cancellation, on a clock that stands still until everybody waits.

use crate::driver::{base, replay_equal, turns};
use countersign::*;
use std::time::Duration;

/// Takes 100 ms for a reply: one call, then an answer.
struct Slow;

#[async_trait::async_trait]
impl Model for Slow {
    async fn reply(&self, request: ModelRequest, _: &Deltas) -> Result<ModelReply, ModelError> {
        let turn = turns(&request);
        drop(request);
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(if turn == 0 { ModelReply::call("slow", "{}") } else { ModelReply::text("done") })
    }
}

/// Cancels a run at a moment: model until 100 ms, tool until 200 ms, model until 300 ms.
async fn cancelled(at_ms: u64, when: CancelWhen) -> RunResult {
    let slow = || {
        FnTool::new("slow", "takes 100 ms", Declared::run(Effect::Write), |_: serde_json::Value| async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok("looked")
        })
    };
    let runner = base(Single::default(), Slow).tool(slow()).agent(Agent::new("main", "").tool(slow().spec())).build().unwrap();
    let live = runner.start("r", "task").unwrap();
    tokio::time::sleep(Duration::from_millis(at_ms)).await;
    live.cancel(when);
    let result = live.result().await.unwrap();
    assert_eq!((result.status(), result.reason(), result.text()), (Status::Cancelled, Reason::UserCancelled, None));
    assert!(result.run.ledger().open().tools.is_empty() && result.run.ledger().open().activations.is_empty());
    replay_equal(&result);
    result
}

fn replies(result: &RunResult) -> u32 {
    result.run.ledger().totals().turns
}

fn outcomes(result: &RunResult) -> Vec<Outcome> {
    let settled = |r: &std::sync::Arc<Record>| match &r.event {
        Event::ToolSettled { outcome, .. } => Some(*outcome),
        _ => None,
    };
    result.run.ledger().log().iter().filter_map(settled).collect()
}

#[tokio::test(start_paused = true)]
async fn at_once_abandons_what_is_under_way() {
    let in_model = cancelled(50, CancelWhen::AtOnce).await;
    assert_eq!((replies(&in_model), outcomes(&in_model)), (0, vec![]));
    let in_tool = cancelled(150, CancelWhen::AtOnce).await;
    assert_eq!((replies(&in_tool), outcomes(&in_tool)), (1, vec![Outcome::Cancelled]));
}

#[tokio::test(start_paused = true)]
async fn after_the_reply_keeps_the_reply_and_runs_no_tool() {
    let result = cancelled(50, CancelWhen::AfterReply).await;
    assert_eq!((replies(&result), outcomes(&result)), (1, vec![Outcome::Cancelled]));
}

#[tokio::test(start_paused = true)]
async fn after_the_tools_keeps_their_results_and_asks_no_model() {
    let result = cancelled(150, CancelWhen::AfterTools).await;
    assert_eq!((replies(&result), outcomes(&result)), (1, vec![Outcome::Completed]));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_after_the_user_has_cancelled_is_none() {
    let result = cancelled(250, CancelWhen::AfterReply).await;
    assert_eq!(replies(&result), 2);
    assert!(result.final_response.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaps_calls_steps_sub_agents_and_jobs_that_are_under_way() {
    let forever = |name: &'static str, declared: Declared| {
        FnTool::new(name, "never ends", declared, |_: serde_json::Value| std::future::pending::<Result<String, ToolError>>())
    };
    let tools = || (forever("hang", Declared::run(Effect::Write)), forever("build", Declared { background: true, ..Declared::run(Effect::Write) }));
    let script = |r: &ModelRequest| match (&*r.agent.name, turns(r)) {
        ("main", 0) => ModelReply::call("task", r#"{"task":"a"}"#).and_call("build", "1"),
        _ => ModelReply::call("hang", "1"),
    };
    let (hang, build) = tools();
    let main = Agent::new("main", "").tool(ToolSpec::delegate("task", "helper")).tool(build.spec());
    let builder = Runner::builder(Deep::default(), testing::ScriptedModel(script)).agent(main).agent(Agent::new("helper", "").tool(hang.spec()));
    let live = builder.tool(hang).tool(build).build().unwrap().start("r", "task").unwrap();
    tokio::time::sleep(Duration::from_millis(10)).await;
    live.cancel(CancelWhen::AtOnce);
    let result = live.result().await.unwrap();
    let ledger = result.run.ledger();
    assert_eq!(result.reason(), Reason::UserCancelled);
    assert_eq!(ledger.tool_runs().len(), 3);
    assert!(ledger.tool_runs().iter().all(|r| r.state == RunState::Settled(Outcome::Cancelled)), "{:?}", ledger.tool_runs());
    assert!(ledger.activations().iter().all(|a| !a.open || a.id == ROOT) && ledger.open().jobs.is_empty());
    replay_equal(&result);
}
