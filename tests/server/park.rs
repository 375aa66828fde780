//! A server that leaves in the middle of runs parks them; whoever comes next goes on with them.

use super::{ANN, Served, serve};
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use countersign_server::state::Bounds;
use countersign_server::{Server, Token};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Somebody whose one call is held until it is let go.
fn held(hold: &Arc<Semaphore>, declared: Declared) -> Runner {
    let hold = hold.clone();
    let work = FnTool::new("work", "x", declared, move |_: Value| {
        let hold = hold.clone();
        async move {
            hold.acquire().await.map_err(|why| ToolError::Failed(why.to_string()))?.forget();
            Ok::<_, ToolError>("worked".to_owned())
        }
    });
    let model = ScriptedModel(|r: &ModelRequest| match replies(&r.transcript) {
        0 => ModelReply::call("work", "1"),
        _ => ModelReply::text("It is done."),
    });
    let agent = Agent::new("main", "").tool(work.spec());
    Runner::builder(Single::default(), model).agent(agent).tool(work).policy(Policy::execution()).build().unwrap()
}

async fn on(journal: &Arc<dyn Journal>, runner: &Runner) -> Served {
    let server = Server::new(journal.clone()).token(Token::new(Some("ann"), ANN).unwrap()).profile("held", runner);
    serve(server.bounds(Bounds { drain: Duration::ZERO, ..Bounds::default() }), journal.clone()).await
}

/// Starts a run, leaves in the middle of its call, and comes back.
async fn left(declared: Declared) -> (Arc<Semaphore>, Served, String) {
    let (journal, hold): (Arc<dyn Journal>, _) = (Arc::new(MemoryJournal::new()), Arc::new(Semaphore::new(0)));
    let runner = held(&hold, declared);
    let first = on(&journal, &runner).await;
    let run = first.start("held").await;
    first.client.stream(&format!("/api/runs/{run}/stream"), &[]).await.until("tool_call").await;
    let journal = first.stop().await;
    let log = journal::read_all(&*journal, &run).await.unwrap();
    assert!(matches!(log.last().unwrap().event, Event::Stopped { cause: Cause::Pause, .. }), "{:?}", log.last());
    assert_eq!(journal.summary(&run).await.unwrap().unwrap().status, Status::InProgress);
    (hold, on(&journal, &runner).await, run)
}

async fn count(served: &Served, run: &str, is: impl Fn(&Event) -> bool) -> usize {
    journal::read_all(&*served.journal, run).await.unwrap().iter().filter(|record| is(&record.event)).count()
}

#[tokio::test]
async fn what_may_be_done_twice_is_done_again_and_nothing_looks_like_a_crash() {
    let (hold, served, run) = left(Declared { idempotent: true, ..Declared::run(Effect::Read) }).await;
    hold.add_permits(1);
    let card = served.rest(&run).await;
    assert_eq!((&card["reason"], &card["message"]["content"]), (&json!("verified"), &json!("It is done.")), "{card:#}");
    assert_eq!(count(&served, &run, |event| matches!(event, Event::Crashed)).await, 0);
    assert_eq!(count(&served, &run, |event| matches!(event, Event::Resumed { by: ResumedBy::Crash, .. })).await, 1);
    served.stop().await;
}

#[tokio::test]
async fn what_may_not_be_done_twice_is_asked_about() {
    let (_hold, served, run) = left(Declared::run(Effect::Write)).await;
    let card = served.rest(&run).await;
    assert_eq!((&card["phase"], &card["reason"]), (&json!("blocked"), &json!("unknown_outcome")), "{card:#}");
    let path = format!("/api/runs/{run}/resolve/{}", card["waiting"]["lost"][0]["call"]);
    assert_eq!(served.client.post(&path, &json!({ "outcome": "completed", "text": "I saw it" })).await.status, 202);
    let card = served.rest(&run).await;
    assert_eq!(card["message"]["content"], "It is done.", "{card:#}");
    served.stop().await;
}
