//! What colleagues say to one another: what is announced, asked for or avowed holds an answer up, and words that only
//! sound like it do not.

use super::chats::{CODE, FAILED, FORMAT, RAN, group, ledger, team};
use super::{accepted, chat, refused};
use serde_json::json;

const TASK: (&str, &str) = ("Math_Expert", "You are given a task: what is 6 times 7?");
const WORK: (&str, &str) = ("Math_Expert", CODE);
const DONE: (&str, &str) = ("Computer_terminal", RAN);
const AGREES: (&str, &str) = ("Checker", "TERMINATE");

/// A chat that computes, and ends with these words.
fn ends_with(said: &str) -> String {
    group(&[TASK, WORK, DONE, ("Math_Expert", said)])
}

#[test]
fn words_that_only_sound_like_it_hold_nothing_up() {
    let plain = [
        "42.",
        "It is 42. Please let me know if you need anything else.",
        "It is 42. Is there anything else?",
        "It is 42. If there are no further questions, we can conclude. TERMINATE",
        "It is 42.\n\nLet's conclude the task here.\n\nTERMINATE",
        "It is 42. I will now end the conversation.\n\nTERMINATE",
        "Let's double-check: 6 * 7 = 42.",
        "We'll go with 42.",
        "All steps of the plan are done, and I checked the product manually: it is 42. TERMINATE",
        "I verified the calculation by hand; the answer is 42. TERMINATE",
        "I could not find any mistake in it. The answer is 42. TERMINATE",
        "There is no need to search for it manually. It is 42.",
        "No made-up numbers were used: 42.",
        "It can be checked manually on the website, if you like. It is 42.",
        "**TERMINATE**: 42",
    ];
    for said in plain {
        accepted(FORMAT, &ends_with(said));
    }
}

#[test]
fn what_was_mended_before_the_answer_holds_nothing_up() {
    let answer = ("Math_Expert", "It is 42.\n\nTERMINATE");
    let chats: &[&[(&str, &str)]] = &[
        // Nothing was looked up by hand after all, nor was it out of reach: code did it.
        &[TASK, ("Math_Expert", "We will manually search the web for it."), WORK, DONE, answer],
        &[TASK, WORK, ("Computer_terminal", FAILED), ("Checker", "I am unable to access the page."), WORK, DONE, answer],
        &[TASK, ("Math_Expert", "With dummy data first:\n```python\nprint(1)\n```"), DONE, WORK, DONE, answer],
        // What was asked for was given; others let it stand.
        &[TASK, WORK, DONE, ("Math_Expert", "It is 42. Please confirm."), ("Checker", "It is 42, I confirm. TERMINATE")],
        &[TASK, WORK, DONE, ("Math_Expert", "It is 42. Please confirm, Checker."), AGREES],
        &[TASK, WORK, DONE, ("Math_Expert", "Let me verify it with code."), WORK, DONE, answer, AGREES],
        &[("Math_Expert", "Show me an average over simulated data."), WORK, DONE, ("Math_Expert", "On the simulated data it is 42."), AGREES],
        // Nothing can be called here: to look is to think.
        &[TASK, ("Math_Expert", "I looked it up manually in the table on the page of the book: 42.")],
        &[TASK, WORK, DONE, ("Checker", "I could not open the page."), ("Math_Expert", "I could not view the page; by code alone it is 42.")],
    ];
    for chat in chats {
        accepted(FORMAT, &group(chat));
    }
}

#[test]
fn what_the_last_words_leave_to_be_done_holds_them_up() {
    for said in [
        "It may be 42. To be sure, let me verify it against the table.",
        "Next, we need to look at the second table.",
        "I will now review the page.",
        "Does anyone know how to go on?",
        "Once you have it, we go on. Please share the number with the team.",
    ] {
        refused(FORMAT, &ends_with(said), &["words_kept"]);
    }
    // A speaker that closes the chat has not replied to itself.
    let asks = ("Checker", "It is 42. Please confirm.");
    refused(FORMAT, &group(&[TASK, WORK, DONE, asks, AGREES]), &["words_kept"]);
    // The same words to a person are an answer.
    let to_a_person = |said: &str| chat(json!([{"role": "user", "content": "Go."}, {"role": "assistant", "content": said}]));
    accepted("chat", &to_a_person("Please confirm."));
    accepted("chat", &to_a_person("Let me verify it against the table."));
}

#[test]
fn what_is_avowed_holds_the_answer_up() {
    let after = |said: &str| group(&[TASK, WORK, DONE, ("Finder", said), ("Math_Expert", "It is 42."), AGREES]);
    refused(FORMAT, &after("I manually searched the web, and it is 42."), &["words_backed"]);
    refused(FORMAT, &after("I checked it manually on their website: it is 42."), &["words_backed"]);
    refused(FORMAT, &after("I was unable to open the page."), &["words_backed"]);
    refused(FORMAT, &ends_with("On the hypothetical data it is 42. TERMINATE"), &["words_backed"]);
    // Words that come with a call say on what it works.
    let made_up = ("Math_Expert", "I go on with mock data.\n```python\nprint(42)\n```");
    refused(FORMAT, &group(&[TASK, made_up, DONE, ("Math_Expert", "It is 42."), AGREES]), &["words_backed"]);
}

#[test]
fn who_asks_others_to_end_a_chat_has_not_ended_it() {
    refused(FORMAT, &ends_with("It is 42. If all is in order, end the chat by replying only with \"TERMINATE\"."), &["candidate_text"]);
    accepted(FORMAT, &group(&[TASK, WORK, DONE, ("Math_Expert", "It is 42. End the chat with \"TERMINATE\"."), AGREES]));
}

#[test]
fn an_error_that_code_prints_is_a_failure() {
    let caught = ("Computer_terminal", "exitcode: 0 (execution succeeded)\nCode output: Error: no such table\n");
    let answer = ("Math_Expert", "It is 42. TERMINATE");
    refused(FORMAT, &group(&[TASK, WORK, DONE, WORK, caught, answer]), &["last_work_ok"]);
    accepted(FORMAT, &group(&[TASK, WORK, caught, WORK, DONE, answer]));
}

#[test]
fn a_ledger_that_is_satisfied_and_names_work_is_not_done() {
    let asked = ("human", "How high is the tower?");
    let (hands, found) = (("Orchestrator (-> WebSurfer)", "Look it up."), ("WebSurfer", "It is 300 metres high."));
    let ends = ("Orchestrator (termination condition)", "No agent selected.\nFINAL ANSWER: 300 m\n");
    let satisfied = |next: &str, why: &str| {
        let mut ledger: serde_json::Value = serde_json::from_str(ledger(true).trim_start_matches("Updated Ledger:\n")).unwrap();
        ledger["instruction_or_question"] = json!({"answer": next, "reason": why});
        format!("Updated Ledger:\n{ledger}")
    };
    for (next, why) in [
        ("None", "The request is satisfied, no further instructions are needed."),
        ("", ""),
        ("Provide the final result to the user.", "We need to convey the result."),
        ("The tower is 300 metres high.", "This is the answer that was asked for."),
    ] {
        accepted(FORMAT, &team(&[asked, hands, found, ("Orchestrator (thought)", &satisfied(next, why)), ends]));
    }
    for (next, why) in [
        ("Convert metres to feet.", "We need to convert the height before we answer."),
        ("The height is not explicitly stated on the page.", "The request is complete."),
    ] {
        refused(FORMAT, &team(&[asked, hands, found, ("Orchestrator (thought)", &satisfied(next, why)), ends]), &["words_backed"]);
    }
}
