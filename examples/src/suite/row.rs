//! What a scenario came to, live or told as text.

use super::{Live, all};
use crate::script::{self, play};
use countersign::{Decision, Event, Gate, Run};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One scenario, and what it came to; or why it could not be played.
pub struct Row {
    /// Its name.
    pub scenario: String,
    /// What it shows, in a line.
    pub about: String,
    /// What it came to.
    pub came_to: Result<CameTo, String>,
}

/// What a scenario came to.
pub struct CameTo {
    /// The ruling with which it ended.
    pub end: Decision,
    /// The refusals before that, in order.
    pub refused: Vec<Decision>,
    /// What it should have come to, where that is something else.
    pub wrong: Option<String>,
    /// The whole run.
    pub run: Run,
}

impl Row {
    /// Whether it came to what it must.
    pub fn is_right(&self) -> bool {
        self.came_to.as_ref().is_ok_and(|c| c.wrong.is_none())
    }

    /// What is wrong with it, if anything.
    pub fn wrong(&self) -> Option<&str> {
        match &self.came_to {
            Ok(came_to) => came_to.wrong.as_deref(),
            Err(why) => Some(why),
        }
    }

    /// As one JSON object.
    pub fn to_json(&self) -> Value {
        let head = json!({ "scenario": self.scenario, "about": self.about, "asItMustBe": self.is_right(), "wrong": self.wrong() });
        let (Value::Object(mut object), Ok(came_to)) = (head.clone(), &self.came_to) else { return head };
        object.insert("mode".into(), json!(came_to.end.agent_mode));
        object.insert("events".into(), json!(came_to.run.ledger().seq()));
        object.insert("refused".into(), came_to.refused.iter().map(|d| json!(d.completion_reason)).collect());
        object.insert("decision".into(), json!(came_to.end));
        Value::Object(object)
    }
}

/// The folder of the text scenarios.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

/// Plays every scenario whose name contains `only`: the live ones, then those told as text in a folder.
/// `watch` is told the name of each before it is played.
pub async fn rows(folder: &Path, only: &str, mut watch: impl FnMut(&str)) -> std::io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for live in all().filter(|l| l.name.contains(only)) {
        watch(live.name);
        rows.push(live.row().await);
    }
    for file in texts(folder)? {
        let name = file.strip_prefix(folder).unwrap_or(&file).with_extension("").to_string_lossy().replace('\\', "/");
        if name.contains(only) {
            watch(&name);
            rows.push(told(name, &std::fs::read_to_string(&file)?));
        }
    }
    Ok(rows)
}

impl Live {
    /// Runs it, and compares what it came to with what it must come to.
    pub async fn row(&self) -> Row {
        let came_to = match self.run().await {
            Ok(result) => {
                let refused = refusals(&result.run, &result.decision);
                let wrong = self.wrong(&result.decision, &refused);
                Ok(CameTo { end: (*result.decision).clone(), refused, wrong, run: result.run })
            }
            Err(why) => Err(why.to_string()),
        };
        Row { scenario: self.name.into(), about: self.about.into(), came_to }
    }

    fn wrong(&self, end: &Decision, refused: &[Decision]) -> Option<String> {
        let (status, reason) = self.must;
        let reasons: Vec<&str> = refused.iter().map(|d| d.completion_reason.name()).collect();
        let wanted: Vec<&str> = self.refused.iter().map(|r| r.name()).collect();
        if (end.status, end.completion_reason) != (status, reason) {
            return Some(format!("must be {} {}", name(status), reason.name()));
        }
        (reasons != wanted).then(|| format!("must be refused on the way for: {}", wanted.join(", ")))
    }
}

/// Every refusal that the log has, but for the one with which the run ended.
fn refusals(run: &Run, end: &Decision) -> Vec<Decision> {
    let ruled = run.ledger().log().iter().filter_map(|r| match &r.event {
        Event::Decided { decision, .. } if !decision.finalizable => Some((**decision).clone()),
        _ => None,
    });
    ruled.filter(|d| d.at_seq != end.at_seq).collect()
}

/// Tells a text scenario, and compares what the gate says with what stands there.
fn told(scenario: String, text: &str) -> Row {
    let (about, came_to) = match script::parse(text) {
        Ok(script) => (script.said("title").unwrap_or_default().to_owned(), came_to(&script, text)),
        Err(why) => (String::new(), Err(why.to_string())),
    };
    Row { scenario, about, came_to }
}

fn came_to(script: &script::Script, text: &str) -> Result<CameTo, String> {
    let said = play::play(script).map_err(|e| e.to_string())?;
    let run = Run::replay(Arc::new(Gate::default()), said.log).map_err(|e| e.to_string())?;
    let mut rulings = said.rulings;
    let end = rulings.pop().ok_or("the gate is never asked")?;
    let finals = script.said("finals").and_then(|f| f.parse::<usize>().ok()).filter(|f| *f != said.finals);
    let wrong = match finals {
        Some(finals) => Some(format!("must have {finals} finals")),
        None if script::rewritten(text, &said.lines) != text => Some(format!("the gate says: {}", said.lines.join("; "))),
        None => None,
    };
    Ok(CameTo { end, refused: rulings.into_iter().filter(|d| !d.finalized).collect(), wrong, run })
}

/// Every text scenario below a folder, in order of their paths.
fn texts(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            match () {
                () if path.is_dir() => todo.push(path),
                () if path.extension().is_some_and(|e| e == "txt") => found.push(path),
                () => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The name of a word of the contract, as it stands on the wire.
pub(super) fn name(word: impl Serialize) -> String {
    serde_json::to_value(word).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
