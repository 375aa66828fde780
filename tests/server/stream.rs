//! Streams over HTTP: resumed exactly once, in order, by whoever is slow and while nobody waits for him.

use super::http::Frame;
use super::{served, server};
use bytes::Bytes;
use countersign::{Journal, MemoryJournal, ModelReply, ModelRequest, Policy, Single};
use countersign_examples::suite::cast::{call, looker, say, stage, turn};
use countersign_server::Redactor;
use countersign_server::hub::{Follow, Hub};
use serde_json::json;
use std::sync::Arc;

/// Frames that stand for records: previews may be missed.
fn kept(frames: &[Frame]) -> Vec<Frame> {
    frames.iter().filter(|frame| !matches!(&*frame.event, "response_start" | "response_delta" | "response_retracted" | "lagged")).cloned().collect()
}

#[tokio::test]
async fn a_stream_tells_a_run_from_its_beginning_to_its_answer() {
    let served = served().await;
    let run = served.start("looks").await;
    let frames = served.client.stream(&format!("/api/runs/{run}/stream"), &[]).await.all().await;
    let names: Vec<&str> = frames.iter().map(|frame| frame.event.as_str()).collect();
    assert_eq!(names.first(), Some(&"progress"));
    assert_eq!(names.last(), Some(&"done"));
    assert_eq!(names.iter().filter(|name| **name == "done").count(), 1);
    let answer = frames.iter().find(|frame| frame.event == "response").unwrap();
    assert_eq!(answer.data["finalized"], true);
    assert_eq!(answer.data["content"], "I looked, and it is as expected.");
    let ids: Vec<u32> = frames.iter().filter_map(|frame| frame.id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    assert!(frames.iter().all(|frame| frame.event != "response_delta" || frame.id.is_none()));
    served.stop().await;
}

#[tokio::test]
async fn whoever_comes_back_with_any_id_gets_the_rest() {
    let served = served().await;
    let run = served.start("looks").await;
    let path = format!("/api/runs/{run}/stream");
    let whole = kept(&served.client.stream(&path, &[]).await.all().await);
    for at in whole.iter().filter_map(|frame| frame.id) {
        let by_header = kept(&served.client.stream(&path, &[("last-event-id", &at.to_string())]).await.all().await);
        let by_query = kept(&served.client.stream(&format!("{path}?after={at}"), &[]).await.all().await);
        // An event may have several frames; what follows the last of them is the rest.
        let seen = whole.iter().position(|frame| frame.id == Some(at)).unwrap();
        assert_eq!(by_header, whole[seen + 1..], "after {at}");
        assert_eq!(by_query, by_header, "after {at}");
    }
    let wrong = served.client.send("GET", &path, &[("last-event-id", "seven")], None).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.problem().contains("`Last-Event-ID: seven`"));
    served.stop().await;
}

#[tokio::test]
async fn a_parked_run_keeps_its_stream_and_goes_on_in_it() {
    let served = served().await;
    let run = served.start("pays").await;
    let mut stream = served.client.stream(&format!("/api/runs/{run}/stream"), &[]).await;
    let before = stream.until("approval_requested").await;
    let asked = before.last().unwrap();
    assert_eq!(asked.data["name"], "pay");
    assert_eq!(asked.data["arguments"], r#"{"what":"bill 17"}"#);
    served.rest(&run).await;
    let path = format!("/api/runs/{run}/approvals/{}", asked.data["approval"]);
    let taken = served.client.post(&path, &json!({ "granted": true, "why": "it is due" })).await;
    assert_eq!(taken.status, 202, "{}", taken.text());
    let after = stream.all().await;
    let names: Vec<&str> = after.iter().map(|frame| frame.event.as_str()).collect();
    for name in ["approval_resolved", "tool_result", "response", "done"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let ids: Vec<u32> = before.iter().chain(&after).filter_map(|frame| frame.id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    served.stop().await;
}

/// Looks a hundred times at something else, with a long result each, and answers.
fn looks_long(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        at if at < 100 => call("look", &format!("{at} {}", "x".repeat(4_000))),
        _ => say("All of it is as expected."),
    }
}

#[tokio::test]
async fn a_slow_reader_loses_no_event_and_holds_nobody_up() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let runner = stage(Single::default(), looks_long).agent(looker("main")).policy(Policy::execution()).journal(journal.clone()).build().unwrap();
    let live = runner.start("long", "Look at all of it.").unwrap();
    let hub = Hub::open("long".into(), runner.gate().clone(), journal, Redactor::default());
    hub.attach(live.events(0));
    let (mut slow, mut quick) = (hub.reader(0, Follow::ToTheEnd), hub.reader(0, Follow::ToTheEnd));
    let first = slow.next().await.unwrap();
    let mut all = Vec::new();
    while let Some(bytes) = quick.next().await {
        all.push(bytes);
    }
    // Everything that the slow one has not read is over, and most of it is not at hand any more.
    let mut late = vec![first];
    while let Some(bytes) = slow.next().await {
        late.push(bytes);
    }
    let kept = |frames: &[Bytes]| -> Vec<Bytes> { frames.iter().filter(|f| f.windows(5).any(|w| w == b"\nid: ")).cloned().collect() };
    assert!(late.iter().any(|bytes| bytes.starts_with(b"event: lagged")), "it fell behind and was not told");
    assert_eq!(kept(&late), kept(&all));
    assert!(all.iter().map(Bytes::len).sum::<usize>() > 700_000);
}

#[tokio::test]
async fn the_server_leaves_and_readers_come_back_to_the_next() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let first = super::serve(server(journal.clone()), journal).await;
    let run = first.start("pays").await;
    let card = first.rest(&run).await;
    let mut stream = first.client.stream(&format!("/api/runs/{run}/stream"), &[]).await;
    let mut seen = stream.until("finalization_check").await;
    let journal = first.stop().await;
    seen.extend(stream.all().await);
    assert_eq!(seen.last().unwrap().event, "done");
    let last = seen.iter().filter_map(|frame| frame.id).max().unwrap();
    let second = super::serve(server(journal.clone()), journal).await;
    let approval = &card["waiting"]["approvals"][0]["approval"];
    let granted = second.client.post(&format!("/api/runs/{run}/approvals/{approval}"), &json!({ "granted": true })).await;
    assert_eq!(granted.status, 202, "{}", granted.text());
    let rest = second.client.stream(&format!("/api/runs/{run}/stream"), &[("last-event-id", &last.to_string())]).await.all().await;
    let ids: Vec<u32> = rest.iter().filter_map(|frame| frame.id).collect();
    assert!(ids.iter().all(|id| *id > last), "{ids:?}");
    assert_eq!(rest.iter().filter(|frame| frame.event == "response" && frame.data["finalized"] == true).count(), 1);
    second.stop().await;
}
