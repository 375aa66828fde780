//! What every request has to pass, and what every response is sent with.

use crate::problem::Problem;
use crate::server::Peer;
use crate::state::AppState;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use std::borrow::Cow;
use std::net::IpAddr;

/// What the page may load and do: nothing that did not come with it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Lets whoever has a token or a session pass, and says who it is.
pub(super) async fn token(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let known = match state.who(request.headers()) {
        Some(who) => state.pace().request(&who).map(|()| who),
        None => Err(stranger(&state, &request)),
    };
    match known {
        Ok(who) => {
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// What somebody is told who has no token, or a wrong one.
fn stranger(state: &AppState, request: &Request) -> Problem {
    let paced = request.extensions().get::<Peer>().map_or(Ok(()), |Peer(from)| state.pace().stranger(*from));
    paced.err().unwrap_or(Problem::NoToken)
}

/// Strikes secrets out of what is sent. Streams are not among it: their frames were struck when they were made.
pub(super) async fn redacted(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let (head, body) = next.run(request).await.into_parts();
    if head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
        return Response::from_parts(head, body);
    }
    let Ok(whole) = body.collect().await.map(http_body_util::Collected::to_bytes) else { return Problem::Leaving.into_response() };
    let struck = match std::str::from_utf8(&whole).map(|text| state.redactor().strike(text)) {
        Ok(Cow::Owned(text)) => Body::from(text),
        Ok(Cow::Borrowed(_)) | Err(_) => Body::from(whole.clone()),
    };
    let mut response = Response::from_parts(head, struck);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}

/// Refuses what came under a foreign name (a name that somebody made point here) or from a page of somebody else.
pub(super) async fn origin(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match own(&state, request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(why) => Problem::Foreign(why).into_response(),
    }
}

fn own(state: &AppState, headers: &HeaderMap, uri: &Uri) -> Result<(), String> {
    let text = |name: HeaderName| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let host = text(header::HOST).or_else(|| uri.authority().map(ToString::to_string)).ok_or("have to name their host")?;
    if !is_ours(state, &host) {
        return Err(format!("for the host `{host}` are not answered here; name it when the server is started"));
    }
    if let Some(origin) = text(header::ORIGIN) {
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if from.is_none_or(|from| !from.eq_ignore_ascii_case(&host)) {
            return Err(format!("from the page `{origin}` are not answered here"));
        }
    }
    let from_elsewhere = text(HeaderName::from_static("sec-fetch-site")).is_some_and(|site| site == "cross-site" || site == "same-site");
    if from_elsewhere && (uri.path().starts_with("/api") || uri.path() == "/session") {
        return Err("from pages of other sites are not answered here".to_owned());
    }
    Ok(())
}

/// An address cannot be made to point elsewhere; of names, those are ours that the operator says are.
fn is_ours(state: &AppState, host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok() || state.hosts().iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// What every response is sent with, unless it says otherwise itself.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let always = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in always {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
