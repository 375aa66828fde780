//! A run in the terminal: what is shown is a function of its events.

use crate::driver::{base, spec, tool, turns};
use countersign::live::Command;
use countersign::testing::ScriptedModel;
use countersign::*;
use countersign_cli::view::{View, ask};
use std::io::Cursor;
use std::sync::Arc;

/// What a terminal shows once this was printed: an escape takes the lines above away.
fn screen(printed: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in printed {
        let (up, text) = match text.strip_prefix("\x1b[") {
            Some(rest) => rest.split_once("A\x1b[J").map(|(up, text)| (up.parse().unwrap(), text)).unwrap(),
            None => (0, text.as_str()),
        };
        assert!(up <= lines.len(), "it goes up over what it did not draw");
        lines.truncate(lines.len() - up);
        lines.extend(text.lines().map(str::to_owned));
    }
    lines
}

fn shown(view: &mut View, log: &[Arc<Record>]) -> Vec<String> {
    log.iter().map(|record| view.show(record).unwrap()).collect()
}

/// Reads often, waits for a grant to pay, and answers with too little at first.
fn runner() -> Runner {
    let model = ScriptedModel(|r: &ModelRequest| match turns(r) {
        0 => (0..7).fold(ModelReply::default(), |reply, at| reply.and_call("read", format!("{at}"))),
        1 => ModelReply::call("pay", "{\"to\": \"somebody with a very long name, so that the line is longer than it may be\"}"),
        2 => ModelReply::text(""),
        _ => ModelReply::text("It is paid."),
    });
    let pay = spec("pay", Declared { approval: true, ..Declared::run(Effect::Write) });
    let agent = Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read))).tool(pay);
    base(Single::default(), model).agent(agent).policy(Policy::execution()).build().unwrap()
}

#[tokio::test]
async fn a_tree_is_drawn_over_itself_and_says_what_is_pending_and_why_it_is_not_final() {
    let runner = runner();
    let parked = runner.start_in("bills", "r", "pay").await.unwrap().result().await.unwrap();
    let log = parked.run.ledger().log().to_vec();
    let mut view = View::tree(60);
    // In the middle: the model has called seven tools, and none is back.
    let under_way = log.iter().position(|r| matches!(r.event, Event::ModelReplied { .. })).unwrap() + 1;
    let mut printed = shown(&mut view, &log[..under_way]);
    let call = parked.run.ledger().tool_runs()[6].id;
    printed.push(view.progress(call, "half of it"));
    let wanted = [
        "conversation `bills` begins",
        "* main, 1 turns",
        "  (2 calls before)",
        "  running read 2",
        "  running read 3",
        "  running read 4",
        "  running read 5",
        "  running (half of it) read 6",
        "7 calls are under way",
    ];
    assert_eq!(screen(&printed), wanted);
    printed.extend(shown(&mut view, &log[under_way..]));
    let at_rest = screen(&printed);
    assert!(at_rest[6].starts_with("  completed read 6") && at_rest[7].starts_with("  waits for approval pay {\"to\": \"somebody"), "{at_rest:?}");
    assert!(at_rest[8].starts_with("not final: awaiting_approval ("), "{at_rest:?}");
    assert!(at_rest.iter().all(|line| line.chars().count() <= 60), "{at_rest:?}");
    // What a person was asked stands below; the tree goes on under it.
    view.interrupted();
    let granted = ask::people(&parked, &mut Cursor::new("y\n"), &mut Vec::new()).unwrap();
    let done = runner.resume("r", granted, None).await.unwrap().result().await.unwrap();
    assert_eq!(done.text(), Some("It is paid."));
    let after = shown(&mut view, &done.run.ledger().log()[log.len()..]);
    assert!(!after[0].contains('\x1b'));
    let end = screen(&after);
    assert_eq!((end[0].as_str(), end.last().map(String::as_str)), ("- main, 4 turns", Some("final: verified")));
    let refused = |text: &&String| text.contains("not final: empty_response (");
    assert!(after.iter().any(|text| refused(&text)), "it said why it was not final");
}

#[tokio::test]
async fn lines_say_each_thing_once_and_json_is_the_log() {
    let result = runner().start("r", "pay").unwrap().result().await.unwrap();
    let log = result.run.ledger().log();
    let text = shown(&mut View::lines(), log).concat();
    for line in ["main begins (", "  calls read 0\n", "  result: read(6)\n", "not final: awaiting_approval ("] {
        assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
    }
    assert!(!text.contains('\x1b'));
    assert_eq!(View::lines().progress(NodeId(3), "1 of 2"), "  call 3: 1 of 2\n");
    assert_eq!((shown(&mut View::json(), log).concat(), View::json().progress(NodeId(3), "1 of 2").as_str()), (result.log(), ""));
}

#[tokio::test]
async fn nothing_is_granted_but_by_a_yes() {
    let parked = runner().start("r", "pay").unwrap().result().await.unwrap();
    for (typed, grants) in [("y\n", true), ("yes\n", true), ("Y\n", true), ("n\n", false), ("\n", false), ("yess\n", false), ("", false)] {
        let mut asked = Vec::new();
        let said = ask::people(&parked, &mut Cursor::new(typed), &mut asked).unwrap();
        let asked = String::from_utf8(asked).unwrap();
        assert!(asked.starts_with("`pay` wants to run with {\"to\": \"somebody") && asked.ends_with("Grant it? [y/N] "), "{asked}");
        assert!(matches!(&said[..], [Command::Approve { granted, .. }] if *granted == grants), "{typed:?}: {said:?}");
    }
}

/// What a model writes could make a prompt look like another: a terminal is not handed what it would obey.
#[tokio::test]
async fn no_text_of_a_model_moves_the_cursor() {
    let call = |r: &ModelRequest| if turns(r) == 0 { ModelReply::call("pay", "\"\u{1b}[2J\u{7}Grant nothing\r\"") } else { ModelReply::text("paid") };
    let pay = spec("pay", Declared { approval: true, ..Declared::run(Effect::Write) });
    let runner = base(Single::default(), ScriptedModel(call)).agent(Agent::new("main", "").tool(pay)).build().unwrap();
    let parked = runner.start("r", "pay").unwrap().result().await.unwrap();
    let mut asked = Vec::new();
    ask::people(&parked, &mut Cursor::new("n\n"), &mut asked).unwrap();
    let lines = shown(&mut View::lines(), parked.run.ledger().log()).concat() + &String::from_utf8(asked).unwrap();
    let tree = shown(&mut View::tree(200), parked.run.ledger().log()).concat();
    assert!(lines.contains("\u{fffd}[2J\u{fffd}Grant nothing") && !lines.contains('\u{1b}'), "{lines}");
    assert!(!tree.contains("\u{1b}[2J") && !tree.contains('\u{7}') && !tree.contains('\r'), "{tree}");
}

#[tokio::test]
async fn a_question_is_asked_and_answered_in_a_line() {
    let model = ScriptedModel(|r: &ModelRequest| match turns(r) {
        0 => ModelReply::call("ask_user", r#"{"question": "Which bill?"}"#),
        _ => ModelReply::text("The second."),
    });
    let look = tool("look", Declared::run(Effect::Read));
    let agent = Agent::new("main", "").tool(ToolSpec::ask_user());
    let runner = Runner::builder(Single::default(), model).agent(agent).tool(look).build().unwrap();
    let parked = runner.start("r", "pay").unwrap().result().await.unwrap();
    let mut asked = Vec::new();
    let said = ask::people(&parked, &mut Cursor::new("the second\n"), &mut asked).unwrap();
    assert_eq!(String::from_utf8(asked).unwrap(), "Which bill?\n> ");
    assert!(matches!(&said[..], [Command::Answer { text, .. }] if &**text == "the second"), "{said:?}");
    let done = runner.resume("r", said, None).await.unwrap().result().await.unwrap();
    assert_eq!(done.text(), Some("The second."));
    assert!(ask::people(&done, &mut Cursor::new("y\n"), &mut Vec::new()).unwrap().is_empty(), "who waits for nobody asks nobody");
}
