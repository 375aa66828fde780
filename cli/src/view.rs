//! What is shown while a run is under way: a tree where there is a terminal, lines where not, or JSON.

use super::tree;
use countersign::event::History;
use countersign::{CancelWhen, Decision, Event, Gate, NodeId, Outcome, ROOT, Record, Run};
use std::io::Write;
use std::sync::Arc;

/// How a run is shown.
pub(super) struct View {
    form: Form,
    /// The run as far as it was shown.
    run: Option<Run>,
}

enum Form {
    Json,
    Lines,
    /// With the number of lines that are on the screen.
    Tree(usize),
}

impl View {
    pub(super) fn json() -> Self {
        Self { form: Form::Json, run: None }
    }

    pub(super) fn of(terminal: bool) -> Self {
        Self { form: if terminal { Form::Tree(0) } else { Form::Lines }, run: None }
    }

    /// Shows one event more.
    pub(super) fn show(&mut self, record: &Arc<Record>, out: &mut dyn Write) -> anyhow::Result<()> {
        match &mut self.form {
            Form::Json => writeln!(out, "{}", serde_json::to_string(&**record)?)?,
            Form::Lines => lines(record).into_iter().for_each(|line| eprintln!("{line}")),
            Form::Tree(shown) => {
                match &mut self.run {
                    Some(run) => run.append_records(std::slice::from_ref(record))?,
                    // A run that is taken up again is shown from there, in lines.
                    None if record.seq == 1 => self.run = Some(Run::replay(Arc::new(Gate::default()), [record.clone()])?),
                    None => lines(record).into_iter().for_each(|line| eprintln!("{line}")),
                }
                if let Some(run) = &self.run {
                    let drawn = tree::drawn(run.ledger());
                    // Up over what is there, and away with it.
                    let up = if *shown > 0 { format!("\x1b[{shown}A\x1b[J") } else { String::new() };
                    eprintln!("{up}{}", drawn.join("\n"));
                    *shown = drawn.len();
                }
            }
        }
        Ok(())
    }

    /// How far a call says that it is.
    pub(super) fn progress(&self, call: NodeId, text: &str) {
        if matches!(self.form, Form::Lines) {
            eprintln!("  call {call}: {}", short(text));
        }
    }

    /// Nothing more is to come.
    pub(super) fn end(&self) -> anyhow::Result<()> {
        Ok(std::io::stderr().flush()?)
    }
}

/// An event in words, where a reader would want to know.
fn lines(record: &Record) -> Vec<String> {
    match &record.event {
        Event::RunStarted(start) => start.conversation.iter().map(|name| carried_on(name, start.history.as_deref())).collect(),
        Event::ActivationStarted { agent, key, .. } => vec![format!("{agent} begins ({key})")],
        Event::ModelReplied { calls, .. } => calls.iter().map(|call| format!("  calls {} {}", call.name, short(&call.args))).collect(),
        Event::ModelFailed { why, .. } => vec![format!("  the model failed: {}", short(why))],
        Event::ToolSettled { outcome, text, .. } if *outcome != Outcome::Completed => vec![format!("  {}: {}", tree::outcome(*outcome), short(text))],
        Event::ToolSettled { text, .. } => vec![format!("  result: {}", short(text))],
        Event::ActivationEnded { outcome, .. } => vec![format!("  ends: {}", tree::outcome(*outcome))],
        Event::Decided { scope: ROOT, decision, .. } => vec![ruling(decision)],
        Event::CancelRequested { when: CancelWhen::AtOnce, .. } => vec!["cancelling at once".to_owned()],
        Event::CancelRequested { .. } => vec!["cancelling once what is under way is in; press again to cancel at once".to_owned()],
        Event::Stopped { why, .. } => vec![format!("stopped: {why}")],
        _ => Vec::new(),
    }
}

/// Whether a conversation begins, and how much of it is told.
fn carried_on(name: &str, history: Option<&History>) -> String {
    match history {
        None => format!("conversation `{name}` begins"),
        Some(said) => {
            format!("conversation `{name}` goes on after {} messages{}", said.exchanges.len(), if said.cut { " and older ones" } else { "" })
        }
    }
}

/// A ruling in a line: what is missing, where it is not final.
pub(super) fn ruling(decision: &Decision) -> String {
    let why: Vec<&str> = decision.missing_checks.iter().map(|f| f.message.as_str()).collect();
    match decision.finalizable {
        true => format!("final: {}", decision.completion_reason.name()),
        false => format!("not final: {} ({})", decision.completion_reason.name(), why.join("; ")),
    }
}

/// The beginning of a text, in one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 120 { line } else { line.chars().take(119).chain(['…']).collect() }
}
