//! Scripts in tasks, in the names, arguments and results of tools, and in the Markdown of answers stay text.

use crate::browser::Setup;
use crate::stage::{EVIL, stage};

#[tokio::test]
async fn what_people_models_and_tools_say_stays_text() {
    let stage = stage(Setup::default()).await;
    let browser = &stage.browser;
    browser.start_run("evil", EVIL).await;
    stage.go.add_permits(10);
    browser.find("#waiting form").await;
    browser.until_still().await;
    assert!(browser.text("#waiting").await.contains("Approve pay?"));
    browser.click("#waiting button[value=true]").await;
    browser.until_badge("Completed").await;
    browser.until_still().await;
    browser.run("document.querySelectorAll('details').forEach((fold) => (fold.open = true))").await;
    let nodes = browser.run("return document.querySelectorAll('.node').length").await.as_u64().unwrap();
    for node in 0..nodes {
        browser.run(&format!("document.querySelectorAll('.node')[{node}].dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")).await;
    }
    browser.shot("injection").await;
    let text = browser.text("main").await;
    assert!(text.matches("<script>window.owned=1</script>").count() >= 5, "{text}");
    browser.open("/").await;
    browser.find(".card").await;
    assert_eq!(browser.run("return window.owned ?? null").await, serde_json::Value::Null);
    assert_eq!(browser.run("return document.querySelectorAll('main img, main script, a[href^=javascript]').length").await, 0);
    stage.end().await;
}
