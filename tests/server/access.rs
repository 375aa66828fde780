//! Who may come in, from where, and to whose runs.

use super::http::Client;
use super::{ANN, BOB, Served, runner, serve, served, server};
use countersign::{Journal, MemoryJournal, ModelReply, ModelRequest, Policy, Single};
use countersign_examples::suite::cast::{call, looker, say, stage, turn};
use countersign_server::pace::{Rate, Rates};
use countersign_server::state::Bounds;
use countersign_server::{ServeError, Server, Token};
use serde_json::json;
use std::sync::Arc;

/// Every route that concerns one run, with something that could be said there.
fn routes(run: &str) -> Vec<(&'static str, String, Option<&'static str>)> {
    let at = |path: &str| format!("/api/runs/{run}{path}");
    vec![
        ("GET", at(""), None),
        ("GET", at("/stream"), None),
        ("GET", at("/events"), None),
        ("GET", at("/decision"), None),
        ("GET", at("/report"), None),
        ("GET", at("/graph"), None),
        ("POST", at("/cancel"), Some(r#"{"when":"now"}"#)),
        ("POST", at("/approvals/4"), Some(r#"{"granted":true}"#)),
        ("POST", at("/questions/4"), Some(r#"{"text":"yes"}"#)),
        ("POST", at("/messages"), Some(r#"{"text":"go on"}"#)),
        ("POST", at("/continue"), Some("{}")),
        ("POST", at("/resolve/3"), Some(r#"{"outcome":"failed"}"#)),
    ]
}

async fn try_all(served: &Served, run: &str, token: &str, status: u16) {
    for (method, path, body) in routes(run) {
        let client = served.client.as_(token);
        let answer = client.send(method, &path, &[("content-type", "application/json")], body.map(str::to_owned)).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        assert!(!answer.problem().contains("bill"), "{path}");
    }
}

#[tokio::test]
async fn another_owners_run_is_not_there() {
    let served = served().await;
    let run = served.start("pays").await;
    served.rest(&run).await;
    try_all(&served, &run, BOB, 404).await;
    let listed = served.client.as_(BOB).get("/api/runs").await.json();
    assert_eq!(listed["runs"], json!([]));
    let own = served.client.get("/api/runs?status=awaiting_approval&mode=single&text=see").await.json();
    assert_eq!(own["runs"][0]["run"], run.as_str());
    assert_eq!(own["runs"].as_array().unwrap().len(), 1);
    served.stop().await;
}

#[tokio::test]
async fn nothing_is_answered_without_a_token() {
    let served = served().await;
    let run = served.start("pays").await;
    try_all(&served, &run, "not-a-token-of-anybody", 401).await;
    for path in ["/api/runs", "/api/batches/b"] {
        let no_header = served.client.send("GET", path, &[("authorization", "")], None).await;
        assert_eq!((no_header.status, &no_header.headers["www-authenticate"]), (401, &"Bearer".parse().unwrap()));
    }
    let in_the_address = served.client.send("GET", &format!("/api/runs?token={ANN}"), &[("authorization", "")], None).await;
    assert_eq!(in_the_address.status, 401);
    assert_eq!(served.client.send("GET", "/health", &[("authorization", "")], None).await.status, 200);
    served.stop().await;
}

#[tokio::test]
async fn the_page_exchanges_its_token_for_a_cookie_that_scripts_cannot_read() {
    let served = served().await;
    let nobody = served.client.as_("");
    let wrong = nobody.post("/session", &json!({ "token": "not-a-token-of-anybody" })).await;
    assert_eq!(wrong.status, 401);
    assert!(!wrong.headers.contains_key("set-cookie"));
    let signed_in = nobody.post("/session", &json!({ "token": ANN })).await;
    assert_eq!(signed_in.status, 204);
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(ANN));
    let session = cookie.split(';').next().unwrap();
    let with = [("authorization", ""), ("cookie", session)];
    assert_eq!(served.client.send("GET", "/api/runs", &with, None).await.status, 200);
    assert_eq!(served.client.send("DELETE", "/session", &with, None).await.status, 204);
    assert_eq!(served.client.send("GET", "/api/runs", &with, None).await.status, 401);
    served.stop().await;
}

#[tokio::test]
async fn a_foreign_host_or_page_is_refused() {
    let served = served().await;
    let own = format!("http://{}", served.client.addr);
    let refused: &[&[(&str, &str)]] = &[
        &[("host", "evil.example")],
        &[("host", "localhost.evil.example:80")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost:1")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
    ];
    for headers in refused {
        let answer = served.client.send("GET", "/api/runs", headers, None).await;
        assert_eq!(answer.status, 403, "{headers:?}");
        assert!(answer.problem().contains("not answered here"), "{headers:?}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
    }
    for headers in [&[("origin", own.as_str())][..], &[("host", "localhost:8470")], &[("host", "[::1]:8470")]] {
        assert_eq!(served.client.send("GET", "/api/runs", headers, None).await.status, 200, "{headers:?}");
    }
    let asks_first = served.client.send("OPTIONS", "/api/runs", &[("access-control-request-method", "POST")], None).await;
    assert!(!asks_first.headers.contains_key("access-control-allow-origin"));
    served.stop().await;
}

#[tokio::test]
async fn every_response_is_sent_with_what_keeps_a_page_safe() {
    let served = served().await;
    let run = served.start("looks").await;
    served.rest(&run).await;
    for path in ["/api/runs", "/nowhere", "/health", &format!("/api/runs/{run}/graph?format=svg")] {
        let answer = served.client.get(path).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("'unsafe-inline'; script"), "{path}: {policy}");
        assert_eq!(policy.contains("sandbox"), path.ends_with("svg"), "{path}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
    }
    served.stop().await;
}

#[tokio::test]
async fn what_is_too_large_or_no_json_is_refused() {
    let served = served().await;
    let large = served.client.post("/api/workflows", &json!({ "task": "x".repeat(2 << 20) })).await;
    assert_eq!(large.status, 413);
    assert!(large.problem().contains("more than 1048576 bytes"));
    let long = served.client.post("/api/runs", &json!({ "task": "x".repeat(2 << 20) })).await;
    assert_eq!(long.status, 422);
    assert!(long.problem().starts_with("`task` has 2097152 bytes"), "{}", long.text());
    let form = served.client.send("POST", "/api/runs", &[("content-type", "text/plain")], Some("{}".to_owned())).await;
    assert_eq!(form.status, 415);
    assert!(form.problem().contains("not `text/plain`"));
    let broken = served.client.send("POST", "/api/runs", &[("content-type", "application/json")], Some("{".to_owned())).await;
    assert_eq!(broken.status, 400);
    let header = "x".repeat(20_000);
    let headers = served.client.send("GET", "/api/runs", &[("x-large", &header)], None).await;
    assert_eq!(headers.status, 431);
    let nowhere = served.client.get("/api/nothing").await;
    assert_eq!((nowhere.status, nowhere.problem()), (404, "there is nothing at `/api/nothing`; `/openapi.json` lists what there is".to_owned()));
    let method = served.client.send("DELETE", "/api/runs", &[], None).await;
    assert_eq!(method.status, 405);
    served.stop().await;
}

#[tokio::test]
async fn an_address_that_can_be_reached_from_elsewhere_needs_a_chosen_token() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let with = |token: Token| Server::new(journal.clone()).profile("looks", &runner("looks")).token(token);
    let (_, made) = Token::generate("local").unwrap();
    let refused = with(made.clone()).bind("0.0.0.0:0").await.err().unwrap();
    assert!(matches!(&refused, ServeError::Public(addr) if addr == "0.0.0.0:0"), "{refused}");
    assert!(with(made).bind("127.0.0.1:0").await.is_ok());
    assert!(with(Token::new(None, ANN).unwrap()).bind("0.0.0.0:0").await.is_ok());
    let nobody = Server::new(journal.clone()).profile("looks", &runner("looks")).bind("127.0.0.1:0").await;
    assert!(matches!(nobody, Err(ServeError::NoToken)));
}

#[tokio::test]
async fn who_asks_too_often_is_asked_to_wait_and_others_are_not() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let rates = Rates { requests: Rate::new(1, 5), starts: Rate::new(1, 2), strangers: Rate::new(1, 3) };
    let served = serve(server(journal.clone()).bounds(Bounds { rates, ..Bounds::default() }), journal).await;
    let many = async |client: &Client, times: usize| {
        let mut statuses = Vec::new();
        for _ in 0..times {
            statuses.push(client.get("/api/runs").await.status);
        }
        statuses
    };
    let asked = many(&served.client, 12).await;
    assert!(asked.starts_with(&[200; 5]) && asked.contains(&429), "{asked:?}");
    let late = served.client.get("/api/runs").await;
    assert_eq!(late.headers["retry-after"], "1");
    let other = served.client.as_(BOB);
    assert_eq!(other.get("/api/runs").await.status, 200);
    let guesses = many(&served.client.as_("not-a-token-of-anybody"), 8).await;
    assert!(guesses.starts_with(&[401; 3]) && guesses.contains(&429), "{guesses:?}");
    served.stop().await;
}

/// Shows what it was given: a model and a tool that have secrets and scripts in their mouths.
fn talks(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("look", &format!("{SECRET} <script>alert(1)</script>")),
        _ => say(&format!("The key is {SECRET}, and <img src=x onerror=alert(1)>.")),
    }
}

const SECRET: &str = "sk-live-abcdefghijklmnop0123456789";

#[tokio::test]
async fn no_secret_leaves_the_server_and_no_script_is_sent_as_one() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let talker = stage(Single::default(), talks).agent(looker("main")).policy(Policy::execution()).build().unwrap();
    let served = serve(server(journal.clone()).profile("talks", &talker), journal).await;
    let task = format!("Look with Authorization: Bearer abcdefghijklmnop0123 and {SECRET}.");
    let begun = served.client.post("/api/runs", &json!({ "task": task, "profile": "talks" })).await;
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    let mut stream = served.client.stream(&format!("/api/runs/{run}/stream"), &[]).await;
    let frames = stream.all().await;
    assert!(frames.iter().any(|frame| frame.data["content"].as_str().is_some_and(|text| text.contains("[redacted]"))), "{frames:#?}");
    let mut sent = vec![begun.text(), String::from_utf8(stream.raw).unwrap()];
    let paths = [
        "",
        "/events",
        "/decision",
        "/report",
        "/report?format=markdown",
        "/graph",
        "/graph?format=svg",
        "/graph?format=mermaid",
        "/graph?format=dot",
    ];
    for path in paths {
        let answer = served.client.get(&format!("/api/runs/{run}{path}")).await;
        assert_eq!(answer.status, 200, "{path}");
        if answer.headers["content-type"] == "image/svg+xml" {
            assert!(!answer.text().contains("<script") && !answer.text().contains("<img"), "{}", answer.text());
        } else {
            assert!(!answer.headers["content-type"].to_str().unwrap().contains("html"), "{path}");
        }
        sent.push(answer.text());
    }
    sent.push(served.client.get("/api/runs").await.text());
    for text in sent {
        assert!(!text.contains(SECRET) && !text.contains("abcdefghijklmnop0123"), "{text}");
    }
    served.stop().await;
}
