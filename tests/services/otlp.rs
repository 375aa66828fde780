//! Spans of `countersign serve`, as they arrive at a collector: decoded by the schema of OpenTelemetry.

use crate::held::{ANSWER, Held, body};
use crate::serve::Serving;
use countersign_cli::init::STARTER;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use std::io::Write;
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

/// A collector that takes everything, and hands it on with its head.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let url = format!("http://{}", listener.local_addr().expect("it has an address"));
    let (tell, arrived) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let said = body(&stream);
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").expect("it is read");
            let _ = tell.send(said);
        }
    });
    (url, arrived)
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let value = attributes.iter().find(|attribute| attribute.key == key)?.value.clone();
    match value {
        Some(AnyValue { value: Some(Any::StringValue(text)) }) => Some(text),
        Some(AnyValue { value: Some(Any::IntValue(number)) }) => Some(number.to_string()),
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn a_run_arrives_as_spans_of_the_genai_conventions_without_its_content() {
    let (folder, model, (url, arrived)) = (tempfile::tempdir().expect("a folder"), Held::start(), collector());
    model.release();
    std::fs::write(folder.path().join("countersign.toml"), STARTER.replace("http://127.0.0.1:11434/v1", &model.url)).expect("it can be written");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=green")];
    let server = Serving::start(folder.path(), &variables);
    let run = server.json("POST", "/api/runs", Some(&json!({ "task": "Secretly look.", "conversation": "c1" })));
    let run = run["run"].as_str().expect("a name").to_owned();
    server.ask("GET", &format!("/api/runs/{run}/stream?until=rest"), None);
    assert!(server.end("TERM").success());
    let requests: Vec<_> = arrived.try_iter().collect();
    let mut spans: Vec<Span> = Vec::new();
    for (head, body) in &requests {
        assert!(head.starts_with("POST /v1/traces "), "{head}");
        assert!(head.contains("application/x-protobuf") && head.contains("x-team: green"), "{head}");
        let said = String::from_utf8_lossy(body);
        assert!(!said.contains("Secretly") && !said.contains(ANSWER) && !said.contains("countersign.toml"), "{said}");
        for resource in ExportTraceServiceRequest::decode(body.as_slice()).expect("it is what it says").resource_spans {
            let named = resource.resource.map(|resource| text(&resource.attributes, "service.name"));
            assert_eq!(named, Some(Some("countersign".to_owned())));
            spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    }
    let one = |name: &str| spans.iter().find(|span| span.name.starts_with(name)).unwrap_or_else(|| panic!("no `{name}`: {spans:#?}"));
    let (workflow, agent, chat, tool) = (one("invoke_workflow single"), one("invoke_agent main"), one("chat "), one("execute_tool list_files"));
    assert_eq!(spans.iter().filter(|span| span.name.starts_with("chat ")).count(), 2);
    for (span, operation) in [(workflow, "invoke_workflow"), (agent, "invoke_agent"), (chat, "chat"), (tool, "execute_tool")] {
        assert_eq!(text(&span.attributes, "gen_ai.operation.name").as_deref(), Some(operation));
        assert_eq!(span.trace_id, workflow.trace_id, "{}", span.name);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.start_time_unix_nano > 0);
        let known = |key: &str| key.starts_with("gen_ai.") || key == "error.type";
        assert!(span.attributes.iter().all(|attribute| known(&attribute.key)) && span.events.is_empty(), "{span:#?}");
    }
    assert_eq!((&agent.parent_span_id, &tool.parent_span_id), (&workflow.span_id, &workflow.span_id));
    assert!(spans.iter().any(|span| span.name.starts_with("invoke_agent") && span.span_id == chat.parent_span_id));
    assert_eq!(text(&workflow.attributes, "gen_ai.conversation.id").as_deref(), Some("c1"));
    assert_eq!(text(&tool.attributes, "gen_ai.tool.name").as_deref(), Some("list_files"));
    assert_eq!(text(&chat.attributes, "gen_ai.agent.name").as_deref(), Some("main"));
    assert!(text(&chat.attributes, "gen_ai.request.model").is_some());
}
