//! What a node is, in a few words.

use crate::event::Event;
use crate::explain::words::{Words, clean};
use crate::ledger::target;
use crate::node::{NodeId, NodeKind, ROOT};

/// Longest name in a label.
const NAME_MAX: usize = 40;

/// A label: one clean line. It says what a thing is and where it stands, never what somebody said.
pub(super) fn of(words: Words<'_>, node: NodeId, is_answer: bool) -> String {
    let ledger = words.0;
    let agent = |activation| clean(&words.agent(activation), NAME_MAX);
    let what = match ledger.data(node).map(|d| d.kind) {
        Some(NodeKind::Activation) if node == ROOT => format!("run {}", agent(node)),
        Some(NodeKind::Activation) => format!("agent {}", agent(node)),
        Some(NodeKind::Reply) => format!("reply {}", agent(ledger.owner(node))),
        Some(NodeKind::ToolRun) => format!("tool {}", ledger.tool_run(node).map_or_else(String::new, |r| words.call(r))),
        Some(NodeKind::Transfer) => format!("transfer to {}", callee(words, node)),
        Some(NodeKind::Delegation) => format!("delegation to {}", callee(words, node)),
        Some(NodeKind::Job) => match ledger.made_by(node) {
            Some(Event::BackgroundStarted { what, .. }) => format!("job {}", clean(what, NAME_MAX)),
            _ => "job".into(),
        },
        Some(NodeKind::Plan) => "plan".into(),
        Some(NodeKind::Step) => {
            let name = ledger.step(node).and_then(|s| ledger.step_spec(s)).map(|s| clean(&s.id, NAME_MAX));
            format!("step {}", name.unwrap_or_default())
        }
        Some(NodeKind::Result) => format!("result {}", ledger.result(node).map_or_else(String::new, |r| agent(r.activation))),
        Some(NodeKind::Approval) => "approval".into(),
        Some(NodeKind::Question) => "question".into(),
        Some(NodeKind::Attestation) => match ledger.made_by(node) {
            Some(Event::Attested { rule, .. }) => format!("attestation {}", clean(rule, NAME_MAX)),
            _ => "attestation".into(),
        },
        Some(NodeKind::Candidate | NodeKind::Synthesis) => {
            let by = ledger.candidate(node).map_or_else(String::new, |c| agent(c.by));
            format!("{} {by}", if is_answer { "final answer" } else { "candidate" })
        }
        Some(NodeKind::Decision) => "ruling".into(),
        Some(NodeKind::Note) => match ledger.made_by(node) {
            Some(Event::Note { kind, .. }) => format!("record {}", clean(kind, NAME_MAX)),
            _ => "record".into(),
        },
        None => String::new(),
    };
    format!("{what} {}", words.state(node)).trim_end().to_owned()
}

fn callee(words: Words<'_>, call: NodeId) -> String {
    let name = words.0.tool_run(call).and_then(|r| words.0.call(r)).map_or("", |c| target(&c.name));
    clean(name, NAME_MAX)
}
