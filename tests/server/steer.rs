//! What people can do to a run, and what they are told where they cannot.

use super::{Served, served};
use serde_json::{Value, json};

async fn approvals(served: &Served, run: &str) -> (String, Value) {
    let card = served.rest(run).await;
    assert_eq!(card["phase"], "awaiting_approval");
    let waiting = card["waiting"]["approvals"][0].clone();
    (format!("/api/runs/{run}/approvals/{}", waiting["approval"]), waiting)
}

#[tokio::test]
async fn an_approval_shows_its_arguments_and_may_change_them() {
    let served = served().await;
    let run = served.start("pays").await;
    let (path, waiting) = approvals(&served, &run).await;
    assert_eq!((&waiting["name"], &waiting["arguments"]), (&json!("pay"), &json!(r#"{"what":"bill 17"}"#)));
    let wrong = served.client.post(&path, &json!({ "granted": true, "arguments": { "which": 18 } })).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.problem().contains("`arguments` do not fit tool `pay`"), "{}", wrong.text());
    let granted = served.client.post(&path, &json!({ "granted": true, "arguments": { "what": "bill 18" } })).await;
    assert_eq!(granted.status, 202, "{}", granted.text());
    let card = served.rest(&run).await;
    assert_eq!(card["phase"], "completed", "{card:#}");
    let events = served.client.get(&format!("/api/runs/{run}/events?limit=1000")).await.json();
    let paid = events["events"].as_array().unwrap().iter().find(|event| event["event"] == "tool_settled").unwrap();
    assert_eq!(paid["text"], "bill 18: paid");
    let again = served.client.post(&path, &json!({ "granted": true })).await;
    assert_eq!(again.status, 409);
    assert!(again.problem().contains("has ended (completed)"));
    served.stop().await;
}

#[tokio::test]
async fn a_denial_does_not_run_and_is_no_evidence() {
    let served = served().await;
    let run = served.start("pays").await;
    let (path, _) = approvals(&served, &run).await;
    assert_eq!(served.client.post(&path, &json!({ "granted": false, "why": "not this month" })).await.status, 202);
    let card = served.rest(&run).await;
    assert_eq!(card["phase"], "blocked", "{card:#}");
    assert_eq!(card["message"]["content"], Value::Null);
    served.stop().await;
}

#[tokio::test]
async fn what_is_not_waited_for_is_named_with_what_is() {
    let served = served().await;
    let run = served.start("pays").await;
    let (_, waiting) = approvals(&served, &run).await;
    let wrong = served.client.post(&format!("/api/runs/{run}/approvals/77"), &json!({ "granted": true })).await;
    assert_eq!(wrong.status, 404);
    assert_eq!(wrong.problem(), format!("approval `77` is not there: there are: {}", waiting["approval"]));
    let no_number = served.client.post(&format!("/api/runs/{run}/approvals/first"), &json!({ "granted": true })).await;
    assert_eq!(no_number.status, 400);
    let nobody_asked = served.client.post(&format!("/api/runs/{run}/questions/1"), &json!({ "text": "yes" })).await;
    assert_eq!(nobody_asked.problem(), "question `1` is not there: there is none");
    let not_lost = served.client.post(&format!("/api/runs/{run}/resolve/3"), &json!({ "outcome": "failed" })).await;
    assert_eq!(not_lost.problem(), "call `3` is not there: there is none");
    let waits = served.client.post(&format!("/api/runs/{run}/continue"), &json!({})).await;
    assert_eq!(waits.status, 409);
    assert!(waits.problem().contains("grant, deny or answer first"));
    served.stop().await;
}

#[tokio::test]
async fn a_question_is_answered_and_the_run_goes_on() {
    let served = served().await;
    let run = served.start("asks").await;
    let card = served.rest(&run).await;
    let question = &card["waiting"]["questions"][0];
    assert_eq!(question["text"], "Which shop?");
    let path = format!("/api/runs/{run}/questions/{}", question["question"]);
    assert_eq!(served.client.post(&path, &json!({ "text": "The one in the High Street." })).await.status, 202);
    let card = served.rest(&run).await;
    assert_eq!(card["message"]["content"], "The shop in the High Street is as expected.");
    served.stop().await;
}

#[tokio::test]
async fn a_run_is_cancelled_in_three_ways() {
    let served = served().await;
    for (when, profile) in [("now", "hangs"), ("after_reply", "pays"), ("after_tools", "pays")] {
        let run = served.start(profile).await;
        if profile == "pays" {
            served.rest(&run).await;
        }
        let path = format!("/api/runs/{run}/cancel");
        assert_eq!(served.client.post(&path, &json!({ "when": when })).await.status, 202, "{when}");
        let frames = served.client.stream(&format!("/api/runs/{run}/stream"), &[]).await.all().await;
        let cancelled = frames.iter().find(|frame| frame.event == "cancelled").unwrap();
        assert_eq!(cancelled.data["reason"], "user_cancelled", "{when}");
        assert!(frames.iter().all(|frame| frame.event != "response"), "{when}");
        assert_eq!(served.client.post(&path, &json!({ "when": when })).await.status, 409, "{when}");
    }
    let wrong = served.client.post("/api/runs/nobody/cancel", &json!({ "when": "later" })).await;
    assert_eq!(wrong.status, 404);
    served.stop().await;
}

#[tokio::test]
async fn a_blocked_run_is_continued_with_what_is_missing() {
    let served = served().await;
    let run = served.start("lies").await;
    let card = served.rest(&run).await;
    assert_eq!((&card["phase"], &card["message"]["finalized"]), (&json!("blocked"), &json!(false)), "{card:#}");
    let before = card["seq"].as_u64().unwrap();
    let taken = served.client.send("POST", &format!("/api/runs/{run}/continue"), &[], None).await;
    assert_eq!(taken.status, 202, "{}", taken.text());
    assert_eq!(taken.json()["missingChecks"][0]["check"], "evidence_ok");
    let card = served.rest(&run).await;
    let events = served.client.get(&format!("/api/runs/{run}/events?after={before}&limit=1000")).await.json();
    let told: Vec<&str> = events["events"].as_array().unwrap().iter().filter(|e| e["event"] == "nudged").filter_map(|e| e["text"].as_str()).collect();
    assert!(told.first().is_some_and(|text| text.contains("evidence_ok")), "{events:#}");
    assert_eq!(card["message"]["content"], "I looked, and it is as expected.", "{card:#}");
    served.stop().await;
}

#[tokio::test]
async fn messages_reach_a_run_under_way_and_take_up_a_parked_one() {
    let served = served().await;
    let run = served.start("stubborn").await;
    let card = served.rest(&run).await;
    assert_eq!(card["phase"], "blocked");
    let before = card["seq"].as_u64().unwrap();
    let path = format!("/api/runs/{run}/messages");
    assert_eq!(served.client.post(&path, &json!({ "text": " " })).await.status, 422);
    assert_eq!(served.client.post(&path, &json!({ "text": "Look in the back room." })).await.status, 202);
    served.rest(&run).await;
    let events = served.client.get(&format!("/api/runs/{run}/events?after={before}&limit=1000")).await.json();
    let arrived = events["events"].as_array().unwrap().iter().find(|event| event["event"] == "input_arrived").unwrap();
    assert_eq!(arrived["text"], "Look in the back room.");
    served.stop().await;
}

#[tokio::test]
async fn views_come_in_every_form() {
    let served = served().await;
    let run = served.start("looks").await;
    served.rest(&run).await;
    let at = |path: &str| format!("/api/runs/{run}/{path}");
    let decision = served.client.get(&at("decision")).await.json();
    assert_eq!((&decision["completionReason"], &decision["finalText"]), (&json!("verified"), &json!("I looked, and it is as expected.")));
    for (form, kind, holds) in [
        ("report?format=json", "application/json", "conclusions"),
        ("report?format=markdown", "text/markdown; charset=utf-8", "I looked, and it is as expected."),
        ("graph?format=json", "application/json", "\"nodes\""),
        ("graph?format=dot", "text/vnd.graphviz; charset=utf-8", "digraph"),
        ("graph?format=mermaid", "text/plain; charset=utf-8", "flowchart"),
        ("graph?format=svg", "image/svg+xml", "<svg"),
    ] {
        let view = served.client.get(&at(form)).await;
        assert_eq!(view.headers["content-type"], kind, "{form}");
        assert!(view.text().contains(holds), "{form}: {}", view.text());
    }
    let wrong = served.client.get(&at("graph?format=png")).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.problem().contains("png"), "{}", wrong.text());
    served.stop().await;
}
