//! Plain words for what a ledger holds.
//!
//! Names, arguments and texts come from models and tools, so they are hostile: whatever a view shows goes
//! through [`clean`] first. What a candidate says is never among it: neither replies, nor results, nor the
//! arguments of a terminal call are quoted, because a refused answer could stand in any of them.

use crate::event::{CallKind, Event, Outcome, Via};
use crate::ledger::{Ledger, RunState, StepState, ToolRun, target};
use crate::node::{NodeId, NodeKind, ROOT};

/// Longest name or text that is shown.
const TEXT_MAX: usize = 60;
/// Longest list of arguments that is shown.
const ARGS_MAX: usize = 48;
/// Arguments longer than this are not parsed, only clipped.
const PARSE_MAX: usize = 4096;

/// One line without control, direction or zero-width characters, at most `max` characters long.
pub(crate) fn clean(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut chars = 0;
    for c in text.trim().chars() {
        let c = if c.is_whitespace() || c.is_control() { ' ' } else { c };
        if is_invisible(c) || c == ' ' && out.ends_with(' ') {
            continue;
        }
        if chars == max {
            out.push('…');
            break;
        }
        out.push(c);
        chars += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Somebody's words, between backticks that the words cannot close.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", clean(text, TEXT_MAX).replace('`', "'"))
}

/// `one reply`, `2 replies`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("one {one}") } else { format!("{n} {many}") }
}

/// How something ended.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Empty => "ended without a word",
        Outcome::CutOff => "cut off by a limit",
        Outcome::Failed => "failed",
        Outcome::TimedOut => "timed out",
        Outcome::Cancelled => "cancelled",
        Outcome::Rejected => "refused",
        Outcome::Lost => "lost",
    }
}

/// A ledger that can be talked about.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a>(pub(crate) &'a Ledger);

impl Words<'_> {
    /// A node with its typed reference: ``tool `bash(cmd: ls)` of `main` (tool_run:17)``.
    pub(crate) fn of(self, node: NodeId) -> String {
        if node == ROOT {
            return "the run".into();
        }
        format!("{} ({})", self.noun(node), self.reference(node))
    }

    /// The same with where it stands, where that says something.
    pub(crate) fn standing(self, node: NodeId) -> String {
        match self.state(node) {
            "" => self.of(node),
            state => format!("{}: {state}", self.of(node)),
        }
    }

    /// A typed reference. The kind of a record is somebody's word.
    pub(crate) fn reference(self, node: NodeId) -> String {
        clean(&self.0.reference(node).to_string(), TEXT_MAX)
    }

    /// The agent of an activation.
    pub(crate) fn agent(self, activation: NodeId) -> String {
        self.0.activation(activation).map_or_else(|| "nobody".into(), |a| clean(&a.agent, TEXT_MAX))
    }

    /// A call: `read_file(path: a.rs)`. What a terminal call says may be the candidate, so it is left out.
    pub(crate) fn call(self, run: &ToolRun) -> String {
        let Some(call) = self.0.call(run) else { return "?".into() };
        let name = clean(&call.name, TEXT_MAX);
        match (run.declared.kind, self.0.args(run)) {
            (CallKind::Terminal, _) => format!("{name}(…)"),
            (_, args) => format!("{name}({})", arguments(args.map_or("", |a| a))),
        }
    }

    fn noun(self, node: NodeId) -> String {
        let ledger = self.0;
        let by = |activation: NodeId| quoted(&self.agent(activation));
        match ledger.data(node).map(|d| d.kind) {
            Some(NodeKind::Activation) => format!("agent {}", by(node)),
            Some(NodeKind::Reply) => format!("a reply of {}", by(ledger.owner(node))),
            Some(NodeKind::ToolRun) => {
                ledger.tool_run(node).map_or_else(|| "a tool".into(), |r| format!("tool {} of {}", ticked(&self.call(r)), by(r.activation)))
            }
            Some(NodeKind::Transfer) => format!("transfer from {} to {}", by(ledger.owner(node)), quoted(&self.target(node))),
            Some(NodeKind::Delegation) => format!("delegation from {} to {}", by(ledger.owner(node)), quoted(&self.target(node))),
            Some(NodeKind::Job) => match ledger.made_by(node) {
                Some(Event::BackgroundStarted { what, activation, .. }) => format!("background job {} of {}", quoted(what), by(*activation)),
                _ => "a background job".into(),
            },
            Some(NodeKind::Plan) => "a plan".into(),
            Some(NodeKind::Step) => self.step(node),
            Some(NodeKind::Result) => ledger.result(node).map_or_else(|| "a result".into(), |r| format!("result of {}", by(r.activation))),
            Some(NodeKind::Approval) => ledger.approval(node).map_or_else(|| "an approval".into(), |a| format!("approval of {}", self.noun(a.on))),
            Some(NodeKind::Question) => match ledger.made_by(node) {
                Some(Event::QuestionAsked { text, activation, .. }) => format!("question {} of {}", quoted(text), by(*activation)),
                _ => "a question".into(),
            },
            Some(NodeKind::Attestation) => match ledger.made_by(node) {
                Some(Event::Attested { rule, by: who, .. }) => format!("attestation of {} by {}", quoted(rule), by(*who)),
                _ => "an attestation".into(),
            },
            Some(NodeKind::Candidate | NodeKind::Synthesis) => {
                let made = ledger.candidate(node).map(|c| (by(c.by), c.text.len()));
                made.map_or_else(|| "the answer".into(), |(who, len)| format!("the answer of {who}, {len} bytes"))
            }
            Some(NodeKind::Decision) => "a ruling".into(),
            Some(NodeKind::Note) => "a record".into(),
            None => "something unknown".into(),
        }
    }

    fn step(self, node: NodeId) -> String {
        let spec = self.0.step(node).and_then(|s| self.0.step_spec(s));
        match spec {
            Some(spec) if spec.text.trim().is_empty() => format!("step {}", quoted(&spec.id)),
            Some(spec) => format!("step {} {}", quoted(&spec.id), quoted(&spec.text)),
            None => "a step".into(),
        }
    }

    /// The agent to whom a transfer or delegation goes.
    fn target(self, call: NodeId) -> String {
        let name = self.0.tool_run(call).and_then(|r| self.0.call(r)).map(|c| target(&c.name));
        clean(name.unwrap_or("nobody"), TEXT_MAX)
    }

    /// Where a node stands, in a word or two; blank where nothing is to be said.
    pub(crate) fn state(self, node: NodeId) -> &'static str {
        let ledger = self.0;
        match ledger.data(node).map(|d| d.kind) {
            Some(NodeKind::Activation) => match ledger.activation(node) {
                Some(a) if a.parent.is_none() || a.via == Via::Observed => "",
                Some(a) if a.open => "at work",
                Some(a) => a.result.and_then(|r| ledger.result(r)).map_or("ended", |r| outcome(r.outcome)),
                None => "",
            },
            Some(NodeKind::ToolRun | NodeKind::Transfer | NodeKind::Delegation) => ledger.tool_run(node).map_or("", |r| run_state(r.state)),
            Some(NodeKind::Job) => ledger.job(node).map_or("", |j| j.outcome.map_or("running", outcome)),
            Some(NodeKind::Step) => ledger.step(node).map_or("", |s| step_state(s.state)),
            Some(NodeKind::Result) => ledger.result(node).map_or("", |r| outcome(r.outcome)),
            Some(NodeKind::Approval) => ledger.approval(node).map_or("", |a| match a.granted {
                Some(true) => "granted",
                Some(false) => "denied",
                None => "not decided",
            }),
            Some(NodeKind::Question) => ledger.question(node).map_or("", |q| if q.answered { "answered" } else { "not answered" }),
            Some(NodeKind::Decision) => match ledger.made_by(node) {
                Some(Event::Decided { decision, .. }) => decision.completion_reason.name(),
                _ => "",
            },
            _ => "",
        }
    }
}

fn run_state(state: RunState) -> &'static str {
    match state {
        RunState::Requested => "asked for",
        RunState::AwaitingApproval => "waits for approval",
        RunState::AwaitingAnswer => "waits for an answer",
        RunState::Running => "running",
        RunState::Background => "in the background",
        RunState::Lost => "lost",
        RunState::Settled(how) => outcome(how),
    }
}

fn step_state(state: StepState) -> &'static str {
    match state {
        StepState::Open => "open",
        StepState::Done => "done",
        StepState::CutOff => "cut off by a limit",
        StepState::Blocked => "blocked",
        StepState::Dropped => "dropped",
    }
}

fn ticked(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// Arguments as a person would say them: `path: a.rs, limit: 3`.
fn arguments(args: &str) -> String {
    let parsed = (args.len() <= PARSE_MAX).then(|| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(args).ok()).flatten();
    let Some(fields) = parsed else { return clean(args, ARGS_MAX) };
    let value = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let said: Vec<String> = fields.iter().map(|(k, v)| format!("{k}: {}", value(v))).collect();
    clean(&said.join(", "), ARGS_MAX)
}
