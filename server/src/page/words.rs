//! Phases and moments, for people.

use crate::wire::Phase;
use countersign::Verification;
use maud::{Markup, html};
use std::time::{Duration, UNIX_EPOCH};

/// A phase: the name of its style, and its words.
pub(super) fn phase(phase: Phase) -> (&'static str, &'static str) {
    match phase {
        Phase::InProgress => ("in-progress", "In progress"),
        Phase::Verifying => ("verifying", "Verifying"),
        Phase::Finalising => ("finalising", "Finalising"),
        Phase::AwaitingApproval => ("awaiting-approval", "Awaiting approval"),
        Phase::Completed => ("completed", "Completed"),
        Phase::Blocked => ("blocked", "Blocked"),
        Phase::Failed => ("failed", "Failed"),
        Phase::Cancelled => ("cancelled", "Cancelled"),
    }
}

/// A phase as a badge.
pub(super) fn badge(of: Phase) -> Markup {
    let (style, words) = phase(of);
    html! { span class={ "badge " (style) } { (words) } }
}

/// How far an answer is backed.
pub(super) fn backing(verification: Verification) -> &'static str {
    match verification {
        Verification::Verified => "verified: it rests on completed evidence",
        Verification::VerifiedPartial => "verified in part: it rests on completed evidence, and something failed for good",
        Verification::NotRequired => "not verified: no evidence was required",
        Verification::Unverified => "not verified: delivered because the policy says so, although something is missing",
        Verification::None => "not verified",
    }
}

/// A moment, in milliseconds since the Unix epoch. Scripts write it in the reader's own time.
pub(super) fn moment(ms: u64) -> Markup {
    // A log may say anything; what no calendar has is shown as the number that it is.
    let at = UNIX_EPOCH.checked_add(Duration::from_millis(ms)).filter(|_| ms < 253_402_300_800_000);
    match at.map(humantime::format_rfc3339_seconds) {
        Some(at) => html! { time datetime=(at) { (at) } },
        None => html! { time { (ms) } },
    }
}
