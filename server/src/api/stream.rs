//! `GET /api/runs/{run}/stream`: the run as server-sent events.

use super::openapi::OfRun;
use crate::extract::{Asked, Owned};
use crate::hub::{Follow, Reader};
use crate::problem::Problem;
use crate::state::AppState;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use countersign::Str;
use serde::Deserialize;
use std::convert::Infallible;
use tokio::sync::watch;
use utoipa::{IntoParams, ToSchema};

/// Where to begin, and where to end.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct From {
    /// The last event that was seen; 0 for none. `Last-Event-ID` goes before it.
    #[serde(default)]
    #[param(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    after: u32,
    /// `end` stays until the run has ended for good, `rest` until it waits for a person as well.
    #[serde(default)]
    until: Until,
}

/// How long to stay.
#[derive(Deserialize, Default, Clone, Copy, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Until {
    #[default]
    End,
    Rest,
}

/// A reader, and what it needs to leave well.
struct Stream {
    reader: Reader,
    leaving: watch::Receiver<bool>,
    _seat: Seat,
}

/// A reader's seat: with the last one, what was kept for readers is given up.
struct Seat {
    state: AppState,
    run: Str,
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The reader went before it.
        self.state.runs().tidy(&self.run);
    }
}

/// `GET /api/runs/{run}/stream`.
#[utoipa::path(
    get, path = "/api/runs/{run}/stream", tag = "runs",
    params(
        ("run" = String, Path, description = "the run"),
        ("last-event-id" = Option<u64>, Header, description = "the last event that was seen; it goes before `after`"),
        From,
    ),
    responses(
        (
            status = 200,
            description = "server-sent events; `id` is the number of an event",
            body = String,
            content_type = "text/event-stream",
        ),
        OfRun,
    ),
)]
pub(super) async fn stream(State(state): State<AppState>, owned: Owned, Asked(from): Asked<From>, headers: HeaderMap) -> Result<Response, Problem> {
    let after = last_seen(&headers)?.unwrap_or(from.after);
    let follow = match from.until {
        Until::End => Follow::ToTheEnd,
        Until::Rest => Follow::ToRest,
    };
    let reader = state.runs().follow(&owned.run, after, follow).await?;
    let seat = Seat { run: owned.run.run, state: state.clone() };
    let stream = Stream { reader, leaving: state.leaving(), _seat: seat };
    let frames =
        futures_util::stream::unfold(stream, |mut stream| async move { stream.next().await.map(|bytes| (Ok::<_, Infallible>(bytes), stream)) });
    let sent = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((sent, Body::from_stream(frames)).into_response())
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        if *self.leaving.borrow() {
            return self.reader.leave();
        }
        let next = tokio::select! {
            next = self.reader.next() => Some(next),
            _ = self.leaving.changed() => None,
        };
        // The server is going down: the reader comes back with the last event that it saw.
        next.unwrap_or_else(|| self.reader.leave())
    }
}

fn last_seen(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let Some(said) = headers.get("last-event-id") else { return Ok(None) };
    let text = String::from_utf8_lossy(said.as_bytes());
    let seq = text.trim().parse().map(Some);
    seq.map_err(|_| Problem::Malformed(format!("`Last-Event-ID: {text}` is no event's number; send back what the stream gave as `id`")))
}
