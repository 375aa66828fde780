//! `GET /openapi.json`: what this server answers, in OpenAPI 3.1. It stands beside the handlers, and `.ci/services` has
//! a program of other people look whether it is true.

pub(super) mod doc;

use super::{batch, card, events, gate, runs, session, steer, stream, views, workflow};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi as Document, Ref, RefOr};
use utoipa::{IntoResponses, Modify, OpenApi};

/// The description of everything.
#[derive(OpenApi)]
#[openapi(
    info(title = "Countersign", description = "Runs whose answers are final only once a gate has let them through."),
    paths(
        runs::start, runs::list, card::show, stream::stream, events::list, views::decision, views::report, views::graph,
        steer::cancel, steer::approve, steer::answer, steer::message, steer::go_on, steer::resolve,
        gate::decide, batch::start, batch::show, workflow::start, session::begin, session::end, super::health, super::metrics
    ),
    components(schemas(doc::Problem, views::ReportForm, views::GraphForm, stream::Until)),
    modifiers(&Doors),
    security(("token" = []), ("session" = []))
)]
struct Described;

/// The two doors.
struct Doors;

impl Modify for Doors {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(crate::access::COOKIE)));
        components.add_security_scheme("token", bearer);
        components.add_security_scheme("session", cookie);
    }
}

/// `GET /openapi.json`.
pub(super) async fn show() -> Response {
    static TEXT: LazyLock<String> = LazyLock::new(|| Described::openapi().to_json().unwrap_or_default());
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str()).into_response()
}

/// What anybody may be told who asks for something.
pub(super) struct Asked;

/// What may be told besides of one run, or one batch.
pub(super) struct OfRun;

/// What may be told besides of a body.
pub(super) struct Said;

/// What may be told besides of something said to a run.
pub(super) struct ToRun;

const ANYBODY: &[u16] = &[400, 401, 403, 429, 500, 503];
const NAMED: &[u16] = &[404];
const BODY: &[u16] = &[409, 413, 415, 422];

type Responses = BTreeMap<String, RefOr<utoipa::openapi::Response>>;

fn problems(statuses: &[&[u16]]) -> Responses {
    let one = |status: &u16| {
        let content = Content::new(Some(RefOr::Ref(Ref::from_schema_name("Problem"))));
        let response = ResponseBuilder::new().description("why not, and the way out").content("application/problem+json", content).build();
        (status.to_string(), RefOr::T(response))
    };
    statuses.iter().flat_map(|statuses| statuses.iter()).map(one).collect()
}

impl IntoResponses for Asked {
    fn responses() -> Responses {
        problems(&[ANYBODY])
    }
}

impl IntoResponses for OfRun {
    fn responses() -> Responses {
        problems(&[ANYBODY, NAMED])
    }
}

impl IntoResponses for Said {
    fn responses() -> Responses {
        problems(&[ANYBODY, BODY])
    }
}

impl IntoResponses for ToRun {
    fn responses() -> Responses {
        problems(&[ANYBODY, NAMED, BODY])
    }
}
