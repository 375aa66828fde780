//! Chat, batch and workflow start runs in one place: each is driven through refused, blocked, continued, approved, final.

use super::{Served, serve, server};
use countersign::{Agent, Journal, MemoryJournal, ModelReply, ModelRequest, Policy, Runner, Single, Tool};
use countersign_examples::suite::cast::{call, look, pay, say, stage, told};
use serde_json::{Value, json};
use std::sync::Arc;

/// Believes itself until it has been told three times; then it wants to pay, and says that it has.
fn long_way(r: &ModelRequest) -> ModelReply {
    let paid = r.transcript.iter().any(|e| matches!(e.record.event, countersign::Event::ToolSettled { .. }));
    match told(r) {
        0 => say("It is paid, I am sure."),
        1 | 2 => say(&format!("It is paid, I am sure of it ({}).", told(r))),
        _ if paid => say("Bill 17 is paid."),
        _ => call("pay", "bill 17"),
    }
}

fn long_runner() -> Runner {
    let agent = Agent::new("main", "").tool(look().spec()).tool(pay().spec());
    stage(Single::default(), long_way).agent(agent).policy(Policy::conversation()).build().unwrap()
}

async fn served() -> Served {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    serve(server(journal.clone()).profile("long", &long_runner()), journal).await
}

/// Through a block, a continuation and an approval to the answer.
async fn drive(served: &Served, run: &str) -> Value {
    let card = served.rest(run).await;
    assert_eq!(card["phase"], "blocked", "{card:#}");
    assert_eq!(card["message"]["content"], Value::Null);
    assert_eq!(card["message"]["candidate"], "It is paid, I am sure of it (2).");
    assert_eq!(served.client.send("POST", &format!("/api/runs/{run}/continue"), &[], None).await.status, 202);
    let card = served.rest(run).await;
    assert_eq!(card["phase"], "awaiting_approval", "{card:#}");
    let approval = &card["waiting"]["approvals"][0]["approval"];
    assert_eq!(served.client.post(&format!("/api/runs/{run}/approvals/{approval}"), &json!({ "granted": true })).await.status, 202);
    let card = served.rest(run).await;
    assert_eq!((&card["phase"], &card["reason"]), (&json!("completed"), &json!("verified")), "{card:#}");
    assert_eq!(card["message"]["content"], "Bill 17 is paid.");
    card
}

#[tokio::test]
async fn a_chat_goes_the_long_way() {
    let served = served().await;
    let body = json!({ "task": "Pay bill 17.", "profile": "long", "conversation": "c1", "finalization": { "requireExecutionEvidence": true } });
    let begun = served.client.post("/api/runs", &body).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    assert_eq!(begun.headers["location"], format!("/api/runs/{run}").as_str());
    assert_eq!(drive(&served, &run).await["conversation"], "c1");
    served.stop().await;
}

#[tokio::test]
async fn every_task_of_a_batch_goes_the_long_way() {
    let served = served().await;
    let task = |n: u32| json!({ "task": format!("Pay bill {n}."), "profile": "long", "policy": { "requireExecutionEvidence": true } });
    let refused = json!({ "task": "Pay.", "profile": "nobody" });
    let begun = served.client.post("/api/batches", &json!({ "tasks": [task(1), task(2), refused, task(3)], "concurrency": 2 })).await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    let path = format!("/api/batches/{}", begun.json()["batch"].as_str().unwrap());
    let standing = settled(&served, &path).await;
    let tasks = standing["tasks"].as_array().unwrap();
    assert!(tasks[2]["refused"].as_str().unwrap().contains("there is no profile `nobody`"), "{standing:#}");
    for (at, task) in tasks.iter().enumerate().filter(|(at, _)| *at != 2) {
        assert_eq!((&task["status"], &task["reason"]), (&json!("blocked"), &json!("missing_execution_evidence")), "{standing:#}");
        let card = drive(&served, task["run"].as_str().unwrap()).await;
        assert!(card["message"].is_object() && card["title"] == format!("Pay bill {}.", if at == 3 { 3 } else { at + 1 }));
    }
    let standing = served.client.get(&path).await.json();
    assert_eq!(standing["tasks"].as_array().unwrap().iter().filter(|task| task["reason"] == "verified").count(), 3);
    assert_eq!(served.client.as_(super::BOB).get(&path).await.status, 404);
    served.stop().await;
}

/// A batch, once each of its tasks has ended, parked, or was refused.
async fn settled(served: &Served, path: &str) -> Value {
    loop {
        let standing = served.client.get(path).await.json();
        if standing["settled"] == true {
            return standing;
        }
        for run in standing["tasks"].as_array().unwrap().iter().filter_map(|task| task["run"].as_str()) {
            served.rest(run).await;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_workflow_goes_the_long_way() {
    let served = served().await;
    let body = json!({ "task": "Pay bill 17.", "profile": "long", "requiredEvidence": ["execution"], "waitMs": 30_000 });
    let begun = served.client.post("/api/workflows", &body).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    assert_eq!(begun.json()["decision"]["completionReason"], "missing_execution_evidence", "{}", begun.text());
    drive(&served, begun.json()["run"].as_str().unwrap()).await;
    let nothing = served.client.post("/api/workflows", &json!({ "task": "Pay.", "requiredEvidence": [] })).await;
    assert_eq!(nothing.status, 422);
    served.stop().await;
}

#[tokio::test]
async fn the_gate_alone_rules_on_a_run_of_somebody_else() {
    let served = served().await;
    let started = json!({ "event": "activation_started", "parent": 0, "agent": "main", "key": "main", "prompt": "Go.", "via": "asked" });
    let replied = json!({ "event": "model_replied", "activation": 1, "saw": 0, "finish": "stop", "text": "It is done." });
    let ended = json!({ "event": "activation_ended", "activation": 1, "outcome": "completed", "text": "It is done." });
    let made = json!({ "event": "candidate_made", "scope": 0, "by": 1, "text": "It is done.", "from": 2 });
    let post = async |policy: Value, events: Vec<Value>| served.client.post("/api/gate", &json!({ "policy": policy, "events": events })).await;
    let facts = || vec![started.clone(), replied.clone(), ended.clone(), made.clone()];
    let ruled = post(json!({ "require_execution_evidence": true }), facts()).await;
    assert_eq!(ruled.status, 200, "{}", ruled.text());
    assert_eq!(ruled.json()["completionReason"], "missing_execution_evidence");
    assert_eq!(ruled.json()["finalText"], Value::Null);
    let ruled = post(json!({}), facts()).await.json();
    assert_eq!((&ruled["finalizable"], &ruled["completionReason"]), (&json!(true), &json!("not_required")), "{ruled:#}");
    for name in ["decided", "decision", "final", "response"] {
        let handed_in = post(json!({}), vec![json!({ "event": name, "scope": 0, "text": "It is done." })]).await;
        assert_eq!(handed_in.status, 422);
        assert!(handed_in.problem().contains(&format!("event 1 is `{name}`: rulings and answers are made by the gate")), "{}", handed_in.text());
    }
    let illegal = post(json!({}), vec![replied.clone()]).await;
    assert_eq!(illegal.status, 422);
    assert!(illegal.problem().starts_with("event 1 (`model_replied`) may not stand there: "), "{}", illegal.text());
    let unknown = post(json!({}), vec![json!({ "event": "of_tomorrow" })]).await;
    assert_eq!(unknown.status, 422);
    assert!(unknown.problem().starts_with("event 1 (`of_tomorrow`) cannot be read: "), "{}", unknown.text());
    served.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_says_who_there_is() {
    let served = served().await;
    let refused = async |body: Value| {
        let answer = served.client.post("/api/runs", &body).await;
        assert_eq!(answer.status, 422, "{}", answer.text());
        answer.problem()
    };
    assert!(refused(json!({ "task": " " })).await.starts_with("`task` is blank"));
    assert!(refused(json!({ "task": "x", "mode": "deep" })).await.starts_with("nobody works in mode `deep`; there are: `looks` (single)"));
    assert!(refused(json!({ "task": "x", "policy": { "requireExecutionEvidence": false } })).await.contains("would loosen the server's policy"));
    let both = json!({ "task": "x", "policy": { "requireExecutionEvidence": true }, "finalization": { "requireExecutionEvidence": false } });
    assert!(refused(both).await.contains("`policy` and `finalization` differ"));
    let unknown = served.client.post("/api/runs", &json!({ "task": "x", "policy": { "on_cap_spent": "deliver" } })).await;
    assert_eq!(unknown.status, 400);
    assert!(unknown.problem().contains("unknown field `on_cap_spent`"), "{}", unknown.text());
    served.stop().await;
}
