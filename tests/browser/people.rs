//! What people do: grant, deny, answer, write, cancel.

use crate::browser::Setup;
use crate::stage::stage;

const ARGUMENTS: &str = "#waiting textarea[name=arguments]";

#[tokio::test]
async fn a_grant_with_other_arguments_is_carried_out_as_changed() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("pay", "Pay bill 17.").await;
    browser.until_badge("Awaiting approval").await;
    browser.find("#waiting form").await;
    browser.until_still().await;
    browser.shot("approval").await;
    // What is no JSON is not sent; what does not fit the tool is refused with reasons.
    browser.fill(ARGUMENTS, "{").await;
    browser.click("#waiting button[value=true]").await;
    browser.until("document.querySelector('#waiting .trouble').textContent.includes('no JSON')").await;
    browser.fill(ARGUMENTS, r#"{"what": 17}"#).await;
    browser.click("#waiting button[value=true]").await;
    browser.until("document.querySelector('#waiting .trouble').textContent.includes('do not fit')").await;
    browser.shot("approval-refused").await;
    browser.fill(ARGUMENTS, r#"{"what": "bill 18"}"#).await;
    browser.click("#waiting button[value=true]").await;
    browser.until_badge("Completed").await;
    browser.until("document.querySelector('#timeline').textContent.includes('bill 18: paid')").await;
    browser.until("!document.querySelector('#waiting form')").await;
    stage.end().await;
}

#[tokio::test]
async fn a_denied_call_never_runs() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("pay", "Pay bill 17.").await;
    browser.fill("#waiting textarea[name=why]", "It was paid last week.").await;
    browser.click("#waiting button[value=false]").await;
    browser.find(".candidate.refused").await;
    browser.until("document.querySelector('#timeline').textContent.includes('denied')").await;
    let text = browser.text("main").await;
    assert!(!text.contains("bill 17: paid"), "{text}");
    assert!(browser.run("return document.querySelector('.final') === null").await.as_bool().unwrap());
    browser.until_still().await;
    browser.shot("denied").await;
    stage.end().await;
}

#[tokio::test]
async fn the_keyboard_is_enough_to_approve() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("pay", "Pay bill 17.").await;
    browser.find("#waiting form").await;
    browser.run("document.activeElement.blur(); window.scrollTo(0, 0)").await;
    let mut reached = false;
    for _ in 0..30 {
        browser.press("\u{e004}").await;
        reached = browser.run("return document.activeElement.textContent === 'Approve'").await.as_bool().unwrap();
        if reached {
            break;
        }
    }
    assert!(reached, "the button is not reached by the tab key");
    browser.shot("keyboard").await;
    browser.press("\u{e007}").await;
    browser.until_badge("Completed").await;
    // The form is gone, and the keyboard goes on from the run.
    browser.until("document.activeElement.id === 'main'").await;
    stage.end().await;
}

#[tokio::test]
async fn a_question_is_answered_and_the_report_is_copied() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("ask", "Is the shop open?").await;
    browser.find("#waiting textarea[name=text]").await;
    browser.until_still().await;
    browser.shot("question").await;
    browser.fill("#waiting textarea[name=text]", "The one in the High Street.").await;
    browser.click("#waiting button").await;
    browser.until_badge("Completed").await;
    browser.until("document.querySelector('#conversation').textContent.includes('The one in the High Street.')").await;
    browser.click("#copy button").await;
    browser.until("document.querySelector('#copy [role=status]').textContent === 'Copied.'").await;
    stage.end().await;
}

#[tokio::test]
async fn cards_follow_their_runs() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    let run = browser.start_run("hang", "Wait for it.").await;
    browser.open("/").await;
    browser.find(&format!("#{run}.in-progress")).await;
    browser
        .run(&format!(
            "fetch('/api/runs/{run}/cancel', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: '{{\"when\":\"now\"}}' }})"
        ))
        .await;
    browser.find(&format!("#{run}.cancelled")).await;
    stage.end().await;
}

#[tokio::test]
async fn a_run_is_told_something_and_cancelled() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    let run = browser.start_run("hang", "Wait for it.").await;
    browser.until("document.querySelector('#timeline').textContent.includes('calls hang')").await;
    browser.fill("#message", "And then tell me more.").await;
    browser.click("#say button").await;
    browser.until("document.querySelector('#conversation').textContent.includes('And then tell me more.')").await;
    browser.until("document.querySelector('#message').value === ''").await;
    browser.open("/").await;
    browser.find(&format!("#{run}.in-progress")).await;
    browser.shot("list-at-work").await;
    browser.open(&format!("/runs/{run}")).await;
    browser.until("[...document.querySelectorAll('#cancel button')].map((b) => b.value).join() === 'now,after_reply,after_tools'").await;
    browser.click("#cancel button[value=now]").await;
    browser.until_badge("Cancelled").await;
    browser.find(".notice.cancelled").await;
    stage.end().await;
}
