//! A model for the survey that needs no key. It follows a script and thinks nothing up: every number in its
//! words comes from a tool result in its transcript.

use crate::seen::{Seen, Told, results, told};
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Model, ModelReply, ModelRequest};
use countersign_connect::tool::list::{Listed, read_listing};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The model.
pub fn model() -> impl Model + 'static {
    ScriptedModel(|request: &ModelRequest| match &*request.agent.name {
        "layout" => layout(request),
        "code" => code(request),
        "risks" => risks(request),
        _ => main_agent(request),
    })
}

fn main_agent(request: &ModelRequest) -> ModelReply {
    if replies(&request.transcript) == 0 {
        let task = told(request).next().unwrap_or_default();
        let hand_over = |reply: ModelReply, tool: &str| reply.and_call(tool, json!({"task": task}).to_string());
        return ["survey_layout", "survey_code", "survey_risks"].into_iter().fold(ModelReply::default(), hand_over);
    }
    let reports: Vec<Told> = results(request).iter().filter_map(|seen| Told::read(&seen.text)).collect();
    let dispositions: Vec<Value> = reports.iter().map(disposition).collect();
    let uncertain: Vec<&str> = reports.iter().filter(|r| r.claims.is_empty()).map(|r| r.summary.as_str()).collect();
    let said = |key: &str| reports.iter().find_map(|r| r.claim(key));
    let next = said("first_todo").map(|place| format!("look at {place}"));
    let next_actions: Vec<String> = next.into_iter().collect();
    let said = json!({
        "answer": answer(said), "dispositions": dispositions, "uncertainties": uncertain, "next_actions": next_actions,
    });
    ModelReply::call("conclude", said.to_string())
}

/// A report is used for its claims; one without any is set aside, and it is said why.
fn disposition(report: &Told) -> Value {
    match report.claims.is_empty() {
        false => json!({"result": report.result, "disposition": "adopted"}),
        true => json!({"result": report.result, "disposition": "rejected", "why": "it found nothing that it could claim"}),
    }
}

fn answer<'a>(said: impl Fn(&str) -> Option<&'a str>) -> String {
    let (Some(files), Some(bytes)) = (said("files"), said("bytes")) else {
        return "Nothing can be said of this folder.".to_owned();
    };
    let held = format!("{} of {bytes} bytes in all", count(files, "file"));
    let mut text = match said("title") {
        Some(title) => format!("The folder calls itself \"{title}\" and holds {held}."),
        None => format!("The folder holds {held} and has no README."),
    };
    if let (Some(language), Some(file), Some(lines)) = (said("language"), said("largest_file"), said("largest_file_lines")) {
        text += &format!(" It is written mostly in {language}; its largest source file is {file}, with {}.", count(lines, "line"));
    }
    match (said("todos"), said("first_todo")) {
        (Some(n), Some(place)) => text += &format!(" Marked as left to do: {}; the first is {place}.", count(n, "line")),
        (Some(_), None) => text += " Nothing is marked as left to do.",
        _ => {}
    }
    text
}

/// A number with its noun.
fn count(n: &str, what: &str) -> String {
    if n == "1" { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// What the folder holds, and what its README calls it.
fn layout(request: &ModelRequest) -> ModelReply {
    let seen = results(request);
    let Some(listing) = of(&seen, "list_files") else { return ModelReply::call("list_files", "{}") };
    if !listing.ok() {
        return report(&listing.text, Vec::new());
    }
    let (files, _) = read_listing(&listing.text);
    let readme = files.iter().find(|f| f.path.to_ascii_lowercase().starts_with("readme")).map(|f| &f.path);
    let page = of(&seen, "read_file");
    if let (Some(path), None) = (readme, page) {
        return ModelReply::call("read_file", json!({"path": path}).to_string());
    }
    let title = page.filter(|p| p.ok()).and_then(|p| p.text.lines().find(|l| !l.trim().is_empty()));
    let bytes: u64 = files.iter().map(|f| f.bytes).sum();
    let mut claims = vec![claim("files", files.len()), claim("bytes", bytes)];
    claims.extend(title.map(|t| claim("title", t.trim_start_matches('#').trim())));
    report("Counted what the folder holds.", claims)
}

/// What it is written in, and its largest source file.
fn code(request: &ModelRequest) -> ModelReply {
    let seen = results(request);
    let Some(listing) = of(&seen, "list_files") else { return ModelReply::call("list_files", "{}") };
    if !listing.ok() {
        return report(&listing.text, Vec::new());
    }
    let (files, _) = read_listing(&listing.text);
    let mut by_language: BTreeMap<&str, u64> = BTreeMap::new();
    let sources: Vec<(&Listed, &str)> = files.iter().filter_map(|f| Some((f, language(&f.path)?))).collect();
    for (file, language) in &sources {
        *by_language.entry(language).or_default() += file.bytes;
    }
    let main = by_language.iter().max_by_key(|(_, bytes)| **bytes).map(|(name, _)| *name);
    // Where nothing is source, the largest file of any kind is looked at.
    let largest = sources.iter().map(|(file, _)| *file).max_by_key(|f| f.bytes);
    let Some(looked_at) = largest.or_else(|| files.iter().max_by_key(|f| f.bytes)).map(|f| &f.path) else {
        return report("There was nothing to look at.", Vec::new());
    };
    let Some(file) = of(&seen, "read_file") else { return ModelReply::call("read_file", json!({"path": looked_at}).to_string()) };
    if !file.ok() {
        return report(&file.text, Vec::new());
    }
    let mut claims = vec![claim("files", files.len()), claim("largest_file", looked_at), claim("largest_file_lines", lines(&file.text))];
    claims.extend(main.map(|m| claim("language", m)));
    report("Looked at what it is written in.", claims)
}

/// What is marked as left to do.
fn risks(request: &ModelRequest) -> ModelReply {
    let seen = results(request);
    if seen.is_empty() {
        // Written in two parts, so that this line is not a hit of its own search.
        let search = |reply: ModelReply, mark: &str| reply.and_call("search_files", json!({"pattern": mark, "exact": true}).to_string());
        return [concat!("TO", "DO"), concat!("FIX", "ME")].into_iter().fold(ModelReply::default(), search);
    }
    if let Some(failed) = seen.iter().find(|s| !s.ok()) {
        return report(&failed.text, Vec::new());
    }
    let count = |s: &Seen<'_>| s.text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let first = seen.iter().filter(|s| count(s) > 0).find_map(|s| s.text.lines().nth(1));
    let place = first.and_then(|hit| hit.split(": ").next());
    let mut claims = vec![claim("todos", seen.iter().map(count).sum::<u64>())];
    claims.extend(place.map(|p| claim("first_todo", p)));
    report("Looked for what is left to do.", claims)
}

fn of<'a, 's>(seen: &'a [Seen<'s>], tool: &str) -> Option<&'a Seen<'s>> {
    seen.iter().find(|s| s.tool == tool)
}

fn claim(key: &str, value: impl ToString) -> Value {
    json!({"key": key, "value": value.to_string()})
}

fn report(summary: &str, claims: Vec<Value>) -> ModelReply {
    ModelReply::call("report", json!({"summary": summary, "claims": claims}).to_string())
}

/// Lines of a file, the note of a cut left out.
fn lines(text: &str) -> String {
    match text.rsplit_once("\n[cut: ") {
        Some((shown, _)) => format!("more than {}", shown.lines().count()),
        None => text.lines().count().to_string(),
    }
}

fn language(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1 {
        "rs" => "Rust",
        "c" | "h" => "C",
        "cc" | "cpp" | "hpp" => "C++",
        "go" => "Go",
        "py" => "Python",
        "js" | "mjs" | "jsx" => "JavaScript",
        "ts" | "tsx" => "TypeScript",
        "java" => "Java",
        "rb" => "Ruby",
        "sh" => "shell",
        _ => return None,
    })
}
