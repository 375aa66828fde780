//! Every way out of a run goes through the one gate: the last record is its ruling, and the stream says so.

use super::{Served, serve, server};
use countersign::Tool;
use countersign::{Journal, Limits, MemoryJournal, Policy, Reason, Runner, Single, Status};
use countersign_examples::suite::cast::{Script, call, hang, looker, stage};
use serde_json::{Value, json};
use std::sync::Arc;

/// Every way out. A new one has to be given an arm in each `match` below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Success,
    Block,
    Cancel,
    Timeout,
    Panic,
    Limit,
    Batch,
    Resume,
}

impl Exit {
    /// Every one of them; the length is that of the `match` in [`Exit::next`].
    fn all() -> Vec<Self> {
        std::iter::successors(Some(Self::Success), |exit| exit.next()).collect()
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Success => Some(Self::Block),
            Self::Block => Some(Self::Cancel),
            Self::Cancel => Some(Self::Timeout),
            Self::Timeout => Some(Self::Panic),
            Self::Panic => Some(Self::Limit),
            Self::Limit => Some(Self::Batch),
            Self::Batch => Some(Self::Resume),
            Self::Resume => None,
        }
    }

    /// What it comes to, and the frame that says so.
    fn comes_to(self) -> (Status, Reason, &'static str) {
        match self {
            Self::Success | Self::Batch | Self::Resume => (Status::Completed, Reason::Verified, "response"),
            Self::Block => (Status::Blocked, Reason::NoProgress, "response"),
            Self::Cancel => (Status::Cancelled, Reason::UserCancelled, "cancelled"),
            Self::Timeout => (Status::Failed, Reason::Timeout, "error"),
            Self::Panic => (Status::Failed, Reason::ProviderError, "error"),
            Self::Limit => (Status::Blocked, Reason::TurnLimit, "response"),
        }
    }

    /// Takes a run that way, and says which it is.
    async fn take(self, served: &Served) -> String {
        match self {
            Self::Success => served.start("looks").await,
            Self::Block => served.start("stubborn").await,
            Self::Cancel => {
                let run = served.start("hangs").await;
                assert_eq!(served.client.post(&format!("/api/runs/{run}/cancel"), &json!({ "when": "now" })).await.status, 202);
                run
            }
            Self::Timeout => served.start("late").await,
            Self::Panic => served.start("panics").await,
            Self::Limit => served.start("short").await,
            Self::Batch => batch(served).await,
            Self::Resume => {
                let run = served.start("pays").await;
                let card = served.rest(&run).await;
                let path = format!("/api/runs/{run}/approvals/{}", card["waiting"]["approvals"][0]["approval"]);
                assert_eq!(served.client.post(&path, &json!({ "granted": true })).await.status, 202);
                run
            }
        }
    }
}

async fn batch(served: &Served) -> String {
    let begun = served.client.post("/api/batches", &json!({ "tasks": [{ "task": "See to it.", "profile": "looks" }] })).await;
    let path = format!("/api/batches/{}", begun.json()["batch"].as_str().unwrap());
    loop {
        let standing = served.client.get(&path).await.json();
        if let Some(run) = standing["tasks"][0]["run"].as_str() {
            return run.to_owned();
        }
        tokio::task::yield_now().await;
    }
}

fn limited(script: Script, limits: Limits) -> Runner {
    let policy = Policy { limits, retries: 0, ..Policy::execution() };
    stage(Single::default(), script).agent(looker("main").tool(hang().spec())).policy(policy).build().unwrap()
}

async fn served() -> Served {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let late = limited(|_| call("hang", "it"), Limits { deadline_ms: 30, ..Limits::default() });
    let short = limited(|r| call("look", &format!("{}", r.transcript.len())), Limits { turns: 2, ..Limits::default() });
    let panics = limited(|_| countersign_examples::suite::cast::fall_over("the model"), Limits::default());
    let server = server(journal.clone()).profile("late", &late).profile("short", &short).profile("panics", &panics);
    serve(server, journal).await
}

#[tokio::test]
async fn every_way_out_goes_through_the_gate() {
    let served = served().await;
    for exit in Exit::all() {
        let run = exit.take(&served).await;
        let card = served.rest(&run).await;
        let (status, reason, says) = exit.comes_to();
        assert_eq!((&card["status"], &card["reason"]), (&json!(status.name()), &json!(reason.name())), "{exit:?}: {card:#}");
        let log = served.client.get(&format!("/api/runs/{run}/events?limit=1000")).await.json();
        let last = log["events"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["event"], &last["scope"]), (&json!("decided"), &json!(0)), "{exit:?}: {last:#}");
        let frames = served.client.stream(&format!("/api/runs/{run}/stream?until=rest"), &[]).await.all().await;
        let filled: Vec<&Value> =
            frames.iter().filter(|f| f.event == "response" && f.data["finalized"] == true).map(|f| &f.data["content"]).collect();
        assert_eq!(filled.len(), usize::from(status == Status::Completed), "{exit:?}");
        let end = frames.iter().rev().nth(1).unwrap();
        assert_eq!((end.event.as_str(), &end.data["reason"]), (says, &json!(reason.name())), "{exit:?}: {end:?}");
        assert_eq!(frames.last().unwrap().event, "done", "{exit:?}");
        // What stands in the message is what the stream said, and nothing that was refused.
        assert_eq!(card["message"]["finalized"], status == Status::Completed, "{exit:?}");
    }
    served.stop().await;
}
