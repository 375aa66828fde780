//! The page as it is sent: what is escaped, what the browser may do with it, what it weighs.

use super::http::Answer;
use super::{ANN, BOB, Served, serve, served, server};
use crate::{files, root, short};
use countersign::{Journal, MemoryJournal, ModelReply, ModelRequest, Policy, Single};
use countersign_examples::suite::cast::{call, looker, say, stage, turn};
use serde_json::json;
use std::sync::Arc;

/// What the first page and its files may weigh, compressed.
const FIRST_LOAD_MAX: usize = 170 * 1024;

/// A page as a browser sees it that has signed in.
struct Page<'a> {
    served: &'a Served,
    cookie: String,
}

impl Page<'_> {
    async fn sign_in<'a>(served: &'a Served, token: &str) -> Page<'a> {
        let signed_in = served.client.as_("").post("/session", &json!({ "token": token })).await;
        let cookie = signed_in.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        Page { served, cookie }
    }

    async fn get(&self, path: &str) -> Answer {
        self.served.client.send("GET", path, &[("authorization", ""), ("cookie", &self.cookie)], None).await
    }
}

/// Addresses that a page loads by itself.
fn loaded(html: &str) -> Vec<String> {
    let starts = ["src=\"", "rel=\"stylesheet\" href=\"", "rel=\"icon\" href=\""];
    starts.iter().flat_map(|start| html.split(start).skip(1)).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn without_a_session_there_is_nothing_but_a_way_in() {
    let served = served().await;
    let run = served.start("pays").await;
    for path in ["/", &format!("/runs/{run}"), "/runs/none"] {
        // A token is no way in here, so that nobody guesses one at a place where guesses are not counted.
        for token in ["", ANN, "not-a-token-of-anybody"] {
            let answer = served.client.as_(token).get(path).await;
            assert_eq!((answer.status, answer.headers["content-type"].to_str().unwrap()), (401, "text/html; charset=utf-8"), "{path}");
            assert!(answer.text().contains("data-act=\"sign-in\"") && !answer.text().contains("See to it."), "{path}");
        }
    }
    served.stop().await;
}

#[tokio::test]
async fn another_owners_run_has_no_page() {
    let served = served().await;
    let run = served.start("looks").await;
    served.rest(&run).await;
    let (own, other) = (Page::sign_in(&served, ANN).await, Page::sign_in(&served, BOB).await);
    for path in [format!("/runs/{run}"), format!("/runs/{run}/picture")] {
        assert_eq!(own.get(&path).await.status, 200, "{path}");
        let refused = other.get(&path).await;
        assert_eq!(refused.status, 404, "{path}");
        assert!(!refused.text().contains("See to it."), "{path}");
    }
    assert!(own.get("/").await.text().contains("See to it."));
    assert!(other.get("/").await.text().contains("There is no such run."));
    served.stop().await;
}

#[tokio::test]
async fn only_a_final_is_written_as_the_answer() {
    let served = served().await;
    let page = Page::sign_in(&served, ANN).await;
    let (passes, blocked, waits) = (served.start("looks").await, served.start("stubborn").await, served.start("pays").await);
    for run in [&passes, &blocked, &waits] {
        served.rest(run).await;
    }
    let passes = page.get(&format!("/runs/{passes}")).await.text();
    let answer = passes.split("class=\"turn final\"").nth(1).unwrap();
    assert!(answer.contains("I looked, and it is as expected.") && !answer.contains("It is as it always was."));
    assert!(passes.contains("<del>It is as it always was.</del>"));
    let blocked = page.get(&format!("/runs/{blocked}")).await.text();
    assert!(!blocked.contains("turn final") && blocked.contains("<del>Believe me.</del>"));
    assert!(blocked.contains("Blocked, there is no answer: ") && blocked.contains("Continue verification"));
    // Every missing check is there, with what would settle it.
    assert!(blocked.contains("evidence_ok") && blocked.contains("do the work with a tool, then answer from its result"));
    let waits = page.get(&format!("/runs/{waits}")).await.text();
    assert!(!waits.contains("turn final") && waits.contains("data-act=\"approve\"") && waits.contains("&quot;what&quot;: &quot;bill 17&quot;"));
    served.stop().await;
}

#[tokio::test]
async fn cards_say_how_runs_stand_and_can_be_filtered() {
    let served = served().await;
    let page = Page::sign_in(&served, ANN).await;
    for profile in ["looks", "stubborn", "pays"] {
        served.rest(&served.start(profile).await).await;
    }
    let hangs = served.start("hangs").await;
    let all = page.get("/").await.text();
    for badge in ["In progress", "Awaiting approval", "Blocked", "Completed"] {
        assert_eq!(all.matches(&format!("\">{badge}</span>")).count(), 1, "{badge}");
    }
    let blocked = page.get("/?status=blocked&text=see").await.text();
    assert_eq!(blocked.matches("class=\"card ").count(), 1);
    assert!(page.get("/?status=blocked&text=nothing").await.text().contains("There is no such run."));
    let wrong = page.get("/?status=odd").await;
    assert_eq!((wrong.status, wrong.headers["content-type"].to_str().unwrap()), (400, "text/html; charset=utf-8"));
    assert!(wrong.text().contains("odd"));
    served.client.post(&format!("/api/runs/{hangs}/cancel"), &json!({ "when": "now" })).await;
    assert_eq!(served.rest(&hangs).await["phase"], "cancelled");
    served.stop().await;
}

const EVIL: &str = "\"><script>owned()</script><img src=x onerror=owned()>[x](javascript:owned())";
const SECRET: &str = "sk-live-abcdefghijklmnop0123456789";

/// Has scripts and secrets in its mouth.
fn evil(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => say(&format!("{EVIL} {SECRET}")),
        1 => call("look", &format!("{EVIL} {SECRET}")),
        2 => call(EVIL, EVIL),
        3 => call("pay", &format!("{EVIL} {SECRET}")),
        _ => say(EVIL),
    }
}

#[tokio::test]
async fn whatever_is_said_is_escaped_and_no_secret_is_shown() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let main = looker("main").tool(countersign::Tool::spec(&countersign_examples::suite::cast::pay()));
    let runner = stage(Single::default(), evil).agent(main).policy(Policy::execution()).build().unwrap();
    let served = serve(server(journal.clone()).profile("evil", &runner), journal).await;
    let page = Page::sign_in(&served, ANN).await;
    let begun = served.client.post("/api/runs", &json!({ "task": format!("{EVIL} {SECRET}"), "profile": "evil" })).await;
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    served.rest(&run).await;
    for path in ["/".to_owned(), format!("/runs/{run}"), format!("/?text={}", "%3Cscript%3E"), "/runs/%3Cscript%3Eowned()%3C/script%3E".to_owned()] {
        let html = page.get(&path).await.text();
        assert!(!html.contains("<script>owned") && !html.contains("<img src=x") && !html.contains(SECRET), "{path}: {html}");
        assert!(!html.contains("href=\"javascript:"), "{path}");
    }
    let html = page.get(&format!("/runs/{run}")).await.text();
    assert!(html.matches("&lt;script&gt;owned()").count() >= 3 && html.contains("[redacted]"), "{html}");
    let picture = page.get(&format!("/runs/{run}/picture")).await;
    assert_eq!(picture.headers["content-type"], "application/json");
    assert!(!picture.text().contains(SECRET) && !picture.json()["nodes"].as_array().unwrap().is_empty());
    served.stop().await;
}

#[tokio::test]
async fn everything_comes_from_the_server_and_nothing_stands_in_line() {
    let served = served().await;
    let page = Page::sign_in(&served, ANN).await;
    let run = served.start("pays").await;
    served.rest(&run).await;
    for path in ["/", &format!("/runs/{run}"), "/runs/none"] {
        let answer = page.get(path).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        let html = answer.text();
        assert!(!html.contains(" style=\"") && !html.contains("<style") && !html.contains(" onclick"), "{path}");
        assert!(html.split("<script").skip(1).all(|script| script.split_once('>').unwrap().1.starts_with("</script>")), "{path}");
        for address in loaded(&html) {
            assert!(address.starts_with("/assets/"), "{path} loads {address}");
            assert_eq!(served.client.as_("").get(&address).await.status, 200, "{address}");
        }
    }
    served.stop().await;
}

#[tokio::test]
async fn the_first_load_is_small() {
    let served = served().await;
    let page = Page::sign_in(&served, ANN).await;
    let run = served.start("pays").await;
    served.rest(&run).await;
    let html = page.get(&format!("/runs/{run}")).await;
    // Modules load others.
    let modules = ["parts.js", "timeline.js", "graph.js"].map(|name| format!("/assets/{name}"));
    let mut weight = html.body.len();
    for address in loaded(&html.text()).into_iter().chain(modules) {
        let small = served.client.send("GET", &address, &[("accept-encoding", "gzip, br")], None).await;
        assert_eq!(small.headers["content-encoding"], "gzip", "{address}");
        let plain = served.client.get(&address).await;
        assert!(!plain.headers.contains_key("content-encoding") && plain.body.len() > small.body.len(), "{address}");
        let again = served.client.send("GET", &address, &[("if-none-match", small.headers["etag"].to_str().unwrap())], None).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{address}");
        weight += small.body.len();
    }
    assert!(weight < FIRST_LOAD_MAX, "the page weighs {weight} bytes");
    println!("the page of a run weighs {weight} bytes, its HTML uncompressed");
    served.stop().await;
}

#[test]
fn scripts_are_short_and_put_no_text_in_as_markup() {
    let scripts: Vec<_> = files(&root().join("server/assets"), ".js").into_iter().filter(|path| !short(path).ends_with(".min.js")).collect();
    assert!(scripts.len() >= 5);
    for path in scripts {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() <= 250, "{} is too long: divide it", short(&path));
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "http://", "https://"] {
            let allowed = way == "http://" && short(&path).ends_with("graph.js");
            assert!(allowed || !text.contains(way), "{}: `{way}`", short(&path));
        }
    }
}
