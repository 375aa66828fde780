//! What a request says, read once at the border.

use crate::access::Who;
use crate::problem::Problem;
use crate::state::AppState;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header;
use axum::http::request::Parts;
use countersign::journal::projection::RunSummary;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use std::collections::HashMap;

/// A JSON body.
pub(crate) struct Input<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for Input<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        json(request, state.bounds().body_bytes).await.map(Self)
    }
}

/// A JSON body that may hold images.
pub(crate) struct Upload<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for Upload<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        json(request, state.bounds().upload_bytes).await.map(Self)
    }
}

/// A body of at most so many bytes.
async fn json<T: DeserializeOwned>(request: Request, most: usize) -> Result<T, Problem> {
    let said = request.headers().get(header::CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let said = said.unwrap_or_default();
    if said.split(';').next().unwrap_or_default().trim() != "application/json" {
        return Err(Problem::NotJson(said));
    }
    let body = Limited::new(request.into_body(), most).collect().await;
    let body = body.map_err(|why| match why.is::<LengthLimitError>() {
        true => Problem::TooLarge(most),
        false => Problem::Malformed(format!("the body did not arrive whole: {why}")),
    })?;
    serde_json::from_slice(&body.to_bytes()).map_err(|why| Problem::Malformed(format!("the body cannot be read: {why}")))
}

/// What stands after the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<AppState> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        let read = Query::<T>::try_from_uri(&parts.uri);
        read.map(|Query(asked)| Self(asked)).map_err(|why| Problem::Malformed(why.body_text()))
    }
}

/// The run that the path names, which belongs to whoever asks. There is no other way to a run.
pub(crate) struct Owned {
    pub(crate) who: Who,
    pub(crate) run: RunSummary,
}

impl FromRequestParts<AppState> for Owned {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let who = parts.extensions.get::<Who>().cloned().ok_or(Problem::NoToken)?;
        let named: Path<HashMap<String, String>> = Path::from_request_parts(parts, state).await.map_err(|why| Problem::Malformed(why.body_text()))?;
        let run = named.get("run").map(String::as_str).unwrap_or_default();
        Ok(Self { run: state.runs().owned(&who, run).await?, who })
    }
}

/// Another part of the path, as it is written.
pub(crate) struct Named(HashMap<String, String>);

impl Named {
    /// A node of the run's graph, named by its number.
    pub(crate) fn node(&self, key: &'static str) -> Result<countersign::NodeId, Problem> {
        let text = self.0.get(key).map(String::as_str).unwrap_or_default();
        let number: u64 = text.parse().map_err(|_| Problem::Malformed(format!("`{text}` is no {key}; give the number that the run shows")))?;
        // No run has so many.
        u32::try_from(number).map(countersign::NodeId).map_err(|_| Problem::missing(key, text, &[]))
    }

    /// A name.
    pub(crate) fn name(&self, key: &'static str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }
}

impl FromRequestParts<AppState> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let read: Result<Path<HashMap<String, String>>, _> = Path::from_request_parts(parts, state).await;
        read.map(|Path(named)| Self(named)).map_err(|why| Problem::Malformed(why.body_text()))
    }
}

/// The largest number that every reader of JSON can tell from the next.
pub(crate) const WHOLE_MAX: u64 = (1 << 53) - 1;

/// A whole number, as JSON has it: 4.0 is one as well.
pub(crate) fn whole<'de, D: Deserializer<'de>, T: TryFrom<u64>>(input: D) -> Result<Option<T>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(input)? else { return Ok(None) };
    let integral =
        |float: f64| (float.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&float)).then(|| format!("{float:.0}").parse().ok());
    let whole = number.as_u64().or_else(|| number.as_f64().and_then(integral).flatten());
    let number = || D::Error::custom(format!("`{number}` is no whole number that fits here"));
    whole.filter(|whole| *whole <= WHOLE_MAX).and_then(|whole| T::try_from(whole).ok()).map(Some).ok_or_else(number)
}

/// How many are wanted on one page.
pub(crate) fn page(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, Problem> {
    match asked {
        None => Ok(usual),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(Problem::Malformed(format!("`limit={asked}` is not from 1 to {most}"))),
    }
}
