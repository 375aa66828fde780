//! Conversations and images over HTTP.

use super::served;
use serde_json::{Value, json};

/// The smallest beginning of a PNG, and of a JPEG: what they are, their first bytes say.
const PNG: &str = "iVBORw0KGgo=";
const JPEG: &str = "/9j/4AAQ";

async fn first_event(served: &super::Served, run: &str) -> Value {
    served.client.get(&format!("/api/runs/{run}/events?limit=1")).await.json()["events"][0].clone()
}

#[tokio::test]
async fn a_conversation_is_carried_on_and_listed_by_itself() {
    let served = served().await;
    let ask = async |token: &str, task: &str, conversation: &str| {
        let body = json!({ "task": task, "profile": "looks", "conversation": conversation });
        let run = served.client.as_(token).post("/api/runs", &body).await.json()["run"].as_str().unwrap().to_owned();
        served.client.as_(token).stream(&format!("/api/runs/{run}/stream?until=rest"), &[]).await.all().await;
        run
    };
    let first = ask(super::ANN, "Look.", "c1").await;
    ask(super::ANN, "Look elsewhere.", "c2").await;
    ask(super::BOB, "Mine, under the same name.", "c1").await;
    let second = ask(super::ANN, "And now?", "c1").await;
    let listed = served.client.get("/api/runs?conversation=c1").await.json();
    let runs: Vec<_> = listed["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect();
    assert_eq!(runs, [second.clone(), first.clone()]);
    let said = first_event(&served, &second).await["history"]["exchanges"].clone();
    assert_eq!(said.as_array().unwrap().len(), 1, "{said:#}");
    assert_eq!((&said[0]["run"], &said[0]["answer"]), (&json!(first), &json!("I looked, and it is as expected.")));
    served.stop().await;
}

#[tokio::test]
async fn images_come_with_a_task_and_are_what_they_are_said_to_be() {
    let served = served().await;
    let post = async |images: Value| served.client.post("/api/runs", &json!({ "task": "Look.", "profile": "looks", "images": images })).await;
    let begun = post(json!([{ "mediaType": "image/png", "data": PNG }, { "mediaType": "image/jpeg", "data": JPEG }])).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    let shown = first_event(&served, &run).await["images"].clone();
    let kinds: Vec<_> = shown.as_array().unwrap().iter().map(|image| image["media"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["image/png", "image/jpeg"], "{shown:#}");
    served.rest(&run).await;
    let refused = async |images: Value, what: &str| {
        let answer = post(images).await;
        assert_eq!(answer.status, 422, "{}", answer.text());
        assert!(answer.problem().contains(what), "{}", answer.text());
    };
    refused(json!([{ "mediaType": "image/png", "data": JPEG }]), "`images[0]` is `image/jpeg`, and said to be `image/png`").await;
    refused(json!([{ "mediaType": "image/png", "data": "no base64!" }]), "`images[0]`: the image is no base64").await;
    refused(json!([{ "mediaType": "image/png", "data": "PHN2Zz48L3N2Zz4=" }]), "`images[0]`: this is no PNG").await;
    refused(json!([{ "mediaType": "image/png", "data": "A".repeat(5_100_000) }]), "models can be shown 3750000").await;
    refused(json!(vec![json!({ "mediaType": "image/png", "data": PNG }); 21]), "the task comes with 21 images").await;
    assert_eq!(post(json!([{ "mediaType": "image/svg+xml", "data": PNG }])).await.status, 400);
    let long = json!([{ "mediaType": "image/png", "data": "A".repeat(17 << 20) }]);
    assert_eq!(post(long).await.status, 413);
    served.stop().await;
}
