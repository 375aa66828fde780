//! How the page looks: phone width, dark and light, contrast.

use crate::browser::{Browser, Setup};
use crate::stage::{Stage, stage};

/// Pairs of letters and ground whose contrast is below what WCAG asks of normal text (AA, 4.5 to 1). Of each element that
/// has text of its own, with the nearest ground that is not clear.
pub const DIM: &str = "
    const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
    const light = (colour) => {
        const [r, g, b] = channels(colour).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (channels(colour).length < 4 || channels(colour)[3] > 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const dim = [];
    for (const element of document.body.querySelectorAll(':not(svg *)')) {
        if (!hasText(element) || !element.checkVisibility()) continue;
        const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) dim.push(`${element.tagName}.${element.className} ${contrast.toFixed(2)}: ${element.textContent.slice(0, 40)}`);
    }
    return dim.join('\\n');";

pub const TOO_WIDE: &str = "
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return '';
    return [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > width + 1).map((e) => `${e.tagName}#${e.id}.${e.className}`).join(' ');";

/// One run of each kind, looked at in each state.
async fn tour(stage: &Stage, name: &str, look: impl AsyncFn(&Browser, &str)) {
    let browser = &stage.browser;
    browser.start_run("pay", "Pay bill 17, which came with a-reference-that-is-very-long-and-has-no-spaces-0123456789-0123456789.").await;
    browser.find("#waiting form").await;
    browser.until_still().await;
    look(browser, &format!("{name}-approval")).await;
    browser.start_run("stubborn", "Is the shop open?").await;
    stage.go.add_permits(1);
    browser.until_badge("Blocked").await;
    browser.until_still().await;
    look(browser, &format!("{name}-blocked")).await;
    browser.start_run("team", "What is slow?").await;
    browser.until_badge("Completed").await;
    browser.until_still().await;
    look(browser, &format!("{name}-final")).await;
    browser.open("/").await;
    browser.find(".card.completed").await;
    look(browser, &format!("{name}-list")).await;
    browser.click("form[data-act=sign-out] button").await;
    browser.find("#token").await;
    look(browser, &format!("{name}-sign-in")).await;
}

async fn is_legible(browser: &Browser, name: &str) {
    browser.shot(name).await;
    assert_eq!(browser.run(DIM).await.as_str(), Some(""), "{name}");
    assert_eq!(browser.run(TOO_WIDE).await.as_str(), Some(""), "{name} scrolls sideways");
}

#[tokio::test]
async fn on_a_phone_nothing_scrolls_sideways() {
    let stage = stage(Setup { phone: true, ..Setup::default() }).await;
    assert_eq!(stage.browser.run("return innerWidth").await, 360);
    tour(&stage, "phone", is_legible).await;
    stage.end().await;
}

#[tokio::test]
async fn in_the_dark_everything_can_be_read() {
    let stage = stage(Setup { dark: true, ..Setup::default() }).await;
    assert_eq!(stage.browser.run("return matchMedia('(prefers-color-scheme: dark)').matches").await, true);
    tour(&stage, "dark", is_legible).await;
    stage.end().await;
}

#[tokio::test]
async fn in_the_light_everything_can_be_read() {
    let stage = stage(Setup::default()).await;
    tour(&stage, "light", is_legible).await;
    stage.end().await;
}
