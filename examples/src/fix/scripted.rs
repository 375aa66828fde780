//! A model for the mending run that needs no key. It follows a script; what is edited, whether the plan is
//! revised and what is answered all come from tool results.

use super::RUSTC;
use super::diagnostics::{Fix, errors, fixes};
use crate::seen::{Seen, results, told};
use countersign::testing::ScriptedModel;
use countersign::{Model, ModelReply, ModelRequest};
use countersign_connect::tool::list::read_listing;
use serde_json::{Value, json};

/// A file of the project that says how it is checked: one argument a line.
pub const CHECK_FILE: &str = "check.argv";
/// How a step says that the check is content.
const PASSES: &str = "The check passes.";
/// What stands before each edit that the compiler suggests, in the words of a step.
const SUGGESTED: &str = "Suggested: ";

/// The model.
pub fn model() -> impl Model + 'static {
    ScriptedModel(|request: &ModelRequest| match &*request.agent.name {
        "planner" => planner(),
        "replanner" => replanner(request),
        _ => executor(request),
    })
}

fn planner() -> ModelReply {
    let steps = json!([
        {"id": "look", "text": "run the check and say what it suggests"},
        {"id": "edit", "text": "edit what was suggested", "needs": ["look"]},
        {"id": "check", "text": "run the check again", "needs": ["edit"]},
    ]);
    ModelReply::call("plan", json!({"steps": steps}).to_string())
}

fn executor(request: &ModelRequest) -> ModelReply {
    let order: Vec<_> = told(request).collect();
    let order = order.join("\n");
    let seen = results(request);
    if order.starts_with("Carry out step `edit") { edit(&order, &seen) } else { check(&seen) }
}

/// Finds out how the project is checked, checks it, and says what came of that.
fn check(seen: &[Seen<'_>]) -> ModelReply {
    let of = |tool: &str| seen.iter().find(|s| s.tool == tool);
    let Some(listing) = of("list_files") else { return ModelReply::call("list_files", "{}") };
    if !listing.ok() {
        return ModelReply::text(format!("The project cannot be looked at: {}", listing.text));
    }
    let (files, _) = read_listing(&listing.text);
    let has = |name: &str| files.iter().any(|f| *f.path == *name);
    if let Some(check) = of("run_command") {
        return ModelReply::text(outcome(check));
    }
    let argv: Vec<String> = match of("read_file") {
        Some(file) => file.text.lines().map(str::to_owned).collect(),
        None if has(CHECK_FILE) => return ModelReply::call("read_file", json!({"path": CHECK_FILE}).to_string()),
        None => {
            let root = ["src/lib.rs", "lib.rs", "src/main.rs"].into_iter().find(|r| has(r)).unwrap_or("src/lib.rs");
            RUSTC.iter().copied().chain([root]).map(str::to_owned).collect()
        }
    };
    ModelReply::call("run_command", json!({"argv": argv}).to_string())
}

/// The outcome of a check in words, with every edit that the compiler is sure of.
fn outcome(check: &Seen<'_>) -> String {
    if check.ok() {
        return PASSES.to_owned();
    }
    let errors = errors(&check.text);
    let why = if errors.is_empty() { check.text.lines().next().unwrap_or_default().to_owned() } else { errors.join("; ") };
    let suggested = fixes(&check.text).into_iter().filter_map(|f| serde_json::to_string(&f).ok());
    suggested.fold(format!("The check fails: {why}"), |text, fix| text + "\n" + SUGGESTED + &fix)
}

/// Makes the edits that the step before it was told of, one after another. With none to make it has nothing
/// to say, and so the step is not done.
fn edit(order: &str, seen: &[Seen<'_>]) -> ModelReply {
    let fixes = suggested(order);
    if let Some(fix) = fixes.get(seen.len()) {
        return ModelReply::call("patch_file", json!(fix).to_string());
    }
    let line = |(fix, seen): (&Fix, &Seen<'_>)| {
        if seen.ok() { format!("{}:{} now reads `{}`", fix.path, fix.line, fix.new.trim()) } else { seen.text.clone() }
    };
    ModelReply::text(fixes.iter().zip(seen).map(line).collect::<Vec<_>>().join("; "))
}

fn suggested(text: &str) -> Vec<Fix> {
    text.lines().filter_map(|l| l.split_once(SUGGESTED)).filter_map(|(_, fix)| serde_json::from_str(fix).ok()).collect()
}

/// One step, as a replanner is shown it.
struct Shown<'a> {
    id: &'a str,
    done: bool,
    text: &'a str,
}

/// Answers, revises, or gives up what cannot be done, with the reason.
fn replanner(request: &ModelRequest) -> ModelReply {
    let prompt = told(request).next().unwrap_or_default();
    let plan = shown(&prompt);
    let verdict = match plan.iter().rev().find(|s| s.done && !s.id.starts_with("edit")) {
        None => given_up(&plan, "nothing could be looked at"),
        Some(last) if last.text.starts_with(PASSES) && plan.iter().any(|s| s.done && s.id.starts_with("edit")) => answered(&plan),
        Some(last) if last.text.starts_with(PASSES) => given_up(&plan, "the check passed as things were; there was nothing to mend"),
        Some(last) if last.id != "look" && !suggested(last.text).is_empty() => revised(&plan, last.id),
        Some(last) => given_up(&plan, last.text.lines().next().unwrap_or_default()),
    };
    ModelReply::call("verdict", verdict.to_string())
}

fn answered(plan: &[Shown<'_>]) -> Value {
    let edits: Vec<&str> = plan.iter().filter(|s| s.done && s.id.starts_with("edit")).map(|s| s.text.trim()).collect();
    json!({"act": "respond", "answer": format!("The check passes. What was edited: {}.", edits.join("; "))})
}

fn revised(plan: &[Shown<'_>], after: &str) -> Value {
    let round = plan.iter().filter(|s| s.id.starts_with("edit")).count() + 1;
    let (edit, check) = (format!("edit-{round}"), format!("check-{round}"));
    json!({"act": "revise", "steps": [
        {"id": edit, "text": "edit what was suggested", "needs": [after]},
        {"id": check, "text": "run the check again", "needs": [edit]},
    ]})
}

fn given_up(plan: &[Shown<'_>], why: &str) -> Value {
    let blocked: Vec<Value> = plan.iter().filter(|s| !s.done).map(|s| json!({"id": s.id, "why": why})).collect();
    json!({"act": "respond", "answer": format!("Nothing could be mended: {why}"), "blocked": blocked})
}

/// Reads "- `look` (…): done: …" and the lines below it, for every step.
fn shown(prompt: &str) -> Vec<Shown<'_>> {
    let step = |text: &'_ str| -> Option<(usize, usize)> { Some((text.find('`')?, text.find("): ")?)) };
    let parts = prompt.split("\n- `").skip(1);
    parts
        .filter_map(|part| {
            let (quote, outcome) = step(part)?;
            let said = part.get(outcome + 3..)?;
            Some(Shown { id: part.get(..quote)?, done: said.starts_with("done: "), text: said.strip_prefix("done: ").unwrap_or(said) })
        })
        .collect()
}
