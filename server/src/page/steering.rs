//! What people may do at any time: say something, cancel, copy the report.

use super::run::Seen;
use maud::{Markup, html};

/// What may be done as the run stands.
pub(super) fn of(seen: &Seen<'_>) -> Markup {
    let has_ended = seen.summary.status.is_terminal();
    html! {
        section.panel #steering data-part="keep" aria-label="What you can do" {
            @if has_ended { h2 #has-ended { "Report" } }
            @else { h2 #goes-on { "Steer" } (say(seen)) (cancel(seen)) }
            form #copy data-act="copy" data-from=(seen.at("/report?format=markdown")) {
                button type="submit" { "Copy the report" }
                " " span.hint role="status" {}
                p.trouble role="alert" hidden {}
            }
        }
    }
}

fn say(seen: &Seen<'_>) -> Markup {
    html! {
        form #say data-act="say" data-to=(seen.at("/messages")) {
            label for="message" { "Message to the run" }
            textarea #message name="text" rows="2" required {}
            label.check { input type="checkbox" name="followUp" checked; "As a follow-up: read when the answer would be accepted" }
            button type="submit" { "Send" }
            p.trouble role="alert" hidden {}
        }
    }
}

fn cancel(seen: &Seen<'_>) -> Markup {
    html! {
        form #cancel data-act="cancel" data-to=(seen.at("/cancel")) {
            fieldset {
                legend { "Cancel" }
                div.buttons {
                    button.danger name="when" value="now" { "Now" }
                    button name="when" value="after_reply" { "After the model's reply" }
                    button name="when" value="after_tools" { "After the tools under way" }
                }
            }
            p.trouble role="alert" hidden {}
        }
    }
}
