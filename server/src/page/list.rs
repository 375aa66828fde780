//! The cards of runs, and the form that starts one.

use super::{Html, frame, words};
use crate::access::Who;
use crate::extract::Asked;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::Phase;
use axum::Extension;
use axum::extract::State;
use countersign::explain::in_words;
use countersign::journal::projection::{RunQuery, RunSummary};
use countersign::{Status, Str};
use maud::{Markup, html};
use serde::Deserialize;

/// Cards on one page.
const CARDS_MAX: usize = 50;

/// Ways to look at the list: what the address says, and what people read.
const FILTERS: &[(Option<Status>, &str)] = &[
    (None, "All"),
    (Some(Status::InProgress), "In progress"),
    (Some(Status::AwaitingApproval), "Awaiting approval"),
    (Some(Status::Blocked), "Blocked"),
    (Some(Status::Completed), "Completed"),
    (Some(Status::Failed), "Failed"),
    (Some(Status::Cancelled), "Cancelled"),
];

/// Which runs to show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// Runs that stand so.
    status: Option<Status>,
    /// Runs whose title contains this.
    #[serde(default)]
    text: String,
    /// Runs that began before then: milliseconds since the Unix epoch. Where a page goes on.
    before: Option<u64>,
}

/// A card: a run, and where it stands.
struct Card {
    run: RunSummary,
    phase: Phase,
}

/// `GET /`.
pub(super) async fn show(State(state): State<AppState>, Extension(who): Extension<Who>, Asked(which): Asked<Which>) -> Result<Html, Problem> {
    let text = (!which.text.trim().is_empty()).then(|| Str::from(which.text.trim()));
    let query = RunQuery { status: which.status, text, before_ms: which.before, most: CARDS_MAX, ..RunQuery::default() };
    let mut cards = Vec::new();
    for run in state.runs().list(&who, query).await? {
        cards.push(Card { phase: phase(&state, &run).await?, run });
    }
    let main = html! {
        (frame::bar())
        main #main {
            h1 { "Runs" }
            (start(&state))
            (filters(&which))
            (list(&state, &cards, &which))
            (frame::without_scripts("Without JavaScript you can read runs here, but not start or steer them."))
        }
    };
    Ok(frame::page("Runs", &["list.js", "act.js"], &main))
}

/// Where a run's card stands: what its newest record says.
async fn phase(state: &AppState, run: &RunSummary) -> Result<Phase, Problem> {
    let last = state.runs().journal().read(&run.run, run.seq.saturating_sub(1), 1).await?;
    Ok(last.last().map_or(Phase::InProgress, |record| Phase::of(&record.event, true)))
}

fn start(state: &AppState) -> Markup {
    html! {
        form.panel.start data-act="start" {
            label for="task" { "Task" }
            textarea #task name="task" rows="3" required {}
            div.row {
                label for="profile" { "Carried out by" }
                select #profile name="profile" {
                    @for (name, mode) in state.runs().profiles().names() { option value=(name) { (name) " (" (mode) ")" } }
                }
            }
            label.check { input type="checkbox" name="evidence"; "The answer has to rest on completed work" }
            button.primary type="submit" { "Start" }
            p.trouble role="alert" hidden {}
        }
    }
}

fn filters(which: &Which) -> Markup {
    html! {
        nav.filters aria-label="Runs by how they stand" {
            @for (status, words) in FILTERS {
                @let here = *status == which.status;
                a href={ "/" (address(*status, None)) } aria-current=[here.then_some("page")] { (words) }
            }
        }
        form.row.search method="get" action="/" role="search" {
            label for="text" { "In the task" }
            input #text name="text" type="search" value=(which.text);
            @if let Some(status) = which.status { input type="hidden" name="status" value=(status.name()); }
            button type="submit" { "Find" }
        }
    }
}

/// What stands after the path of a list.
fn address(status: Option<Status>, before: Option<u64>) -> String {
    let parts = [status.map(|status| format!("status={}", status.name())), before.map(|before| format!("before={before}"))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
}

fn list(state: &AppState, cards: &[Card], which: &Which) -> Markup {
    let older = cards.last().filter(|_| cards.len() == CARDS_MAX).map(|card| card.run.started_ms);
    html! {
        ul.cards #cards data-part {
            @if cards.is_empty() { li.hint { "There is no such run." } }
            @for card in cards { (one(state, card)) }
        }
        @if let Some(before) = older { p { a href={ "/" (address(which.status, Some(before))) } { "Older runs" } } }
    }
}

fn one(state: &AppState, Card { run, phase }: &Card) -> Markup {
    let (style, _) = words::phase(*phase);
    html! {
        li id=(run.run) class={ "card " (style) } {
            (words::badge(*phase))
            a.title href={ "/runs/" (run.run) } { (state.redactor().strike(&run.title)) }
            @if let Some(reason) = run.reason { p.why { (in_words(reason)) } }
            p.hint { @if let Some(profile) = &run.profile { (profile) " · " } (run.mode) " · " (words::moment(run.started_ms)) }
        }
    }
}
