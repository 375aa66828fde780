//! What becomes of runs when their server goes and another comes.

use super::{runner, serve, server};
use crate::scratch::Scratch;
use countersign::{Batch, Journal, Labels, MemoryJournal, SqliteJournal, journal};
use countersign_server::Token;
use serde_json::json;
use std::sync::Arc;

/// A journal in which a run of somebody stops short after so many events, as if its process had died.
async fn cut_short(events: usize) -> Arc<dyn Journal> {
    let whole: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let owner = Token::new(Some("ann"), super::ANN).unwrap().owner().0.clone();
    let labels = Labels { owner: Some(owner), profile: Some("looks".into()), ..Labels::default() };
    runner("looks").on(whole.clone()).start_as("left", "See to it.", labels).await.unwrap().result().await.unwrap();
    let log = journal::read_all(&*whole, "left").await.unwrap();
    let cut: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    cut.append(Batch::new(&"left".into(), 0, &log[..events])).await.unwrap();
    cut
}

#[tokio::test]
async fn a_run_whose_process_died_goes_on_by_itself() {
    for events in 1..12 {
        let journal = cut_short(events).await;
        let served = serve(server(journal.clone()), journal).await;
        let card = served.rest("left").await;
        assert_eq!(card["message"]["content"], "I looked, and it is as expected.", "cut after {events}: {card:#}");
        let frames = served.client.stream("/api/runs/left/stream", &[]).await.all().await;
        assert_eq!(frames.iter().filter(|frame| frame.event == "response").count(), 1, "cut after {events}");
        served.stop().await;
    }
}

#[tokio::test]
async fn a_parked_run_stays_parked_and_is_its_owners_in_a_file() {
    let scratch = Scratch::new();
    let open = || -> Arc<dyn Journal> { Arc::new(SqliteJournal::open(scratch.file("runs.db")).unwrap()) };
    let journal = open();
    let first = serve(server(journal.clone()), journal).await;
    let run = first.start("pays").await;
    let before = first.rest(&run).await;
    assert_eq!(before["phase"], "awaiting_approval");
    drop(first.stop().await);
    let journal = open();
    let second = serve(server(journal.clone()), journal).await;
    let after = second.client.get(&format!("/api/runs/{run}")).await.json();
    assert_eq!(after, before);
    assert_eq!(second.client.as_(super::BOB).get(&format!("/api/runs/{run}")).await.status, 404);
    assert_eq!(second.client.as_(super::BOB).get("/api/runs").await.json()["runs"], json!([]));
    assert_eq!(second.client.get("/api/runs").await.json()["runs"][0]["run"], run.as_str());
    let path = format!("/api/runs/{run}/approvals/{}", after["waiting"]["approvals"][0]["approval"]);
    assert_eq!(second.client.post(&path, &json!({ "granted": true })).await.status, 202);
    assert_eq!(second.rest(&run).await["message"]["content"], "Bill 17 is paid.");
    second.stop().await;
}

#[tokio::test]
async fn a_server_that_leaves_lets_nothing_begin_and_runs_end() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let bound = server(journal.clone()).bind("127.0.0.1:0").await.unwrap();
    let state = bound.state().clone();
    let who = state.tokens().who(super::ANN).unwrap();
    let order = || countersign_server::Order { profile: Some("looks".into()), ..countersign_server::Order::task("See to it.") };
    let run = state.runs().start(&who, order()).await.unwrap();
    // Told to leave at once.
    bound.serve(std::future::ready(())).await;
    assert_eq!(state.runs().at_work(), 0);
    assert!(journal.summary(&run.run).await.unwrap().unwrap().status.is_terminal());
    let late = state.runs().start(&who, order()).await.err().unwrap();
    assert_eq!(late.to_string(), "the server is shutting down; runs go on when it is back");
}
