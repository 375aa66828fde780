//! One run: its parts, and its evidence graph as data.

use super::{Html, conversation, frame, ruling, steering, waiting, words};
use crate::extract::Owned;
use crate::problem::Problem;
use crate::redact::Redactor;
use crate::state::AppState;
use crate::wire::Phase;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use countersign::explain::in_words;
use countersign::journal::projection::RunSummary;
use countersign::{GraphView, ROOT, Run};
use maud::{Markup, html};

/// Most nodes of the graph on the page. A browser lays it out anew whenever it grows, and takes about half a second for
/// this many.
const DRAWN_MAX: usize = 150;

/// What the parts of the page are made from.
pub(super) struct Seen<'a> {
    pub(super) run: &'a Run,
    pub(super) summary: &'a RunSummary,
    pub(super) phase: Phase,
    pub(super) redactor: &'a Redactor,
}

impl Seen<'_> {
    /// The address of something that may be said to the run.
    pub(super) fn at(&self, what: &str) -> String {
        format!("/api/runs/{}{what}", self.summary.run)
    }
}

/// `GET /runs/{run}`. Scripts fetch it again and take over the parts that have an id and `data-part`.
pub(super) async fn show(State(state): State<AppState>, owned: Owned) -> Result<Html, Problem> {
    let run = state.runs().read(&owned.run).await?;
    let last = run.ledger().log().last().map(|record| Phase::of(&record.event, run.final_answer().is_some()));
    let seen = Seen { run: &run, summary: &owned.run, phase: last.unwrap_or(Phase::InProgress), redactor: state.redactor() };
    let title = state.redactor().strike(&owned.run.title);
    let main = html! {
        (frame::bar())
        main.run #main tabindex="-1" data-run=(owned.run.run) {
            (head(&seen, &title))
            div.columns {
                div {
                    (conversation::of(&seen))
                    (preview())
                    (waiting::of(&seen))
                    (ruling::of(&seen))
                    (steering::of(&seen))
                }
                div { (graph()) (timeline(&seen)) }
            }
        }
    };
    Ok(frame::page(&title, &["dagre.min.js", "run.js", "act.js"], &main))
}

fn head(seen: &Seen<'_>, title: &str) -> Markup {
    let reason = seen.run.ledger().last_decision(ROOT).filter(|_| seen.summary.reason.is_some()).map(|decision| decision.completion_reason);
    html! {
        p { a href="/" { "All runs" } }
        h1 { (title) }
        div.standing #standing data-part role="status" {
            (words::badge(seen.phase))
            @if let Some(reason) = reason { span.why { (in_words(reason)) } }
        }
        p.hint {
            @if let Some(profile) = &seen.summary.profile { (profile) " · " }
            (seen.summary.mode) " · begun " (words::moment(seen.summary.started_ms))
        }
        p.trouble #connection role="alert" hidden {}
    }
}

/// Where a candidate grows while its model writes it. Never an answer.
fn preview() -> Markup {
    html! {
        div #preview.turn.candidate hidden {
            p.who { "Candidate, not final" }
            p.text {}
        }
    }
}

fn graph() -> Markup {
    html! {
        section.panel aria-labelledby="graph-title" {
            h2 #graph-title { "Evidence" }
            p.hint { "Newer nodes rest on older ones. Choose a node to see what it is; arrow keys go from one to the next." }
            ul.legend aria-label="Colours" {
                li.open { "open" } li.evidence { "evidence" } li.answer { "the answer" } li.failed { "did not end well" } li.plain { "others" }
            }
            div.graph #graph {}
            p.hint #left-out hidden {}
            div.details #details aria-live="polite" { p.hint { "No node is chosen." } }
            (frame::without_scripts("The graph needs JavaScript; it can be opened as a picture, below."))
        }
    }
}

fn timeline(seen: &Seen<'_>) -> Markup {
    html! {
        section.panel aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            ol.timeline #timeline {}
            (frame::without_scripts("The live timeline needs JavaScript."))
            p.hint {
                a href=(seen.at("/events")) { "Every record" } " · "
                a href=(seen.at("/graph?format=svg")) { "The graph as a picture" } " · "
                a href=(seen.at("/report?format=markdown")) { "The report" } " · "
                a href=(seen.at("/decision")) { "The decision" }
            }
        }
    }
}

/// `GET /runs/{run}/picture`: the part of the evidence graph that is drawn.
pub(super) async fn picture(State(state): State<AppState>, owned: Owned) -> Result<Response, Problem> {
    let run = state.runs().read(&owned.run).await?;
    let view = GraphView { drawn_max: DRAWN_MAX, ..GraphView::of(run.ledger(), run.ledger().last_decision(ROOT)) };
    let picture = view.picture();
    let json = serde_json::to_string(&picture).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, "application/json")], state.redactor().strike(&json).into_owned()).into_response())
}
