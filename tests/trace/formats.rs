//! Every format: it is told from its content, a good trace of it is accepted, and a bad one refused.

use super::{accepted, chat, lines, read, refused};
use serde_json::{Value, json};

#[test]
fn chat_messages() {
    let call = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "4 degrees"});
    let (asked, said) = (json!({"role": "user", "content": "How warm is it in Oslo?"}), json!({"role": "assistant", "content": "4 degrees."}));
    accepted("chat", &chat(json!([asked, call("c1"), result("c1"), said])));
    // A bare list, and a list under the key of another harness.
    accepted("chat", &json!([asked, said]).to_string());
    accepted("chat", &json!({"traj": [asked, said], "info": {}}).to_string());
    // A message a line.
    accepted("chat", &lines(&[asked.clone(), call("c1"), result("c1"), said.clone()]));
    // Ids that come again, one after the other.
    accepted("chat", &chat(json!([asked, call("c1"), result("c1"), call("c1"), result("c1"), said])));
    refused("chat", &chat(json!([asked, call("c1"), said])), &["tools_closed"]);
    refused("chat", &chat(json!([asked, call("c1"), result("c1")])), &["candidate_text"]);
}

#[test]
fn chat_messages_without_ids_and_with_arguments_as_a_python_dictionary() {
    let call = json!({"role": "assistant", "tool_calls": [
        {"function": {"name": "get_order", "arguments": "{'order': 7}"}}, {"function": {"name": "get_user", "arguments": "{'user': 'ada'}"}}]});
    let results = [json!({"role": "tool", "name": "get_user", "content": "Ada"}), json!({"role": "tool", "name": "get_order", "content": "a lamp"})];
    let (asked, said) = (json!({"role": "user", "content": "What did I buy?"}), json!({"role": "assistant", "content": "A lamp."}));
    accepted("chat", &chat(json!([asked, call, results[0], results[1], said])));
    refused("chat", &chat(json!([asked, call, results[0], said])), &["tools_closed"]);
}

#[test]
fn a_simulated_user_who_ends_the_talk_asks_for_nothing() {
    let (asked, said) = (json!({"role": "user", "content": "Cancel my order."}), json!({"role": "assistant", "content": "It is cancelled."}));
    accepted("chat", &chat(json!([asked, said, {"role": "user", "content": "Thanks! ###STOP###"}])));
    refused("chat", &chat(json!([asked, said, {"role": "user", "content": "And the other one?"}])), &["candidate_text"]);
}

#[test]
fn tau2_simulations() {
    let run = |reason: &str| {
        json!({"messages": [
            {"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "Add a task."},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "name": "create_task", "arguments": {"title": "t"}, "requestor": "assistant"}]},
            {"role": "tool", "id": "a", "tool_call_id": "a", "content": "done", "requestor": "assistant", "error": false},
            {"role": "assistant", "content": "Added."}, {"role": "user", "content": "###STOP###"}],
            "termination_reason": reason})
        .to_string()
    };
    accepted("tau2", &run("user_stop"));
    refused("tau2", &run("max_steps"), &["normal_stop"]);
}

#[test]
fn tau2_runtime_events() {
    let event = |kind: &str, facts: Value| json!({"event_id": "e", "event_type": kind, "parent_event_id": null, "payload": {"runtime_trace": facts}});
    let run = |reason: &str| {
        let said = |role: &str, text: &str| json!({"message": {"raw": {"role": role, "content": text}}});
        lines(&[
            event("user_response", said("user", "Are you there?")),
            event("agent_response", said("assistant", "Yes.")),
            event("simulation_end", json!({"termination_reason": reason})),
        ])
    };
    accepted("tau2", &run("user_stop"));
    refused("tau2", &run("too_many_errors"), &["normal_stop"]);
}

#[test]
fn openai_agents_run_states() {
    let state = |items: Value| {
        json!({"$schemaVersion": "1.0", "currentAgent": {"name": "Desk"}, "originalInput": "Book it.", "generatedItems": items}).to_string()
    };
    let agent = json!({"name": "Desk"});
    let call =
        json!({"type": "tool_call_item", "rawItem": {"type": "function_call", "callId": "c1", "name": "book", "arguments": "{}"}, "agent": agent});
    let result = json!({"type": "tool_call_output_item", "rawItem": {"type": "function_call_result", "callId": "c1", "output": {"type": "text", "text": "booked"}}, "agent": agent});
    let said = json!({"type": "message_output_item", "rawItem": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Booked."}]}, "agent": agent});
    let parked = json!({"type": "tool_approval_item", "rawItem": {"type": "function_call", "callId": "c1", "name": "book", "arguments": "{}"}, "agent": agent});
    accepted("openai-agents", &state(json!([call, result, said])));
    refused("openai-agents", &state(json!([call, parked])), &["approvals_settled", "candidate_text"]);
    let items = json!([{"role": "user", "content": "Book it."}, {"type": "function_call", "call_id": "c1", "name": "book", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "booked"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Booked."}]}]);
    accepted("openai-agents", &items.to_string());
}

#[test]
fn codex_rollouts() {
    let item = |payload: Value| json!({"timestamp": "t", "type": "response_item", "payload": payload});
    let asked = item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run the tests."}]}));
    let call = item(json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}));
    let result = item(json!({"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}"}));
    let said = |phase: &str| {
        item(json!({"type": "message", "role": "assistant", "phase": phase, "content": [{"type": "output_text", "text": "They pass."}]}))
    };
    accepted("codex", &lines(&[asked.clone(), call.clone(), result.clone(), said("final_answer")]));
    // Words on the way are no answer.
    refused("codex", &lines(&[asked.clone(), said("commentary"), call.clone(), result.clone()]), &["candidate_text"]);
    let aborted = json!({"timestamp": "t", "type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}});
    refused("codex", &lines(&[asked, call, aborted]), &["tools_closed", "candidate_text", "normal_stop"]);
}

#[test]
fn codex_sessions_in_the_background() {
    let item = |payload: Value| json!({"timestamp": "t", "type": "response_item", "payload": payload});
    let call = item(json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\": \"make\"}", "call_id": "c1"}));
    let goes_on = item(json!({"type": "function_call_output", "call_id": "c1", "output": "Process running with session ID 41"}));
    let looks = item(json!({"type": "function_call", "name": "write_stdin", "arguments": "{\"session_id\": 41}", "call_id": "c2"}));
    let ended = item(json!({"type": "function_call_output", "call_id": "c2", "output": "Process exited with code 0"}));
    let said = item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Built."}]}));
    refused("codex", &lines(&[call.clone(), goes_on.clone(), said.clone()]), &["background_done"]);
    accepted("codex", &lines(&[call, goes_on, looks, ended, said]));
}

#[test]
fn atif_trajectories() {
    let run = |version: &str, last: Value| {
        json!({"schema_version": version, "session_id": "s", "agent": {"name": "a"}, "steps": [
            {"step_id": 1, "source": "user", "message": "Write hello.txt."},
            {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c1", "function_name": "write", "arguments": {"path": "hello.txt"}}],
             "observation": {"results": [{"source_call_id": "c1", "content": "written"}]}}, last]})
        .to_string()
    };
    for version in ["ATIF-v1.2", "ATIF-v1.5", "ATIF-v1.7"] {
        accepted("atif", &run(version, json!({"step_id": 3, "source": "agent", "message": "It is there."})));
    }
    // A call that is written out, where the model has no other way.
    accepted(
        "atif",
        &run(
            "ATIF-v1.6",
            json!({"step_id": 3, "source": "agent", "message": "<function=finish><parameter=message>It is there.</parameter></function>"}),
        ),
    );
    let called = json!({"step_id": 3, "source": "agent", "message": "One more.", "tool_calls": [{"tool_call_id": "c2", "function_name": "write", "arguments": {}}]});
    refused("atif", &run("ATIF-v1.7", called), &["tools_closed"]);
}

fn span(id: &str, parent: &str, ended: &str, attributes: &[(&str, &str)], status: u8) -> Value {
    let attributes: Vec<Value> = attributes.iter().map(|(k, v)| json!({"key": k, "value": {"stringValue": v}})).collect();
    json!({"traceId": "t1", "spanId": id, "parentSpanId": parent, "endTimeUnixNano": ended, "attributes": attributes, "status": {"code": status}})
}

#[test]
fn otlp_of_both_conventions() {
    let document = |spans: Value| json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
    let tool = |status| span("s1", "s0", "10", &[("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "write_file")], status);
    let said = r#"[{"role":"assistant","parts":[{"type":"text","content":"Written."}]}]"#;
    let model = span("s2", "s0", "20", &[("gen_ai.operation.name", "chat"), ("gen_ai.output.messages", said)], 0);
    let root = span("s0", "", "30", &[("gen_ai.operation.name", "invoke_agent")], 0);
    accepted("otlp", &document(json!([root, tool(0), model])));
    refused("otlp", &document(json!([root, tool(2), model])), &["work_done", "last_work_ok"]);
    let other = [span("s1", "", "10", &[("openinference.span.kind", "LLM"), ("llm.output_messages.0.message.content", "Hello.")], 0)];
    accepted("otlp", &document(json!(other)));
    refused("otlp", &document(json!([span("s1", "", "10", &[("openinference.span.kind", "LLM")], 2)])), &["candidate_text", "normal_stop"]);
}

#[test]
fn otlp_without_a_convention_tells_nothing() {
    let document = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span("s1", "", "10", &[("http.method", "GET")], 0)]}]}]});
    let report = read(&document.to_string()).expect("it is OTLP");
    assert!(report.verdicts.is_empty());
    assert!(report.faults[0].why.contains("conventions"), "{:?}", report.faults);
}

#[test]
fn swe_agent_trajectories() {
    let run = |status: Value, submission: Value| {
        json!({"trajectory": [{"action": "ls", "observation": "a.py", "response": "I look."}, {"action": "submit", "observation": "", "response": "I submit."}],
            "history": [], "info": {"exit_status": status, "submission": submission}})
        .to_string()
    };
    accepted("swe-agent", &run(json!("submitted"), json!("diff --git a/a.py b/a.py")));
    refused("swe-agent", &run(json!("submitted (exit_cost)"), json!("diff --git a/a.py b/a.py")), &["normal_stop"]);
    refused("swe-agent", &run(json!("exit_context"), Value::Null), &["candidate_text", "normal_stop"]);
    refused("swe-agent", &run(Value::Null, Value::Null), &["candidate_text"]);
}

#[test]
fn openhands_events() {
    let asked = json!({"id": 0, "source": "user", "action": "message", "args": {"content": "Rename it."}});
    let call = json!({"id": 1, "source": "agent", "action": "run", "args": {"command": "mv a b"}});
    let result = |status: i64| json!({"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "", "extras": {"metadata": {"exit_code": status}}});
    let finish = json!({"id": 3, "source": "agent", "action": "finish", "args": {"final_thought": "Renamed."}});
    accepted("openhands", &json!([asked, call, result(0), finish]).to_string());
    // A status other than 0 is the agent's to judge.
    accepted("openhands", &json!([asked, call, result(1), finish]).to_string());
    refused("openhands", &json!([asked, call]).to_string(), &["tools_closed", "candidate_text"]);
    let error = "RuntimeError: Agent reached maximum iteration in headless mode.";
    let instance = json!({"instance_id": "i", "history": [asked, call, result(0)], "error": error}).to_string();
    refused("openhands", &instance, &["candidate_text", "normal_stop"]);
    let two = lines(&[json!({"instance_id": "i1", "history": [asked, finish]}), json!({"instance_id": "i2", "history": [asked, call]})]);
    let report = read(&two).expect("two instances");
    assert_eq!(report.verdicts.iter().map(|v| (v.trace.as_str(), v.is_final())).collect::<Vec<_>>(), [("i1", true), ("i2", false)]);
}

#[test]
fn what_is_not_read_is_named() {
    let named = [
        ("a Gemini CLI session", json!({"sessionId": "s", "projectHash": "p", "messages": [{"type": "user", "content": "hi"}]}).to_string()),
        ("an Inspect evaluation log", json!({"version": 2, "eval": {}, "plan": {}, "samples": []}).to_string()),
        ("a Langfuse export", json!({"trace": {}, "observations": []}).to_string()),
        ("a TapeAgents tape", json!({"metadata": {}, "steps": [{"kind": "call"}]}).to_string()),
        ("a pi session", lines(&[json!({"type": "session", "provider": "p", "modelId": "m"}), json!({"type": "message", "message": {}})])),
        (
            "a mini-swe-agent trajectory",
            json!([{"role": "user", "content": "<returncode>0</returncode>"}, {"role": "assistant", "content": "x"}]).to_string(),
        ),
        ("spans sorted by operation", json!({"chat": [{"spanContext": {}, "attributes": {}}]}).to_string()),
        ("a zip archive", "PK\u{3}\u{4}".to_owned()),
        ("line JSON of an unknown kind", lines(&[json!({"a": 1}), json!({"a": 2})])),
        ("empty", String::new()),
    ];
    for (what, text) in named {
        let why = read(&text).expect_err(what).to_string();
        assert!(why.contains(what) && why.contains("which is not read: "), "{what}: {why}");
    }
}

#[test]
fn a_format_of_the_users_own_is_read_first() {
    use countersign_connect::trace::{Audit, Head, OWNER, Source, SourceError, Told, Trace};
    struct Haiku;
    impl Trace for Haiku {
        fn name(&self) -> &'static str {
            "haiku"
        }
        fn recognises(&self, head: &Head) -> bool {
            head.has(&["haiku"])
        }
        fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
            let tale = told.begin("basho", OWNER)?;
            tale.at(1, None);
            tale.said(OWNER, source.document());
            Ok(())
        }
    }
    let source =
        Source::of(std::io::Cursor::new(r#"{"haiku": "an old pond", "messages": [{"role": "user", "content": ""}]}"#)).expect("memory can be read");
    let report = Audit::new(Default::default()).with(Haiku).read("x", source).expect("it is a haiku");
    assert_eq!((report.format, report.verdicts[0].trace.as_str(), report.verdicts[0].is_final()), ("haiku", "basho", true));
}
