//! `/api/runs`: start one, list those that are yours.

use super::openapi::{Asked as Refusals, Said, doc};
use crate::access::Who;
use crate::extract::{Asked, Upload, WHOLE_MAX, page};
use crate::problem::Problem;
use crate::runs::Order;
use crate::state::AppState;
use crate::tighten::ClientPolicy;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use countersign::event::MediaType;
use countersign::journal::projection::{RunQuery, RunSummary};
use countersign::{Image, Reason, Status, Str};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Most runs on one page of the list.
const PAGE_MAX: usize = 200;

/// A task, and how it is to be carried out.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewRun {
    /// What is to be done.
    #[schema(min_length = 1, pattern = r"\S")]
    task: String,
    /// The mode in which it is to be carried out.
    mode: Option<String>,
    /// The profile that carries it out.
    profile: Option<String>,
    /// The conversation to which it belongs. Its agent is told what was said there before, in your runs.
    conversation: Option<String>,
    /// Images that come with the task.
    #[serde(default)]
    #[schema(max_items = 20)]
    images: Vec<Picture>,
    /// The message that it fills.
    message_id: Option<String>,
    /// What is asked of the policy.
    policy: Option<ClientPolicy>,
    /// The same, where evidence is all that is asked.
    finalization: Option<Finalization>,
}

/// What has to hold before the answer is final.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Finalization {
    /// The answer has to rest on completed work.
    require_execution_evidence: bool,
}

/// An image.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Picture {
    /// Its kind, which has to be that of its bytes.
    #[schema(value_type = doc::MediaType)]
    media_type: MediaType,
    /// Its bytes in base64: at most 3,750,000 of them.
    data: String,
}

impl Picture {
    fn image(&self, at: usize) -> Result<Image, Problem> {
        let image = Image::from_base64(&self.data).map_err(|why| Problem::Refused(format!("`images[{at}]`: {why}")))?;
        let is = image.reference().media;
        match is == self.media_type {
            true => Ok(image),
            false => Err(Problem::Refused(format!("`images[{at}]` is `{}`, and said to be `{}`; say what it is", is.name(), self.media_type.name()))),
        }
    }
}

impl NewRun {
    /// What is asked of the run. `finalization` is `policy` by another name.
    pub(super) fn order(self) -> Result<Order, Problem> {
        let mut policy = self.policy;
        if let Some(asked) = self.finalization {
            let said = policy.get_or_insert_default().require_execution_evidence.replace(asked.require_execution_evidence);
            if said.is_some_and(|said| said != asked.require_execution_evidence) {
                return Err(Problem::Refused("`policy` and `finalization` differ in `requireExecutionEvidence`; say it once".to_owned()));
            }
        }
        let (conversation, message) = (self.conversation.map(Str::from), self.message_id.map(Str::from));
        let images = self.images.iter().enumerate().map(|(at, picture)| picture.image(at)).collect::<Result<Vec<_>, _>>()?;
        let order = Order { task: self.task, profile: self.profile, mode: self.mode, conversation, message, policy, images };
        order.check()?;
        Ok(order)
    }
}

/// How a run stands, on one line.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunLine)]
pub(super) struct Line {
    #[schema(value_type = String)]
    run: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    conversation: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    message_id: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    profile: Option<Str>,
    #[schema(value_type = String)]
    mode: Str,
    #[schema(value_type = String)]
    title: Str,
    #[schema(value_type = doc::Status)]
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<doc::Reason>)]
    reason: Option<Reason>,
    started_ms: u64,
    changed_ms: u64,
    seq: u32,
}

impl From<RunSummary> for Line {
    fn from(run: RunSummary) -> Self {
        let RunSummary { run, conversation, message, owner: _, profile, mode, title, status, reason, started_ms, changed_ms, seq } = run;
        Self { run, conversation, message_id: message, profile, mode, title, status, reason, started_ms, changed_ms, seq }
    }
}

/// `POST /api/runs`.
#[utoipa::path(
    post, path = "/api/runs", tag = "runs",
    request_body = NewRun,
    responses(
        (
            status = 201,
            description = "it has begun",
            body = Line,
            headers(("location" = String, description = "where it stands")),
        ),
        Said,
    ),
)]
pub(super) async fn start(State(state): State<AppState>, Extension(who): Extension<Who>, Upload(new): Upload<NewRun>) -> Result<Response, Problem> {
    let run = state.runs().start(&who, new.order()?).await?;
    created(&run.run.clone(), Json(Line::from(run)))
}

/// A run was created, and stands there.
pub(super) fn created(run: &str, body: impl IntoResponse) -> Result<Response, Problem> {
    let place = HeaderValue::try_from(format!("/api/runs/{run}")).map_err(|e| Problem::Malformed(e.to_string()))?;
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], body).into_response())
}

/// Which runs to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Runs that stand so.
    #[param(value_type = Option<doc::Status>)]
    status: Option<Status>,
    /// Runs of this mode.
    mode: Option<String>,
    /// Runs of this conversation.
    conversation: Option<String>,
    /// Runs whose title contains this.
    text: Option<String>,
    /// Runs that began before then: milliseconds since the Unix epoch. Where a page goes on.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    before: Option<u64>,
    /// How many at most: 50, and up to 200.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Runs, the newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = RunPage)]
pub(super) struct Page {
    runs: Vec<Line>,
    /// What `before` is on the next page; missing on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// `GET /api/runs`.
#[utoipa::path(
    get, path = "/api/runs", tag = "runs",
    params(Which),
    responses((status = 200, description = "the newest first", body = Page), Refusals),
)]
pub(super) async fn list(State(state): State<AppState>, Extension(who): Extension<Who>, Asked(which): Asked<Which>) -> Result<Json<Page>, Problem> {
    if let Some(late) = which.before.filter(|before| *before > WHOLE_MAX) {
        return Err(Problem::Malformed(format!("`before={late}` is no moment; give one as the list's `next` does")));
    }
    let most = page(which.limit, 50, PAGE_MAX)?;
    let (mode, conversation, text) = (which.mode.map(Str::from), which.conversation.map(Str::from), which.text.map(Str::from));
    let query = RunQuery { status: which.status, mode, conversation, text, before_ms: which.before, most, ..RunQuery::default() };
    let runs: Vec<Line> = state.runs().list(&who, query).await?.into_iter().map(Line::from).collect();
    let next = runs.last().filter(|_| runs.len() == most).map(|run| run.started_ms);
    Ok(Json(Page { runs, next }))
}
