//! Asking the person at the terminal what a parked run waits for.

use super::plain;
use countersign::live::Command;
use countersign::{Event, NodeId, RunResult, Status};
use std::io::{BufRead, Write};

/// What the person says to each open approval and question, asked on `out` and read from `from`, a line each. Nothing,
/// where the run does not wait for a person. A line that does not come, since nobody is there any more, grants nothing.
pub fn people(result: &RunResult, from: &mut dyn BufRead, out: &mut dyn Write) -> anyhow::Result<Vec<Command>> {
    if result.status() != Status::AwaitingApproval {
        return Ok(Vec::new());
    }
    let mut prompt = |text: &str| -> anyhow::Result<String> {
        write!(out, "{}", plain(text))?;
        out.flush()?;
        let mut line = String::new();
        from.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    };
    let ledger = result.run.ledger();
    let mut said = Vec::new();
    for approval in ledger.open().approvals.iter() {
        let answer = prompt(&format!("{}\nGrant it? [y/N] ", wanted(result, approval)))?;
        let granted = matches!(answer.as_str(), "y" | "Y" | "yes");
        let why = if granted { "" } else { "denied at the terminal" }.into();
        said.push(Command::Approve { approval, granted, by: "user".into(), why, args: None });
    }
    for question in ledger.open().questions.iter() {
        let answer = prompt(&format!("{}\n> ", wanted(result, question)))?;
        said.push(Command::Answer { question, text: answer.into() });
    }
    Ok(said)
}

/// What an approval or a question is about, in words.
fn wanted(result: &RunResult, node: NodeId) -> String {
    let ledger = result.run.ledger();
    if let Some(Event::QuestionAsked { text, .. }) = ledger.made_by(node) {
        return text.to_string();
    }
    let run = ledger.approval(node).and_then(|approval| ledger.tool_run(approval.on));
    match run.and_then(|run| ledger.call(run)) {
        Some(call) => format!("`{}` wants to run with {}", call.name, call.args),
        None => format!("{} needs a person's word", ledger.reference(node)),
    }
}
