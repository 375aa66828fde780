//! Chats of named speakers: plain ones that came out well pass, in both kinds; what is cut off does not.

use super::{accepted, refused};
use serde_json::{Value, json};

pub(super) const FORMAT: &str = "speakers";

/// A group: who speaks, and what is said.
pub(super) fn group(spoken: &[(&str, &str)]) -> String {
    let message =
        |(at, (name, said)): (usize, &(&str, &str))| json!({"role": if at == 0 { "assistant" } else { "user" }, "name": name, "content": said});
    json!({"question": "q", "history": spoken.iter().enumerate().map(message).collect::<Vec<Value>>()}).to_string()
}

/// A team: the label of each message, and what it says.
pub(super) fn team(spoken: &[(&str, &str)]) -> String {
    json!({"question": "q", "history": spoken.iter().map(|(role, said)| json!({"role": role, "content": said})).collect::<Vec<Value>>()}).to_string()
}

pub(super) fn ledger(satisfied: bool) -> String {
    let entry = |answer: Value| json!({"reason": "so it is", "answer": answer});
    format!(
        "Updated Ledger:\n{}",
        json!({"is_request_satisfied": entry(json!(satisfied)), "is_in_loop": entry(json!(false)), "next_speaker": entry(json!("WebSurfer"))})
    )
}

pub(super) const RAN: &str = "exitcode: 0 (execution succeeded)\nCode output: 42\n";
pub(super) const FAILED: &str = "exitcode: 1 (execution failed)\nCode output: NameError\n";
const IDLE: &str = "There is no code from the last 1 message for me to execute. If the group chat manager want to end the conversation, reply me only with \"TERMINATE\"";
pub(super) const CODE: &str = "I compute it.\n```python\nprint(6 * 7)\n```";

#[test]
fn plain_groups_that_came_out_well_pass() {
    let task = ("Math_Expert", "You are given a task: what is 6 times 7?");
    let (says, agrees) = (("Math_Expert", "It is 42."), ("Checker", "I agree: it is 42. TERMINATE"));
    let code = ("Math_Expert", CODE);
    let (ran, failed, idle) = (("Computer_terminal", RAN), ("Computer_terminal", FAILED), ("Computer_terminal", IDLE));
    let (ends, answer) = (("Checker", "TERMINATE"), ("Math_Expert", "The answer is 42.\n\nTERMINATE"));
    let chats: &[&[(&str, &str)]] = &[
        &[task, says],
        &[task, says, agrees],
        &[task, says, ends],
        &[task, says, answer],
        &[task, says, answer, ends],
        &[task, says, ("Checker", "Are you sure?"), ("Math_Expert", "I am: 42.")],
        &[task, code, ran, answer],
        &[task, code, ran, answer, ends],
        &[task, code, ran, says, ends],
        &[task, code, failed, code, ran, answer],
        &[task, code, ran, answer, idle, ends],
        &[task, code, ran, code, ran, answer],
        &[task, says, code, ran, agrees],
        &[task, code, ran, ("Math_Expert", "So it is 42, by this code:\n```python\nprint(6 * 7)\n```\nTERMINATE")],
        &[task, ("Writer", "A poem:\n```\nroses are red\n```"), ("Checker", "It scans.")],
        &[task, says, ("Checker", "**TERMINATE**")],
    ];
    for chat in chats {
        accepted(FORMAT, &group(chat));
    }
}

#[test]
fn plain_teams_that_came_out_well_pass() {
    let (no, yes) = (ledger(false), ledger(true));
    let asked = ("human", "How high is the tower?");
    let plan = ("Orchestrator (thought)", "Initial plan:\n\nWe are to look it up.");
    let (open, done) = (("Orchestrator (thought)", no.as_str()), ("Orchestrator (thought)", yes.as_str()));
    let (hands, next) = (("Orchestrator (-> WebSurfer)", "Look it up."), ("Orchestrator (thought)", "Next speaker WebSurfer"));
    let found = ("WebSurfer", "It is 300 metres high.");
    let satisfied = ("Orchestrator (thought)", "Request satisfied.");
    let ends = ("Orchestrator (termination condition)", "No agent selected.\nFINAL ANSWER: 300 m\n");
    let chats: &[&[(&str, &str)]] = &[
        &[asked, plan, open, hands, found, done, satisfied, ends],
        &[asked, plan, open, hands, next, found, done, satisfied, ends],
        &[asked, plan, open, hands, next, found, open, hands, next, found, done, satisfied, ends],
        &[asked, plan, hands, found, done, ends],
        &[asked, plan, done, hands, found, ("Orchestrator", "It is 300 metres high.")],
        &[asked, plan, open, hands, found, ("WebSurfer", "I checked it twice."), done, ends],
        &[asked, plan, open, hands, found, done, ("Orchestrator (final answer)", "300 m"), ends],
        &[asked, open, hands, ("FileSurfer", "I have it on file: 300 m."), done, satisfied, ends],
    ];
    for chat in chats {
        accepted(FORMAT, &team(chat));
    }
}

#[test]
fn groups_that_were_cut_off_are_refused() {
    let task = ("Math_Expert", "You are given a task: what is 6 times 7?");
    let (says, code) = (("Math_Expert", "It is 42."), ("Math_Expert", CODE));
    let (ran, failed, idle) = (("Computer_terminal", RAN), ("Computer_terminal", FAILED), ("Computer_terminal", IDLE));
    let ends = ("Checker", "TERMINATE");
    // Nobody read what the code printed; the code was never run; it failed and was not run again.
    refused(FORMAT, &group(&[task, says, code, ran]), &["candidate_last"]);
    refused(FORMAT, &group(&[task, code, ran, code]), &["tools_closed"]);
    refused(FORMAT, &group(&[task, code, ran, code, failed, says, ends]), &["last_work_ok"]);
    // An executor was there, and nothing was ever run.
    refused(FORMAT, &group(&[task, says, idle, ends]), &["work_done"]);
    // The chat knows a word by which it ends, and did not end by it; its last words were none.
    refused(FORMAT, &group(&[task, code, ran, idle, says]), &["candidate_text"]);
    refused(FORMAT, &group(&[task, says, ("Math_Expert", ""), ends]), &["candidate_text"]);
}

#[test]
fn teams_that_were_cut_off_are_refused() {
    let (no, yes) = (ledger(false), ledger(true));
    let asked = ("human", "How high is the tower?");
    let (open, done) = (("Orchestrator (thought)", no.as_str()), ("Orchestrator (thought)", yes.as_str()));
    let hands = ("Orchestrator (-> WebSurfer)", "Look it up.");
    let found = ("WebSurfer", "It is 300 metres high.");
    let ends = ("Orchestrator (termination condition)", "No agent selected.\nFINAL ANSWER: 300 m\n");
    let late = ("Orchestrator (termination condition)", "Max rounds (30) reached.\nFINAL ANSWER: 300 m\n");
    refused(FORMAT, &team(&[asked, open, hands, found, open, ends]), &["plan_settled"]);
    // Satisfied once, and then not any more.
    refused(FORMAT, &team(&[asked, done, hands, found, open, ends]), &["plan_settled"]);
    refused(FORMAT, &team(&[asked, hands, found, done, late]), &["normal_stop"]);
    refused(FORMAT, &team(&[asked, done, hands, found]), &["transfers_returned", "candidate_text", "replies_reconciled"]);
    let gives_up = ("Orchestrator (thought)", "Replan counter exceeded... Terminating.");
    let verdict = refused(FORMAT, &team(&[asked, open, hands, found, open, gives_up, ends]), &["plan_settled", "normal_stop"]);
    assert_eq!(verdict.reason().name(), "replan_limit");
}
