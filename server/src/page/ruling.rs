//! The newest decision, with everything that is missing and what would settle it.

use super::run::Seen;
use super::words;
use crate::wire::shown;
use countersign::explain::in_words;
use countersign::{Decision, Finding, NodeId, ROOT, Ref};
use maud::{Markup, html};

/// The newest ruling on the run.
pub(super) fn of(seen: &Seen<'_>) -> Markup {
    let ruling = seen.run.ledger().last_decision(ROOT).map(shown);
    html! {
        section.panel #ruling data-part aria-labelledby="ruling-title" {
            h2 #ruling-title { "The gate" }
            @match ruling {
                None => p.hint { "It has not ruled yet: it rules when there is a candidate, or nothing is left to do." },
                Some(ruling) => (ruled(seen, &ruling)),
            }
        }
    }
}

fn ruled(seen: &Seen<'_>, ruling: &Decision) -> Markup {
    let verdict = if ruling.finalized { "Final" } else { "Not final" };
    html! {
        p.verdict { strong { (verdict) } ": " (in_words(ruling.completion_reason)) "." }
        @if ruling.finalized { p { "The answer is " (words::backing(ruling.verification)) "." } }
        @if !ruling.missing_checks.is_empty() {
            h3 { "What is missing" }
            ul.findings { @for finding in &ruling.missing_checks { (found(seen, finding)) } }
        }
        (refs(seen, "It rests on", &ruling.evidence_refs))
        (refs(seen, "What failed for good", &ruling.failed_refs))
        p.hint { "Ruled after event " (ruling.at_seq) "." }
    }
}

fn found(seen: &Seen<'_>, finding: &Finding) -> Markup {
    html! {
        li {
            p { (seen.redactor.strike(&finding.message)) }
            p.remedy { "→ " (seen.redactor.strike(&finding.remedy)) }
            p.hint {
                "check " code { (finding.check) }
                @for subject in finding.subjects.iter().filter(|subject| subject.node != ROOT) { " · " (link(subject)) }
            }
        }
    }
}

fn refs(seen: &Seen<'_>, title: &str, refs: &[Ref]) -> Markup {
    let ledger = seen.run.ledger();
    let name = |node: NodeId| ledger.tool_run(node).and_then(|run| ledger.call(run)).map(|call| seen.redactor.strike(&call.name));
    html! {
        @if !refs.is_empty() {
            h3 { (title) }
            ul.refs { @for one in refs { li { (link(one)) @if let Some(name) = name(one.node) { " " code { (name) } } } } }
        }
    }
}

/// A node by its reference; scripts choose it in the graph.
fn link(node: &Ref) -> Markup {
    html! { a href="#graph" data-node=(node.node) { (node) } }
}
