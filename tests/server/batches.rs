//! A batch outlives its server: what it has accepted goes on at the next start, so many at a time.

use super::{ANN, Served, serve};
use crate::scratch::Scratch;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use countersign_server::state::Bounds;
use countersign_server::{Server, Token};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// Where calls are held, and how many there were at the same time.
struct Desk {
    hold: Semaphore,
    at_once: AtomicUsize,
    most: AtomicUsize,
    begun: mpsc::UnboundedSender<()>,
}

/// A call that is dropped in the middle is not there any more.
struct Seat(Arc<Desk>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::SeqCst);
    }
}

fn runner(desk: &Arc<Desk>) -> Runner {
    let desk = desk.clone();
    let work = FnTool::new("work", "x", Declared { idempotent: true, ..Declared::run(Effect::Read) }, move |_: Value| {
        let desk = desk.clone();
        async move {
            desk.most.fetch_max(desk.at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let seat = Seat(desk);
            let _ = seat.0.begun.send(());
            seat.0.hold.acquire().await.map_err(|why| ToolError::Failed(why.to_string()))?.forget();
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

async fn on(file: &Path, desk: &Arc<Desk>) -> Served {
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(file).unwrap());
    let tokens = [("ann", ANN), ("bob", super::BOB)].map(|(name, secret)| Token::new(Some(name), secret).unwrap());
    let server = tokens.into_iter().fold(Server::new(journal.clone()), Server::token).profile("default", &runner(desk));
    serve(server.bounds(Bounds { drain: Duration::ZERO, ..Bounds::default() }), journal).await
}

/// Each time with what a new process has: nothing but the file.
#[tokio::test]
async fn what_a_batch_has_accepted_goes_on_under_the_same_limit() {
    let (scratch, (begun, mut begins)) = (Scratch::new(), mpsc::unbounded_channel());
    let file = std::path::PathBuf::from(scratch.file("runs.db"));
    let desk = Arc::new(Desk { hold: Semaphore::new(0), at_once: AtomicUsize::new(0), most: AtomicUsize::new(0), begun });
    let first = on(&file, &desk).await;
    let refused = json!({ "task": "Work.", "profile": "nobody" });
    let mut tasks: Vec<Value> = (1..=5).map(|n| json!({ "task": format!("Work {n}.") })).collect();
    tasks.push(refused);
    let batch = first.client.post("/api/batches", &json!({ "tasks": tasks, "concurrency": 2 })).await;
    assert_eq!(batch.status, 202, "{}", batch.text());
    let path = format!("/api/batches/{}", batch.json()["batch"].as_str().unwrap());
    for _ in 0..2 {
        begins.recv().await.unwrap();
    }
    let standing = first.client.get(&path).await.json();
    let begun = |standing: &Value| standing["tasks"].as_array().unwrap().iter().filter(|task| task["run"].is_string()).count();
    assert_eq!((begun(&standing), &standing["settled"]), (2, &json!(false)), "{standing:#}");
    drop(first.stop().await);
    let second = on(&file, &desk).await;
    assert_eq!(second.client.as_(super::BOB).get(&path).await.status, 404);
    for _ in 0..2 {
        begins.recv().await.unwrap();
    }
    desk.hold.add_permits(5);
    let standing = loop {
        let standing = second.client.get(&path).await.json();
        if standing["settled"] == true {
            break standing;
        }
        tokio::task::yield_now().await;
    };
    let reasons: Vec<_> = standing["tasks"].as_array().unwrap().iter().map(|task| task["reason"].as_str().unwrap_or_default()).collect();
    assert_eq!(reasons, ["verified", "verified", "verified", "verified", "verified", ""], "{standing:#}");
    assert!(standing["tasks"][5]["refused"].as_str().unwrap().contains("there is no profile `nobody`"));
    assert_eq!(desk.most.load(Ordering::SeqCst), 2);
    drop(second.stop().await);
    let third = on(&file, &desk).await;
    assert_eq!(begun(&third.client.get(&path).await.json()), 5);
    assert_eq!(third.client.get("/api/runs").await.json()["runs"].as_array().unwrap().len(), 5);
    third.stop().await;
}
