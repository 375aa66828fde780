//! Claude Code sessions: what stands between the lines.

use super::{accepted, lines, refused, verdict};
use crate::scratch::Scratch;
use countersign_connect::trace::{Audit, Looks, Verdict, session_of};
use countersign_core::Policy;
use serde_json::{Value, json};

const FORMAT: &str = "claude-code";

fn line(kind: &str, content: Value) -> Value {
    json!({"type": kind, "uuid": "u", "sessionId": "s", "isSidechain": false, "message": {"role": kind, "id": "m1", "content": content}})
}

fn asked(text: &str) -> Value {
    line("user", json!(text))
}

fn said(text: &str) -> Value {
    line("assistant", json!([{"type": "text", "text": text}]))
}

fn call(id: &str, name: &str, input: Value) -> Value {
    line("assistant", json!([{"type": "tool_use", "id": id, "name": name, "input": input}]))
}

fn result(id: &str, text: &str) -> Value {
    line("user", json!([{"type": "tool_result", "tool_use_id": id, "content": text}]))
}

fn failed(id: &str, text: &str) -> Value {
    line("user", json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": true}]))
}

fn with(mut line: Value, field: &str, value: Value) -> Value {
    line[field] = value;
    line
}

#[test]
fn one_message_stands_on_several_lines() {
    let two_calls = [asked("Look."), said("I look."), call("a", "Read", json!({})), call("b", "Read", json!({}))];
    let results = [result("b", "2"), result("a", "1"), said("I saw both.")];
    accepted(FORMAT, &lines(&[&two_calls[..], &results[..]].concat()));
    refused(FORMAT, &lines(&[&two_calls[..], &results[1..]].concat()), &["tools_closed"]);
}

#[test]
fn a_session_that_ends_with_a_result_has_no_answer() {
    refused(FORMAT, &lines(&[asked("Look."), call("a", "Read", json!({})), result("a", "1")]), &["candidate_text"]);
    let overtaken = [asked("Look."), said("I look."), call("a", "Read", json!({})), result("a", "1")];
    refused(FORMAT, &lines(&overtaken), &["candidate_last"]);
}

#[test]
fn bookkeeping_after_the_answer_overtakes_nothing() {
    accepted(FORMAT, &lines(&[asked("Look."), said("Done."), call("t", "TodoWrite", json!({"todos": []})), result("t", "ok")]));
}

#[test]
fn a_new_request_gives_up_what_was_open() {
    let first = [asked("Look."), call("a", "Read", json!({}))];
    accepted(FORMAT, &lines(&[&first[..], &[asked("Never mind. Hello?"), said("Hello.")]].concat()));
    refused(FORMAT, &lines(&[&first[..], &[asked("Never mind. Hello?")]].concat()), &["candidate_text"]);
}

#[test]
fn what_no_user_wrote_is_no_request() {
    let notes = [
        asked("<command-name>/exit</command-name>"),
        asked("<local-command-stdout>bye</local-command-stdout>"),
        asked("Caveat: the messages below"),
        with(asked("seen by nobody"), "isMeta", json!(true)),
        with(asked("This session is continued."), "isCompactSummary", json!(true)),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "u", "sessionId": "s", "content": "Conversation compacted"}),
    ];
    accepted(FORMAT, &lines(&[&[asked("Hello?"), said("Hello.")][..], &notes[..]].concat()));
}

#[test]
fn an_interrupt_is_an_end_unless_something_follows() {
    let cut = [
        asked("Look."),
        call("a", "Read", json!({})),
        failed("a", "[Request interrupted by user for tool use]"),
        asked("[Request interrupted by user for tool use]"),
    ];
    refused(FORMAT, &lines(&cut), &["candidate_text", "normal_stop"]);
    accepted(FORMAT, &lines(&[&cut[..], &[asked("Hello?"), said("Hello.")]].concat()));
}

#[test]
fn an_error_of_the_provider_is_no_answer_though_it_is_text() {
    let error = with(said("API Error: 529 Overloaded"), "isApiErrorMessage", json!(true));
    refused(FORMAT, &lines(&[asked("Hello?"), error.clone()]), &["candidate_text", "normal_stop"]);
    refused(FORMAT, &lines(&[asked("Hello?"), said("API Error: Connection error.")]), &["candidate_text", "normal_stop"]);
    accepted(FORMAT, &lines(&[asked("Hello?"), error, said("Hello.")]));
    accepted(
        FORMAT,
        &lines(&[asked("What does it say?"), said("It says \"API Error: 529\", which means that the provider is overloaded. Try again later.")]),
    );
}

#[test]
fn what_the_program_says_in_the_models_place_is_no_answer() {
    let mut limit = said("5-hour limit reached ∙ resets 3am");
    limit["message"]["model"] = json!("<synthetic>");
    refused(FORMAT, &lines(&[asked("Hello?"), limit.clone()]), &["candidate_text", "normal_stop"]);
    accepted(FORMAT, &lines(&[asked("Hello?"), limit, asked("Now?"), said("Hello.")]));
}

#[test]
fn a_limit_on_output_cuts_the_answer_short() {
    let mut cut = said("And so");
    cut["message"]["stop_reason"] = json!("max_tokens");
    refused(FORMAT, &lines(&[asked("Tell."), cut]), &["candidate_whole"]);
}

#[test]
fn rejected_tools_did_not_run() {
    let rejected = [asked("Delete it."), call("a", "Bash", json!({})), failed("a", "The user doesn't want to proceed with this tool use.")];
    refused(FORMAT, &lines(&[&rejected[..], &[said("I did not.")]].concat()), &["work_done"]);
}

#[test]
fn a_status_of_a_command_tells_something_and_a_failed_edit_does_not() {
    let run = [asked("Is it there?"), call("a", "Bash", json!({})), failed("a", "Exit code 1"), said("No.")];
    accepted(FORMAT, &lines(&run));
    let edit = [
        asked("Mend it."),
        call("r", "Read", json!({})),
        result("r", "x"),
        call("a", "Edit", json!({})),
        failed("a", "<tool_use_error>String not found</tool_use_error>"),
        said("Mended."),
    ];
    let verdict = refused(FORMAT, &lines(&edit), &["last_work_ok"]);
    assert_eq!(verdict.places[0][0].line, 4);
}

#[test]
fn older_programs_do_not_say_that_it_was_a_status() {
    let run = |text: &str| lines(&[asked("Build."), call("a", "Bash", json!({})), failed("a", text), said("It does not build.")]);
    accepted(FORMAT, &run("src/main.ts(1,1): error TS1005"));
    refused(FORMAT, &run("<tool_use_error>InputValidationError: no command</tool_use_error>"), &["work_done", "last_work_ok"]);
    refused(FORMAT, &run("This command requires approval"), &["work_done"]);
}

#[test]
fn silence_is_no_answer_and_takes_none_back() {
    accepted(FORMAT, &lines(&[asked("Hello?"), said("Hello."), said("\n\n"), said("No response requested.")]));
    refused(FORMAT, &lines(&[asked("Hello?"), said("(no content)")]), &["candidate_text"]);
}

#[test]
fn tools_that_run_at_the_providers_have_their_results_in_the_reply() {
    let search = line("assistant", json!([{"type": "server_tool_use", "id": "w", "name": "web_search", "input": {}}]));
    let found = line("assistant", json!([{"type": "web_search_tool_result", "tool_use_id": "w", "content": []}]));
    accepted(FORMAT, &lines(&[asked("Look it up."), search.clone(), found, said("Found.")]));
    refused(FORMAT, &lines(&[asked("Look it up."), search, said("Found.")]), &["tools_closed"]);
}

#[test]
fn an_error_inside_a_sub_agent_is_its_own() {
    let error = with(with(said("API Error: 500"), "isApiErrorMessage", json!(true)), "isSidechain", json!(true));
    accepted(FORMAT, &lines(&[asked("Hello?"), said("Hello."), error]));
}

#[test]
fn questions_to_the_user_park_the_session() {
    let question = [asked("Pick."), call("q", "AskUserQuestion", json!({"questions": []}))];
    refused(FORMAT, &lines(&question), &["tools_closed", "questions_answered", "candidate_text"]);
    accepted(FORMAT, &lines(&[&question[..], &[result("q", "the red one"), said("Red.")]].concat()));
}

#[test]
fn shells_in_the_background_are_open_until_they_are_looked_at() {
    let begun =
        with(result("a", "Command running in background with ID: bash_1"), "toolUseResult", json!({"backgroundTaskId": "bash_1", "stdout": ""}));
    let start = [asked("Serve."), call("a", "Bash", json!({"run_in_background": true})), begun];
    refused(FORMAT, &lines(&[&start[..], &[said("It runs.")]].concat()), &["background_done"]);
    // A new request does not stop it.
    refused(FORMAT, &lines(&[&start[..], &[said("It runs."), asked("Hello?"), said("Hello.")]].concat()), &["background_done"]);
    let looked = [call("b", "BashOutput", json!({"bash_id": "bash_1"})), result("b", "listening"), said("It runs.")];
    accepted(FORMAT, &lines(&[&start[..], &looked[..]].concat()));
    let told = asked("<task-notification>\n<task-id>bash_1</task-id>\n<status>completed</status>\n</task-notification>");
    accepted(FORMAT, &lines(&[&start[..], &[told, said("It ran.")]].concat()));
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "<task-notification><task-id>bash_1</task-id></task-notification>"});
    accepted(FORMAT, &lines(&[&start[..], &[queued, said("It ran.")]].concat()));
}

#[test]
fn a_sidechain_is_work_of_others() {
    let side = |l: Value| with(l, "isSidechain", json!(true));
    let task = [asked("Find it."), call("t", "Task", json!({"prompt": "find"}))];
    let work = [side(asked("find")), side(call("x", "Grep", json!({}))), side(result("x", "here")), side(said("It is here."))];
    let end = [result("t", "It is here."), said("Found.")];
    accepted(FORMAT, &lines(&[&task[..], &work[..], &end[..]].concat()));
    // The sub-agent's words are not the session's.
    refused(FORMAT, &lines(&[&task[..], &work[..]].concat()), &["tools_closed", "candidate_text"]);
    // A file of its own is its own transcript.
    accepted(FORMAT, &lines(&work));
}

/// The verdict on a session with the transcript of one sub-agent in its folder, and how many faults there were.
fn with_sub_agent(session: &[Value], own: &[Value]) -> (Verdict, usize) {
    let folder = Scratch::new();
    let beside = folder.path().join("s/subagents");
    std::fs::create_dir_all(&beside).expect("a folder");
    std::fs::write(folder.path().join("s.jsonl"), lines(session)).expect("written");
    std::fs::write(beside.join("agent-a1.jsonl"), lines(own)).expect("written");
    // Of the program itself: it belongs to no call, and nobody waits for it.
    std::fs::write(beside.join("agent-acompact-b2.jsonl"), lines(own)).expect("written");
    assert_eq!(session_of(&beside.join("agent-a1.jsonl")), Some(folder.path().join("s.jsonl")));
    let mut report =
        Audit::new(Policy::default()).looking(Looks { graph: true, words: false }).file(&folder.path().join("s.jsonl")).expect("it is read");
    assert_eq!(report.verdicts.len(), 1);
    (report.verdicts.remove(0), report.faults.len())
}

#[test]
fn transcripts_of_sub_agents_belong_to_their_session() {
    let side = |l: Value| with(l, "isSidechain", json!(true));
    let task = [asked("Find it."), call("t", "Task", json!({"prompt": "find"}))];
    let got = with(result("t", "It is here."), "toolUseResult", json!({"status": "completed", "agentId": "a1"}));
    let session = [&task[..], &[got, said("Found.")]].concat();
    let begun = [side(asked("find")), side(call("x", "Grep", json!({}))), side(result("x", "here"))];
    let ended = [&begun[..], &[side(said("It is here."))]].concat();
    let failed = [&begun[..], &[with(side(said("API Error: 500")), "isApiErrorMessage", json!(true))]].concat();
    let missing = |session: &[Value], own: &[Value]| {
        let (verdict, faults) = with_sub_agent(session, own);
        assert_eq!((faults, &verdict.unplaced), (0, &Vec::new()));
        verdict.decision.missing().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(missing(&session, &ended).is_empty());
    assert_eq!(missing(&session, &failed), ["work_done", "last_work_ok"]);
    // A session that never tells of it: it is at work, or nobody read what it said.
    let silent = [asked("Find it."), said("Found.")];
    assert_eq!(missing(&silent, &begun), ["sub_agents_done"]);
    assert_eq!(missing(&silent, &ended), ["replies_reconciled"]);
}

#[test]
fn what_a_sub_agent_did_stands_under_its_node_with_its_own_lines() {
    let side = |l: Value| with(l, "isSidechain", json!(true));
    let got = with(result("t", "It is here."), "toolUseResult", json!({"status": "completed", "agentId": "a1"}));
    let session = [asked("Find it."), call("t", "Task", json!({"prompt": "find"})), got, said("Found.")];
    // Its own call has the id of its session's, and its newest change failed: that is for its session to judge.
    let own = [
        side(asked("find")),
        side(call("t", "Grep", json!({}))),
        side(result("t", "here")),
        side(call("x", "Edit", json!({}))),
        side(failed("x", "no")),
        side(said("It is here.")),
    ];
    let (verdict, _) = with_sub_agent(&session, &own);
    assert!(verdict.is_final() && verdict.unplaced.is_empty());
    assert_eq!(verdict.beside, ["agent-a1.jsonl"]);
    let graph = verdict.graph.expect("it was asked for");
    assert_eq!(graph.nodes.len(), verdict.node_places.len());
    let at = |line: u32| {
        graph.nodes.iter().zip(&verdict.node_places).filter(|(_, p)| p.beside == Some(0) && p.line == line).map(|(n, _)| n).collect::<Vec<_>>()
    };
    let grep = at(2).into_iter().find(|n| n.label.contains("Grep")).expect("its call");
    assert!(at(4).iter().any(|n| n.label.contains("Edit")));
    // The way from its call leads to where it began, which stands in the session.
    let mut reached = vec![grep.id];
    while let Some(edge) = graph.edges.iter().find(|e| reached.contains(&e.from) && !reached.contains(&e.to)) {
        reached.push(edge.to);
    }
    let sub_agent = graph.nodes.iter().find(|n| n.label.contains("sub-agent")).expect("its node");
    assert!(reached.contains(&sub_agent.id));
    assert_eq!(verdict.node_places[sub_agent.id.0 as usize].beside, None);
}

#[test]
fn a_broken_line_of_a_sub_agent_is_a_fault_of_its_session() {
    let session = [asked("Hello?"), said("Hello.")];
    assert!(with_sub_agent(&session, &[json!("no session")]).1 > 0);
}

#[test]
fn the_stream_of_the_program_says_how_it_ended() {
    let streamed = |kind: &str, message: Value| json!({"type": kind, "session_id": "s", "message": message});
    let run = |result: Value| {
        lines(&[
            json!({"type": "system", "subtype": "init", "session_id": "s"}),
            streamed("assistant", json!({"content": [{"type": "text", "text": "Half of it."}]})),
            result,
        ])
    };
    let good = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s"});
    accepted(FORMAT, &run(good.clone()));
    let list = [
        json!({"type": "system", "subtype": "init", "session_id": "s"}),
        streamed("assistant", json!({"content": [{"type": "text", "text": "All of it."}]})),
        good,
    ];
    accepted(FORMAT, &json!(list).to_string());
    refused(FORMAT, &run(json!({"type": "result", "subtype": "error_max_turns", "is_error": false, "session_id": "s"})), &["normal_stop"]);
    refused(FORMAT, &run(json!({"type": "result", "subtype": "success", "is_error": true, "session_id": "s"})), &["normal_stop"]);
}

#[test]
fn lines_that_tell_nothing_are_passed_over() {
    let noise = [
        json!({"type": "progress", "uuid": "u", "sessionId": "s", "data": {"type": "hook_progress"}}),
        json!({"type": "file-history-snapshot", "messageId": "m"}),
    ];
    let verdict = verdict(FORMAT, &lines(&[&noise[..], &[asked("Hello?"), said("Hello.")], &noise[..]].concat()));
    assert!(verdict.is_final());
}
