//! Asking the person at the terminal what a parked run waits for.

use countersign::live::Command;
use countersign::{Event, NodeId, RunResult, Status};
use std::io::{BufRead, IsTerminal, Write};

/// What the person says to each open approval and question. Nothing, where nobody sits there.
pub(super) fn people(result: &RunResult) -> anyhow::Result<Vec<Command>> {
    if result.status() != Status::AwaitingApproval || !std::io::stdin().is_terminal() {
        return Ok(Vec::new());
    }
    let ledger = result.run.ledger();
    let mut said = Vec::new();
    for node in ledger.open().approvals.iter() {
        let answer = prompt(&format!("{}\nGrant it? [y/N] ", wanted(result, node)))?;
        let granted = matches!(answer.as_str(), "y" | "Y" | "yes");
        said.push(Command::Approve {
            approval: node,
            granted,
            by: "user".into(),
            why: if granted { "" } else { "denied at the terminal" }.into(),
            args: None,
        });
    }
    for node in ledger.open().questions.iter() {
        let answer = prompt(&format!("{}\n> ", wanted(result, node)))?;
        said.push(Command::Answer { question: node, text: answer.into() });
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

fn prompt(text: &str) -> anyhow::Result<String> {
    eprint!("{text}");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
