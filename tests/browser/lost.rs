//! A call of which nobody can tell what became of it: a person says so on the page, or has it run again.

use crate::browser::{Browser, Setup};
use crate::stage::{Stage, stage};

/// A run that waits for somebody to say what became of its call.
async fn lost(setup: Setup) -> Stage {
    let stage = stage(setup).await;
    stage.browser.start_run("wire", "Send 300.").await;
    stage.browser.until_badge("Blocked").await;
    stage.browser.find("#waiting form[data-act=resolve]").await;
    stage.browser.until_still().await;
    stage
}

async fn settled(browser: &Browser, words: &str) {
    browser.until(&format!("document.querySelector('#timeline').textContent.includes('{words}')")).await;
    browser.until("!document.querySelector('#waiting form[data-act=resolve]')").await;
}

#[tokio::test]
async fn what_a_person_knows_of_it_is_recorded_and_the_run_goes_on() {
    let stage = lost(Setup::default()).await;
    let browser = &stage.browser;
    let shown = browser.text("#waiting").await;
    assert!(shown.contains("What became of wire?") && shown.contains("DE0123456789"), "{shown}");
    assert!(!shown.contains("Continue verification"), "first it has to be said what became of the call: {shown}");
    browser.shot("lost-light").await;
    browser.fill("#waiting textarea[name=text]", "The bank says that it arrived.").await;
    browser.click("#waiting button[value=completed]").await;
    browser.until_badge("Completed").await;
    settled(browser, "The bank says that it arrived.").await;
    stage.end().await;
}

#[tokio::test]
async fn it_is_run_again_where_a_person_says_so() {
    let stage = lost(Setup { phone: true, ..Setup::default() }).await;
    let browser = &stage.browser;
    browser.shot("lost-phone").await;
    assert_eq!(browser.run(crate::looks::TOO_WIDE).await.as_str(), Some(""), "it scrolls sideways");
    let short = "[...document.querySelectorAll('#waiting button')].every((b) => b.getBoundingClientRect().height >= 24 && b.getBoundingClientRect().right <= innerWidth)";
    assert_eq!(browser.run(&format!("return {short}")).await, true);
    browser.click("#waiting button[value=retry]").await;
    browser.until_badge("Completed").await;
    settled(browser, "300 sent").await;
    stage.end().await;
}

#[tokio::test]
async fn it_has_failed_where_a_person_says_so_and_is_no_evidence() {
    let stage = lost(Setup { dark: true, ..Setup::default() }).await;
    let browser = &stage.browser;
    browser.shot("lost-dark").await;
    assert_eq!(browser.run(crate::looks::DIM).await.as_str(), Some(""));
    browser.fill("#waiting textarea[name=text]", "Nothing arrived.").await;
    browser.click("#waiting button[value=failed]").await;
    stage.go.add_permits(3);
    settled(browser, "Nothing arrived.").await;
    browser.until_badge("Blocked").await;
    assert!(browser.run("return document.querySelector('.final') === null").await.as_bool().unwrap());
    stage.end().await;
}
