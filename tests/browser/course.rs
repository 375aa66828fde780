//! The course of a run, as a person sees it: a candidate never looks final before it is.

use crate::browser::Setup;
use crate::stage::stage;
use serde_json::Value;

/// Writes down every state of the conversation in which something looks final, and every candidate that was shown.
const WATCH: &str = "
    window.seen = { finals: [], candidates: [] };
    const look = () => {
        for (const turn of document.querySelectorAll('.final')) window.seen.finals.push(turn.textContent);
        for (const turn of document.querySelectorAll('.candidate:not([hidden])')) window.seen.candidates.push(turn.textContent);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    look();";

async fn seen(browser: &crate::browser::Browser, what: &str) -> Vec<String> {
    let seen = browser.run(&format!("return window.seen.{what}")).await;
    seen.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_run_is_refused_then_looks_and_passes_and_no_candidate_looks_final() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.shot("list-empty").await;
    let run = browser.start_run("look", "Is the shop open?").await;
    browser.run(WATCH).await;
    browser.find(".candidate.refused").await;
    browser.until_still().await;
    assert!(browser.text(".candidate.refused").await.contains("evidence is required"));
    assert!(browser.text("#ruling").await.contains("do the work with a tool"));
    assert_eq!(seen(browser, "finals").await, Vec::<String>::new());
    browser.shot("refused").await;
    stage.go.add_permits(2);
    browser.find(".final").await;
    browser.until_badge("Completed").await;
    browser.until_still().await;
    let finals = seen(browser, "finals").await;
    assert!(!finals.is_empty() && finals.iter().all(|text| text.contains("the shop is open") && !text.contains("always was")), "{finals:?}");
    assert_eq!(browser.text(".final strong").await, "open");
    assert!(seen(browser, "candidates").await.iter().any(|text| text.contains("always was")));
    // What the answer rests on stands out, and says what it is.
    browser.click("#ruling a[data-node]").await;
    browser.until("document.querySelector('#details').textContent.includes('the final answer rests on it')").await;
    assert!(browser.run("return document.querySelectorAll('.node.answer, .node.evidence, .edge.proof').length").await.as_u64() >= Some(3));
    browser.shot("final").await;
    // A page that is loaded afterwards is the same.
    browser.open(&format!("/runs/{run}")).await;
    browser.find(".final").await;
    browser.find(".candidate.refused").await;
    stage.end().await;
}

#[tokio::test]
async fn a_blocked_run_says_why_is_continued_and_passes() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("stubborn", "Is the shop open?").await;
    browser.run(WATCH).await;
    stage.go.add_permits(1);
    browser.until_badge("Blocked").await;
    browser.find(".notice.blocked").await;
    browser.until_still().await;
    assert_eq!(seen(browser, "finals").await, Vec::<String>::new());
    browser.shot("blocked").await;
    browser.click("#continue button").await;
    stage.go.add_permits(2);
    browser.until_badge("Completed").await;
    assert!(browser.text(".final").await.contains("I looked after all."));
    assert!(seen(browser, "finals").await.iter().all(|text| !text.contains("Believe me")));
    browser.until("!document.querySelector('#continue') && !document.querySelector('#cancel')").await;
    stage.end().await;
}

#[tokio::test]
async fn several_agents_are_a_graph_and_a_timeline() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("team", "What is slow?").await;
    browser.until_badge("Completed").await;
    browser.until_still().await;
    assert!(browser.text("#timeline").await.contains("control goes to database"));
    browser.shot("team").await;
    // The keyboard goes from node to node, and chooses one.
    browser.run("document.querySelector('.node[tabindex=\"0\"]').focus()").await;
    browser.press("\u{e013}").await;
    browser.press("\u{e013}").await;
    browser.press("\u{e007}").await;
    browser.until("document.querySelector('.node[aria-pressed=\"true\"]') === document.activeElement").await;
    browser.until("document.querySelector('#details h3')").await;
    browser.shot("team-node").await;
    stage.end().await;
}
