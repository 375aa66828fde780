//! What people have to do before a run goes on: grant, answer, say what became of a call, or that it is to go on.

use super::run::Seen;
use crate::wire::Phase;
use countersign::{Ledger, NodeId, Str};
use maud::{Markup, html};

/// Everything that waits for a person. What stands in it is kept by scripts while a person is writing.
pub(super) fn of(seen: &Seen<'_>) -> Markup {
    let open = seen.run.ledger().open();
    html! {
        div #waiting data-part="keep" {
            @for approval in open.approvals.iter() { (to_approve(seen, approval)) }
            @for question in open.questions.iter() { (to_answer(seen, question)) }
            @for call in open.lost.iter() { (to_resolve(seen, call)) }
            @if seen.phase == Phase::Blocked && open.lost.is_empty() { (to_go_on(seen)) }
        }
    }
}

/// Who did something.
fn agent(ledger: &Ledger, activation: NodeId) -> Str {
    ledger.activation(activation).map(|activation| activation.agent.clone()).unwrap_or_default()
}

/// JSON with a line a field, so that it can be read and changed; anything else as it is.
fn laid_out(json: &str) -> String {
    let read: Option<serde_json::Value> = serde_json::from_str(json).ok();
    read.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.to_owned())
}

fn to_approve(seen: &Seen<'_>, approval: NodeId) -> Markup {
    let ledger = seen.run.ledger();
    let Some(on) = ledger.approval(approval).map(|approval| approval.on) else { return html! {} };
    let call = ledger.tool_run(on);
    let step = || ledger.step(on).and_then(|step| ledger.step_spec(step)).map(|step| step.id.clone());
    let name = call.and_then(|call| ledger.call(call)).map(|call| call.name.clone()).or_else(step).unwrap_or_default();
    let arguments = call.and_then(|call| ledger.args(call)).map(|text| laid_out(&seen.redactor.strike(text)));
    let id = format!("approval-{approval}");
    html! {
        form.panel.waits id=(id) data-act="approve" data-to=(seen.at(&format!("/approvals/{approval}"))) {
            h2 { "Approve " code { (seen.redactor.strike(&name)) } "?" }
            p { (agent(ledger, ledger.owner(on))) " wants to run it, and waits for you." }
            @if let Some(arguments) = arguments {
                label for={ (id) "-arguments" } { "Arguments (JSON); what you change is looked at before it runs" }
                textarea.code id={ (id) "-arguments" } name="arguments" rows=(arguments.lines().count().clamp(2, 12)) spellcheck="false" { (arguments) }
            }
            label for={ (id) "-why" } { "Why (the agent reads it)" }
            textarea id={ (id) "-why" } name="why" rows="1" {}
            div.buttons {
                button.primary name="granted" value="true" { "Approve" }
                button.danger name="granted" value="false" { "Deny" }
            }
            p.trouble role="alert" hidden {}
        }
    }
}

fn to_answer(seen: &Seen<'_>, question: NodeId) -> Markup {
    let ledger = seen.run.ledger();
    let Some(countersign::Event::QuestionAsked { activation, text, .. }) = ledger.made_by(question) else { return html! {} };
    let id = format!("question-{question}");
    html! {
        form.panel.waits id=(id) data-act="say" data-to=(seen.at(&format!("/questions/{question}"))) {
            h2 { (agent(ledger, *activation)) " asks you" }
            p.text { (seen.redactor.strike(text)) }
            label for={ (id) "-text" } { "Your answer" }
            textarea id={ (id) "-text" } name="text" rows="2" required {}
            div.buttons { button.primary { "Answer" } }
            p.trouble role="alert" hidden {}
        }
    }
}

fn to_go_on(seen: &Seen<'_>) -> Markup {
    html! {
        form.panel.waits #continue data-act="continue" data-to=(seen.at("/continue")) {
            h2 { "Is it to go on?" }
            p { "The agent is told what is missing, and has a fresh allowance." }
            div.buttons { button.primary type="submit" { "Continue verification" } }
            p.trouble role="alert" hidden {}
        }
    }
}

fn to_resolve(seen: &Seen<'_>, call: NodeId) -> Markup {
    let ledger = seen.run.ledger();
    let Some((run, made)) = ledger.tool_run(call).and_then(|run| Some((run, ledger.call(run)?))) else { return html! {} };
    let id = format!("lost-{call}");
    html! {
        form.panel.waits id=(id) data-act="resolve" data-to=(seen.at(&format!("/resolve/{call}"))) {
            h2 { "What became of " code { (seen.redactor.strike(&made.name)) } "?" }
            p { "It was under way for " (agent(ledger, run.activation)) " when whoever ran it was gone, and may not run twice." }
            pre { (laid_out(&seen.redactor.strike(&made.args))) }
            label for={ (id) "-text" } { "What is known of it (the agent reads it)" }
            textarea id={ (id) "-text" } name="text" rows="1" {}
            div.buttons {
                // None of them stands out: none is more likely than the others.
                button name="outcome" value="completed" { "It did what it was asked" }
                button name="outcome" value="failed" { "It failed, or never ran" }
                button name="outcome" value="retry" { "Run it again" }
            }
            p.trouble role="alert" hidden {}
        }
    }
}
