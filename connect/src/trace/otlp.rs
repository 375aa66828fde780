//! OTLP JSON: spans of agents, models and tools, with the attributes of the GenAI conventions or of OpenInference.
//! Every trace id is a trace of its own.

use super::{Fault, Head, OWNER, Source, SourceError, Tale, Told, Trace};
use countersign_core::{Cause, Finish, Form, Outcome};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// OTLP JSON.
pub struct Otlp;

impl Trace for Otlp {
    fn name(&self) -> &'static str {
        "otlp"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.has(&["resourceSpans"]) || head.line_has(&["resourceSpans"])
    }

    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError> {
        let mut spans = Vec::new();
        if source.head().is_lines() {
            let faults = source.each_line(|line, said| {
                gather(&serde_json::from_str(said)?, line, &mut spans);
                Ok(())
            })?;
            told.faults(faults);
        } else {
            let document = serde_json::from_str(source.document()).map_err(|e| SourceError::broken(&e))?;
            gather(&document, 1, &mut spans);
        }
        // In the order in which they ended: what came of one is known to those that end later.
        let mut traces: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        spans.into_iter().for_each(|span| traces.entry(span.trace.clone()).or_default().push(span));
        for (id, mut spans) in traces {
            spans.sort_by_key(|span| (span.ended.unwrap_or(u64::MAX), span.line, span.at));
            tell(&id, &spans, told)?;
        }
        Ok(())
    }
}

/// What a span is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Tool,
    Agent,
}

struct Span {
    line: u32,
    at: u32,
    trace: String,
    parent: String,
    id: String,
    ended: Option<u64>,
    failed: bool,
    kind: Option<Kind>,
    attributes: Map<String, Value>,
}

/// Every span of a document, flattened.
fn gather(document: &Value, line: u32, spans: &mut Vec<Span>) {
    let scopes = list(document, "resourceSpans").iter().flat_map(|resource| list(resource, "scopeSpans"));
    for span in scopes.flat_map(|scope| list(scope, "spans")) {
        let at = u32::try_from(spans.len()).unwrap_or(u32::MAX);
        spans.push(Span::of(span, line, at));
    }
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

impl Span {
    fn of(span: &Value, line: u32, at: u32) -> Self {
        let named = |field: &str| span.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let pairs = span.get("attributes").and_then(Value::as_array).into_iter().flatten();
        let attributes: Map<String, Value> = pairs.filter_map(|p| Some((p.get("key")?.as_str()?.to_owned(), plain(p.get("value")?)))).collect();
        let code = span.pointer("/status/code");
        let failed = code.is_some_and(|c| c.as_u64() == Some(2) || c.as_str() == Some("STATUS_CODE_ERROR"));
        let ended = span.get("endTimeUnixNano").and_then(|t| t.as_str().and_then(|t| t.parse().ok()).or(t.as_u64())).filter(|t| *t > 0);
        let (trace, parent, id) = (named("traceId"), named("parentSpanId"), named("spanId"));
        Self { line, at, trace, parent, id, ended, failed, kind: kind(&attributes), attributes }
    }

    fn text(&self, keys: &[&str]) -> &str {
        keys.iter().filter_map(|k| self.attributes.get(*k)).filter_map(Value::as_str).find(|t| !t.trim().is_empty()).unwrap_or_default()
    }

    /// What a model or an agent said, in whichever of the conventions.
    fn said(&self) -> String {
        let messages = self.text(&["gen_ai.output.messages"]);
        let messages: Value = serde_json::from_str(messages).unwrap_or_default();
        let parts = messages.as_array().into_iter().flatten().filter_map(|m| m.get("parts")?.as_array()).flatten();
        let spoken: Vec<&str> = parts.filter(|p| p.get("type").is_some_and(|t| t == "text")).filter_map(|p| p.get("content")?.as_str()).collect();
        if !spoken.is_empty() {
            return spoken.join("\n");
        }
        self.text(&["llm.output_messages.0.message.content", "gen_ai.completion.0.content", "gen_ai.completion", "output.value"]).to_owned()
    }

    fn finish(&self) -> Finish {
        let reasons = self.attributes.get("gen_ai.response.finish_reasons").map(ToString::to_string).unwrap_or_default();
        match () {
            () if reasons.contains("length") || reasons.contains("max_tokens") => Finish::Length,
            () if reasons.contains("content_filter") => Finish::ContentFilter,
            () => Finish::Stop,
        }
    }
}

/// A value without the wrapper that says its type.
fn plain(value: &Value) -> Value {
    let Some((_, inner)) = value.as_object().and_then(|o| o.iter().next()) else { return Value::Null };
    match inner.get("values") {
        Some(Value::Array(values)) => values.iter().map(plain).collect(),
        _ => inner.clone(),
    }
}

fn kind(attributes: &Map<String, Value>) -> Option<Kind> {
    let text = |key: &str| attributes.get(key).and_then(Value::as_str).unwrap_or_default();
    match (text("gen_ai.operation.name"), text("openinference.span.kind")) {
        ("chat" | "text_completion" | "generate_content", _) | (_, "LLM") => Some(Kind::Model),
        ("execute_tool", _) | (_, "TOOL") => Some(Kind::Tool),
        ("invoke_agent" | "create_agent", _) | (_, "AGENT" | "CHAIN") => Some(Kind::Agent),
        _ => None,
    }
}

fn tell(id: &str, spans: &[Span], told: &mut Told<'_>) -> Result<(), SourceError> {
    let line = spans.first().map_or(1, |s| s.line);
    if spans.iter().all(|s| s.kind.is_none()) {
        told.fault(Fault { line, why: "no span of this trace follows the GenAI or the OpenInference conventions".into() });
        return Ok(());
    }
    let tale = told.begin(id, OWNER)?;
    for span in spans {
        tale.at(span.line, Some(span.at));
        one(span, tale);
    }
    Ok(())
}

fn one(span: &Span, tale: &mut Tale) {
    let root = span.parent.is_empty();
    match span.kind {
        Some(Kind::Tool) => {
            let name = span.text(&["gen_ai.tool.name", "tool.name"]);
            let args = span.text(&["gen_ai.tool.call.arguments", "tool.parameters", "input.value"]);
            tale.called(OWNER, &span.id, name, args);
            // A span that has not ended is a call without a result.
            if span.ended.is_some() {
                let said = span.text(&["gen_ai.tool.call.result", "output.value"]);
                tale.returned(&span.id, if span.failed { Outcome::Failed } else { Outcome::Completed }, said);
            }
        }
        Some(Kind::Model) if span.failed => tale.failed(OWNER, ""),
        Some(Kind::Model | Kind::Agent) => {
            let said = span.said();
            if !said.trim().is_empty() && (span.kind == Some(Kind::Model) || root) {
                tale.said_as(OWNER, &said, Form::Text, span.finish());
            }
        }
        None => {}
    }
    if root && span.failed {
        tale.ends(Cause::Error, "the outermost span ended by an error");
    }
}
