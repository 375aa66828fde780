//! `POST /api/gate`: the gate alone. Facts of somebody else's run are told, and ruled on; nothing is kept.

use super::openapi::{Said, doc};
use crate::extract::Input;
use crate::problem::Problem;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use countersign::{Decision, Event, ModeRules, Policy, Run, RunStarted};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Names under which somebody might try to hand in what only the gate makes.
const RULINGS: [&str; 4] = ["decided", "decision", "final", "response"];

/// A run of somebody else, as far as it has come.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Foreign {
    /// What the user asked for.
    #[serde(default)]
    task: String,
    /// The mode, for the record.
    #[serde(default = "single")]
    mode: String,
    /// The agent whose words may be the answer.
    #[serde(default = "main")]
    owner: String,
    /// What must hold before the answer is final.
    #[serde(default)]
    #[schema(value_type = Object)]
    policy: Map<String, Value>,
    /// The profile whose checks rule; without one, the built-in checks do.
    profile: Option<String>,
    /// What happened, in order, as events of a log after its `run_started`.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Map<String, Value>>,
}

fn single() -> String {
    "single".to_owned()
}

fn main() -> String {
    "main".to_owned()
}

/// `POST /api/gate`.
#[utoipa::path(
    post, path = "/api/gate", tag = "gate",
    request_body = Foreign,
    responses((status = 200, description = "what the gate says; nothing is kept", body = doc::Ruling), Said),
)]
pub(super) async fn decide(State(state): State<AppState>, Input(foreign): Input<Foreign>) -> Result<Json<Decision>, Problem> {
    let gate = state.runs().profiles().gate(foreign.profile.as_deref())?;
    let policy: Policy =
        serde_json::from_value(Value::Object(foreign.policy)).map_err(|why| Problem::Refused(format!("`policy` cannot be read: {why}")))?;
    let rules = ModeRules::owner(&foreign.owner);
    let start = RunStarted::new("posted", foreign.task, foreign.mode, rules, policy);
    let mut run = Run::start(gate, start, 0).map_err(|why| Problem::Refused(why.to_string()))?;
    for (at, fields) in foreign.events.into_iter().enumerate() {
        let (name, at_ms, event) = read(at + 1, fields)?;
        run.record(at_ms, event).map_err(|why| Problem::Refused(format!("event {} (`{name}`) may not stand there: {why}", at + 1)))?;
    }
    Ok(Json(run.decide()))
}

/// One event, with the name that it gives itself. Its own number says nothing; it is numbered as it comes.
fn read(at: usize, mut fields: Map<String, Value>) -> Result<(String, u64, Event), Problem> {
    let name = fields.get("event").and_then(Value::as_str).unwrap_or_default().to_owned();
    if RULINGS.contains(&name.as_str()) {
        return Err(Problem::Refused(format!("event {at} is `{name}`: rulings and answers are made by the gate, and never handed in; leave it out")));
    }
    if name == "run_started" {
        return Err(Problem::Refused(format!("event {at} is `run_started`: say `task`, `mode`, `owner` and `policy` beside `events` instead")));
    }
    fields.remove("seq");
    let at_ms = fields.remove("at_ms").and_then(|ms| ms.as_u64()).unwrap_or_default();
    let event =
        serde_json::from_value(Value::Object(fields)).map_err(|why| Problem::Refused(format!("event {at} (`{name}`) cannot be read: {why}")))?;
    Ok((name, at_ms, event))
}
