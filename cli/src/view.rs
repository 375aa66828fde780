//! A run in the terminal: a tree where there is one, lines where not, or JSON. What is shown is a function of the events
//! and of what calls say meanwhile; whoever carries the run out prints it.

pub mod ask;
mod tree;

use countersign::event::History;
use countersign::{CancelWhen, Decision, Event, Gate, NodeId, Outcome, ROOT, Record, Run};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a run is shown.
pub struct View {
    form: Form,
    /// The run as far as it was shown, where a tree is drawn.
    run: Option<Run>,
    /// What calls say of how far they are.
    progress: BTreeMap<NodeId, String>,
}

enum Form {
    Json,
    Lines,
    Tree {
        /// Lines that are on the screen.
        shown: usize,
        /// Longest line: one that the terminal breaks is two.
        columns: usize,
    },
}

impl View {
    /// Every event as one JSON object a line.
    pub fn json() -> Self {
        Self::of(Form::Json)
    }

    /// What a reader would want to know, in lines.
    pub fn lines() -> Self {
        Self::of(Form::Lines)
    }

    /// A tree of agents and calls that is drawn over and over, on a terminal of this width.
    pub fn tree(columns: usize) -> Self {
        Self::of(Form::Tree { shown: 0, columns })
    }

    fn of(form: Form) -> Self {
        Self { form, run: None, progress: BTreeMap::new() }
    }

    /// What is to be printed of one event more; may be nothing.
    pub fn show(&mut self, record: &Arc<Record>) -> anyhow::Result<String> {
        if let Event::ToolSettled { call, .. } = &record.event {
            self.progress.remove(call);
        }
        match &self.form {
            Form::Json => Ok(serde_json::to_string(&**record)? + "\n"),
            Form::Lines => Ok(printed(&lines(record))),
            Form::Tree { .. } => {
                match &mut self.run {
                    Some(run) => run.append_records(std::slice::from_ref(record))?,
                    None => self.run = Some(Run::replay(Arc::new(Gate::default()), [record.clone()])?),
                }
                let heading = if record.seq == 1 { printed(&lines(record)) } else { String::new() };
                Ok(heading + &self.drawn())
            }
        }
    }

    /// What is to be printed where a call says how far it is.
    pub fn progress(&mut self, call: NodeId, text: &str) -> String {
        match self.form {
            Form::Json => String::new(),
            Form::Lines => printed(&[format!("  call {call}: {}", short(text))]),
            Form::Tree { .. } => {
                self.progress.insert(call, short(text));
                self.drawn()
            }
        }
    }

    /// Something else was printed below: the tree is not drawn over it.
    pub fn interrupted(&mut self) {
        if let Form::Tree { shown, .. } = &mut self.form {
            *shown = 0;
        }
    }

    /// The tree, over the one that is there.
    fn drawn(&mut self) -> String {
        let (Form::Tree { shown, columns }, Some(run)) = (&mut self.form, &self.run) else { return String::new() };
        let lines = tree::drawn(run.ledger(), &self.progress, *columns);
        let up = if *shown > 0 { format!("\x1b[{shown}A\x1b[J") } else { String::new() };
        *shown = lines.len();
        up + &printed(&lines)
    }
}

fn printed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{}\n", plain(line))).collect()
}

/// Without what a terminal would obey: texts come from models and tools.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// An event in words, where a reader would want to know.
fn lines(record: &Record) -> Vec<String> {
    match &record.event {
        Event::RunStarted(start) => start.conversation.iter().map(|name| carried_on(name, start.history.as_deref())).collect(),
        Event::ActivationStarted { agent, key, .. } => vec![format!("{agent} begins ({key})")],
        Event::ModelReplied { calls, .. } => calls.iter().map(|call| format!("  calls {} {}", call.name, short(&call.args))).collect(),
        Event::ModelFailed { why, .. } => vec![format!("  the model failed: {}", short(why))],
        Event::ToolSettled { outcome, text, .. } if *outcome != Outcome::Completed => vec![format!("  {}: {}", outcome.words(), short(text))],
        Event::ToolSettled { text, .. } => vec![format!("  result: {}", short(text))],
        Event::ActivationEnded { outcome, .. } => vec![format!("  ends: {}", outcome.words())],
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
fn ruling(decision: &Decision) -> String {
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
