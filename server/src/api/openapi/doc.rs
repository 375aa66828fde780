//! Schemas of types that stand below this crate, which know nothing of it. A test compares their names with the types.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// What is wrong with a request, and the way out (RFC 9457).
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes; the body itself is written where problems are")]
pub(in crate::api) struct Problem {
    title: String,
    status: u16,
    detail: String,
}

/// Where a run stands.
pub(in crate::api) struct Status;

impl ToSchema for Status {}

impl PartialSchema for Status {
    fn schema() -> RefOr<Schema> {
        statuses().into()
    }
}

/// Why.
pub(in crate::api) struct Reason;

impl ToSchema for Reason {}

impl PartialSchema for Reason {
    fn schema() -> RefOr<Schema> {
        reasons().into()
    }
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> Schema {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String)).enum_values(Some(names)).into()
}

fn statuses() -> Schema {
    names(countersign::Status::ALL.iter().map(|status| status.name()))
}

fn reasons() -> Schema {
    names(countersign::Reason::ALL.iter().map(|reason| reason.name()))
}

/// The kinds of image that models can be shown.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes")]
pub(in crate::api) enum MediaType {
    #[schema(rename = "image/png")]
    Png,
    #[schema(rename = "image/jpeg")]
    Jpeg,
    #[schema(rename = "image/gif")]
    Gif,
    #[schema(rename = "image/webp")]
    Webp,
}

/// One thing that stands between a candidate and a final.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes")]
pub(in crate::api) struct Missing {
    /// The check that reports it.
    check: String,
    /// The nodes that it is about.
    subjects: Vec<String>,
    /// What is missing, in words.
    message: String,
    /// What would settle it.
    remedy: String,
}

/// One record of a log, with the fields of its kind beside these.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes")]
pub(in crate::api) struct Event {
    /// From 1, without gaps.
    seq: u32,
    /// Milliseconds since the Unix epoch.
    at_ms: u64,
    /// What happened.
    event: String,
}

/// The gate's ruling.
pub(in crate::api) struct Ruling;

impl ToSchema for Ruling {
    fn name() -> std::borrow::Cow<'static, str> {
        "Decision".into()
    }
}

impl PartialSchema for Ruling {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
        let flag = || ObjectBuilder::new().schema_type(SchemaType::new(Type::Boolean));
        let number = || ObjectBuilder::new().schema_type(SchemaType::new(Type::Integer));
        let mut ruling = ObjectBuilder::new().property("status", statuses()).property("completionReason", reasons());
        ruling = FLAGS.iter().fold(ruling, |ruling, name| ruling.property(*name, flag()).required(*name));
        ruling = TEXTS.iter().fold(ruling, |ruling, name| ruling.property(*name, text()).required(*name));
        ruling = NUMBERS.iter().fold(ruling, |ruling, name| ruling.property(*name, number()).required(*name));
        ruling = MAYBE.iter().fold(ruling, |ruling, name| ruling.property(*name, text()));
        ruling = LISTS.iter().fold(ruling, |ruling, name| ruling.property(*name, ArrayBuilder::new().items(text())).required(*name));
        let missing = ArrayBuilder::new().items(Missing::schema());
        let ruling = ruling.property("missingChecks", missing).required("missingChecks").required("status").required("completionReason");
        ruling.into()
    }
}

const FLAGS: [&str; 3] = ["finalizable", "finalized", "evidenceVerified"];
const TEXTS: [&str; 5] = ["verification", "next", "agentMode", "runId", "policyDigest"];
const NUMBERS: [&str; 2] = ["candidateLen", "atSeq"];
const MAYBE: [&str; 3] = ["finalText", "conversationId", "messageId"];
const LISTS: [&str; 11] = [
    "evidenceRefs",
    "failedRefs",
    "pendingToolRuns",
    "pendingExecutionIds",
    "pendingPlanSteps",
    "pendingTransfers",
    "pendingSubAgents",
    "pendingApprovals",
    "pendingQuestions",
    "unreconciledResults",
    "conflicts",
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use countersign::{Gate, ModeRules, Policy, Run, RunStarted};

    #[test]
    fn a_ruling_has_the_fields_that_are_described() {
        let start = RunStarted::new("r", "t", "single", ModeRules::owner("main"), Policy::default());
        let run = Run::start(Gate::default().into(), start, 0).unwrap();
        let ruling = serde_json::to_value(run.decide()).unwrap();
        let mut is: Vec<&str> = ruling.as_object().unwrap().keys().map(String::as_str).collect();
        let own = ["status", "completionReason", "missingChecks"];
        let lists = [&FLAGS[..], &TEXTS, &NUMBERS, &LISTS, &own].concat();
        let mut said: Vec<&str> = lists.into_iter().filter(|name| !MAYBE.contains(name)).collect();
        is.sort_unstable();
        said.sort_unstable();
        assert_eq!(is, said);
    }
}
