//! Case files: bug reports retold as event sequences, in JSON. Translated by vocabulary, never by case.

use countersign::event::Claim;
use countersign::witness::{ForeignCall, ForeignCandidate, ForeignReply, Witness};
use countersign::{
    Cause, Cut, Decision, Declared, Deliverable, Effect, Finish, Form, Gate, GuardVerdict, Limits, ModeRules, NodeId, NudgeBy, Outcome, Policy,
    Reconciliation, ReplyExtra, Report, RunStarted, StepOutcome, StepSpec, Str, Verdict,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One case.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// The mode.
    #[serde(default)]
    pub mode: String,
    /// What it is about.
    #[serde(default)]
    pub title: String,
    /// Where the report stands.
    #[serde(default)]
    pub source: String,
    /// What happened.
    pub events: Vec<Told>,
    /// What the gate must say.
    pub expect: Expect,
}

/// What the gate must say.
#[derive(Debug, Deserialize)]
pub struct Expect {
    /// Decisions, each after a prefix of the events.
    #[serde(default)]
    pub decisions: Vec<Expected>,
    /// Finals delivered in the whole.
    #[serde(default)]
    pub finals: Option<usize>,
    /// Duties of the orchestrator, the store or the stream.
    #[serde(default)]
    pub must: Vec<String>,
    /// What they must not do.
    #[serde(default)]
    pub must_not: Vec<String>,
}

/// One decision that the gate must make.
#[derive(Debug, Deserialize)]
pub struct Expected {
    /// The number of the last event given.
    pub after: u32,
    /// Status.
    pub status: String,
    /// Reason.
    pub reason: String,
    /// What is done next.
    pub next: String,
    /// Every check that objects.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// One event with its number.
#[derive(Debug, Clone, Deserialize)]
pub struct Told {
    /// From 1.
    pub n: u32,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// The vocabulary of the cases. Unknown fields are ignored; unknown names are refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub enum What {
    RunStarted {
        mode: String,
        #[serde(default)]
        policy: CasePolicy,
    },
    ModelReply {
        agent: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        finish: Option<String>,
        #[serde(default)]
        parts: Vec<String>,
    },
    ToolCall {
        #[serde(default)]
        id: Option<Value>,
        #[serde(default)]
        name: String,
        #[serde(default = "main_agent")]
        agent: String,
        #[serde(default)]
        effect: Option<String>,
        #[serde(default)]
        step: Option<String>,
        #[serde(default)]
        scope: Option<String>,
        #[serde(default)]
        reads: Option<String>,
    },
    ToolResult {
        #[serde(default)]
        id: Option<Value>,
        #[serde(default)]
        outcome: String,
        #[serde(default)]
        size: u64,
        #[serde(default)]
        truncated: bool,
        #[serde(default)]
        marker: Option<bool>,
        #[serde(default)]
        of: Option<String>,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        full_ref: Option<String>,
    },
    BackgroundStarted {
        id: String,
        #[serde(default)]
        call: Option<String>,
        #[serde(default)]
        owner: Option<String>,
        #[serde(default)]
        what: Option<String>,
    },
    BackgroundFinished {
        id: String,
        #[serde(default)]
        outcome: String,
    },
    SubAgentStarted {
        id: String,
        #[serde(default)]
        agent: String,
        #[serde(default)]
        parent: Option<String>,
        #[serde(default)]
        call: Option<String>,
    },
    SubAgentReply {
        id: String,
        #[serde(default)]
        agent: String,
        #[serde(default)]
        outcome: String,
        #[serde(default)]
        parent: Option<String>,
        #[serde(default)]
        transfer: Option<String>,
        #[serde(default)]
        tools_ok: u32,
        #[serde(default)]
        claims: BTreeMap<String, Value>,
        #[serde(default)]
        verdict: Option<String>,
        #[serde(default)]
        criteria: Value,
        #[serde(default)]
        text: Option<String>,
    },
    PlanCreated {
        by: String,
        steps: Vec<CaseStep>,
    },
    StepDone {
        id: String,
        #[serde(default)]
        outcome: Option<String>,
    },
    StepBlocked {
        id: String,
        #[serde(default)]
        why: Option<String>,
    },
    Replanned {
        by: String,
        #[serde(default)]
        steps: Vec<CaseStep>,
        #[serde(default)]
        dropped: Vec<Dropped>,
    },
    Transfer {
        id: String,
        from: String,
        to: String,
        #[serde(default)]
        terminal: bool,
    },
    TransferReturned {
        id: String,
        #[serde(default)]
        outcome: String,
    },
    Reconciled {
        #[serde(default)]
        replies: Vec<String>,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        resolved: Vec<String>,
    },
    ApprovalRequested {
        id: String,
        #[serde(rename = "for")]
        of: String,
    },
    ApprovalGranted {
        id: String,
    },
    ApprovalDenied {
        id: String,
        #[serde(default)]
        why: Option<String>,
    },
    Candidate {
        #[serde(default)]
        text: Option<String>,
        agent: String,
        #[serde(default)]
        uses: Vec<String>,
        #[serde(default)]
        finish: Option<String>,
        #[serde(default)]
        synthetic: bool,
        #[serde(default)]
        reasoning_only: bool,
        #[serde(default)]
        from: Option<u32>,
    },
    Stopped {
        cause: String,
    },
    Nudge {
        #[serde(default)]
        by: String,
        #[serde(default)]
        agent: Option<String>,
    },
    Resumed {
        #[serde(default)]
        ok: Option<bool>,
    },
    Crashed {},
    GuardVerdict {
        #[serde(default)]
        by: String,
        verdict: String,
        #[serde(default)]
        why: Option<String>,
    },
    AskUser {
        id: String,
    },
    UserAnswered {
        id: String,
    },
    CancelRequested {
        #[serde(default)]
        by: String,
    },
    Edited {
        #[serde(default)]
        by: String,
    },
    Streamed {},
    ClientLeft {},
    ClientBack {},
}

fn main_agent() -> String {
    "main".into()
}

/// The policy keys of the cases.
#[derive(Debug, Clone, Default, Deserialize)]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub struct CasePolicy {
    pub evidence: Option<String>,
    pub checks: Option<String>,
    pub nudges: Option<u32>,
    pub retries: Option<u32>,
    pub deliverable: Option<String>,
    pub terminal_transfer: Option<bool>,
    pub max_depth: Option<u32>,
    pub max_transfers: Option<u32>,
    pub max_replans: Option<u32>,
    pub output_limit: Option<u32>,
}

/// A step of a plan.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub struct CaseStep {
    pub id: String,
    #[serde(default)]
    pub needs: Vec<String>,
}

/// A step that a replan gave up.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub struct Dropped {
    pub id: String,
    #[serde(default)]
    pub why: String,
}

/// A case that cannot be run, and why.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file is not a case.
    #[error("not a case file: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The first event is not `run_started`, or there is none.
    #[error("a case begins with `run_started`")]
    NoStart,
    /// The run could not begin.
    #[error("the run could not begin: {0}")]
    Append(#[from] countersign::AppendError),
}

/// Reads one case.
pub fn parse(text: &str) -> Result<Case, CaseError> {
    Ok(serde_json::from_str(text)?)
}

/// What differs from what a case expects; empty where it passes.
pub fn differences(case: &Case) -> Result<Vec<String>, CaseError> {
    let mut found = Vec::new();
    for expected in &case.expect.decisions {
        let prefix: Vec<&Told> = case.events.iter().filter(|e| e.n <= expected.after).collect();
        let (decision, _) = play(&prefix)?;
        found.extend(compare(expected, &decision));
    }
    if let Some(finals) = case.expect.finals {
        let all: Vec<&Told> = case.events.iter().collect();
        let (_, delivered) = play(&all)?;
        if delivered != finals {
            found.push(format!("finals: {delivered}, not {finals}"));
        }
    }
    Ok(found)
}

fn compare(expected: &Expected, decision: &Decision) -> Vec<String> {
    let wire = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let status = wire(serde_json::to_value(decision.status).unwrap_or_default());
    let next = wire(serde_json::to_value(decision.next).unwrap_or_default());
    let mut found = Vec::new();
    let mut differ = |what: &str, is: &str, wanted: &str| {
        if is != wanted {
            found.push(format!("after {}: {what} {is}, not {wanted}", expected.after));
        }
    };
    differ("status", &status, &expected.status);
    differ("reason", decision.completion_reason.name(), &expected.reason);
    differ("next", &next, &expected.next);
    let compared = !matches!(&*expected.reason, "user_cancelled" | "already_final");
    let missing: BTreeSet<&str> = decision.missing().collect();
    let wanted: BTreeSet<&str> = expected.missing.iter().map(String::as_str).collect();
    if compared && missing != wanted {
        let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(" ");
        differ("missing", &list(&missing), &list(&wanted));
    }
    found
}

/// Tells a prefix to a witness and asks the gate: what it says at the end, and how many finals there were.
pub fn play(events: &[&Told]) -> Result<(Decision, usize), CaseError> {
    let mut player = Player::new(events)?;
    let mut finals = 0;
    for (at, told) in events.iter().enumerate().skip(1) {
        player.tell(told);
        if at + 1 < events.len() && is_ruled_on(events, at) && player.witness.decide().finalizable {
            finals += usize::from(player.witness.rule()?.final_text.is_some());
        }
    }
    let decision = player.witness.decide();
    finals += usize::from(decision.finalizable);
    Ok((decision, finals))
}

/// Whether the gate is asked for good after this event: a candidate, once those who judge it have spoken.
fn is_ruled_on(events: &[&Told], at: usize) -> bool {
    let judged_later = || {
        let rest = events.iter().skip(at + 1).map(|t| &t.what);
        rest.take_while(|w| !matches!(w, What::Candidate { .. } | What::Nudge { .. })).any(|w| matches!(w, What::GuardVerdict { .. }))
    };
    matches!(events.get(at).map(|t| &t.what), Some(What::Candidate { .. } | What::GuardVerdict { .. })) && !judged_later()
}

/// A witness of the project's own, and what it needs to know of the vocabulary.
pub struct Player {
    /// The run.
    pub witness: Witness,
    replies: BTreeMap<u32, (NodeId, LastReply)>,
    last: BTreeMap<String, LastReply>,
    anonymous: usize,
}

#[derive(Clone, Debug, Default)]
struct LastReply {
    text: String,
    finish: Finish,
    reasoning_only: bool,
    markup_only: bool,
}

impl Player {
    fn new(events: &[&Told]) -> Result<Self, CaseError> {
        let Some(What::RunStarted { mode, policy }) = events.first().map(|t| &t.what) else { return Err(CaseError::NoStart) };
        let start = RunStarted {
            schema: 0,
            gate: 0,
            run: "case".into(),
            conversation: None,
            message: None,
            task: "".into(),
            mode: mode.as_str().into(),
            mode_version: 1,
            rules: rules(mode),
            policy: translate(policy),
            policy_digest: Str::default(),
            checks: Vec::new(),
        };
        let witness = Witness::new(Arc::new(Gate::default()), start, 0)?;
        Ok(Self { witness, replies: BTreeMap::new(), last: BTreeMap::new(), anonymous: 0 })
    }

    fn tell(&mut self, told: &Told) {
        let witness = &mut self.witness;
        match &told.what {
            What::RunStarted { .. } | What::Streamed {} | What::ClientLeft {} | What::ClientBack {} => {}
            What::ModelReply { agent, text, finish, parts } => {
                self.model_reply(told.n, agent, text.as_deref().unwrap_or_default(), finish.as_deref(), parts)
            }
            What::ToolCall { id, name, agent, effect, step, scope, reads } => {
                let scratch = scope.as_deref() == Some("scratch");
                let declared = Declared { approval: false, scratch, ..Declared::run(effect_of(effect.as_deref())) };
                let id = text_of(id);
                let call = ForeignCall { agent, id: &id, name, args: "{}", declared, step: step.as_deref(), reads: reads.as_deref() };
                witness.call(&call);
                self.last.remove(agent);
            }
            What::ToolResult { id, outcome, size, truncated, marker, of, text, full_ref } => {
                let id = text_of(id);
                let text = text.as_deref().unwrap_or_default();
                if outcome == "running" {
                    return witness.goes_on(&id, text);
                }
                let of = of.as_deref().and_then(|o| witness.reply_of(o));
                let cut = truncated.then(|| Cut { size: *size, marked: marker.unwrap_or(true), of, full: full_ref.as_deref().map(Str::from) });
                witness.result(&id, outcome_of(outcome), text, cut);
            }
            What::BackgroundStarted { id, call, owner, what } => {
                witness.job_started(id, call.as_deref(), owner.as_deref(), what.as_deref().unwrap_or("job"));
            }
            What::BackgroundFinished { id, outcome } => witness.job_ended(id, outcome_of(outcome), ""),
            What::SubAgentStarted { id, agent, parent, call } => witness.child_started(id, agent, parent.as_deref(), call.as_deref()),
            What::SubAgentReply { id, agent, outcome, parent, transfer, tools_ok, claims, verdict, criteria, text } => {
                let report = Report {
                    claims: claims
                        .iter()
                        .map(|(key, value)| Claim { key: key.as_str().into(), value: plain(value).into(), confidence: None })
                        .collect(),
                    verdict: verdict.as_deref().and_then(verdict_of),
                    criteria: criteria_of(criteria),
                    artefacts: Vec::new(),
                    evidence: Vec::new(),
                    executed: *tools_ok,
                };
                let (parent, transfer) = (parent.as_deref(), transfer.as_deref());
                witness.child_replied(&ForeignReply { id, agent, outcome: outcome_of(outcome), parent, transfer, text: text.as_deref(), report });
            }
            What::PlanCreated { by, steps } => witness.plan(by, steps_of(steps), Vec::new()),
            What::Replanned { by, steps, dropped } => {
                let reason = |why: &str| if why.trim().is_empty() { "not said".into() } else { Str::from(why) };
                witness.plan(by, steps_of(steps), dropped.iter().map(|d| (d.id.as_str().into(), reason(&d.why))).collect());
            }
            What::StepDone { id, outcome } => {
                let outcome = if outcome.as_deref().is_none_or(|o| o == "ok") { StepOutcome::Done } else { StepOutcome::CutOff };
                witness.step_settled(id, outcome, "");
            }
            What::StepBlocked { id, why } => {
                witness.step_settled(id, StepOutcome::Blocked, why.as_deref().filter(|w| !w.trim().is_empty()).unwrap_or("not said"))
            }
            What::Transfer { id, from, to, terminal } => witness.transferred(id, from, to, "", *terminal),
            What::TransferReturned { id, outcome } => witness.returned(id, outcome_of(outcome)),
            What::Reconciled { replies, by, resolved } => {
                let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
                let resolved: Vec<&str> = resolved.iter().map(String::as_str).collect();
                witness.reconciled(by.as_deref().unwrap_or("main"), &replies, &resolved);
            }
            What::ApprovalRequested { id, of } => witness.approval_requested(id, of),
            What::ApprovalGranted { id } => witness.approval_settled(id, true, ""),
            What::ApprovalDenied { id, why } => witness.approval_settled(id, false, why.as_deref().unwrap_or_default()),
            What::Candidate { .. } => self.candidate(&told.what),
            What::Stopped { cause } => witness.stopped(cause_of(cause), ""),
            What::Nudge { by, agent } => {
                let by = match by.as_str() {
                    "hook" => NudgeBy::Hook,
                    "guard" => NudgeBy::Guard,
                    _ => NudgeBy::Gate,
                };
                witness.nudged(by, agent.as_deref(), "");
            }
            What::Resumed { ok } => witness.resumed(ok.unwrap_or(true)),
            What::Crashed {} => witness.crashed(),
            What::GuardVerdict { by, verdict, why } => {
                let why: Str = why.as_deref().unwrap_or_default().into();
                witness.guard_spoke(by, if verdict == "accept" { GuardVerdict::Accept } else { GuardVerdict::Nudge(why) });
            }
            What::AskUser { id } => witness.asked_user(id, ""),
            What::UserAnswered { id } => witness.user_answered(id, ""),
            What::CancelRequested { by } => witness.cancel_requested(by),
            What::Edited { by } => witness.edited(by),
        }
    }

    fn model_reply(&mut self, n: u32, agent: &str, text: &str, finish: Option<&str>, parts: &[String]) {
        if finish == Some("error") {
            return self.witness.model_failed(agent, "", Some(text).filter(|t| !t.is_empty()));
        }
        let has = |part: &str| parts.iter().any(|p| p == part);
        let finish = finish_of(finish);
        let markup = has("call_markup") && !has("text");
        let extra = ReplyExtra { reasoning: has("reasoning").then(|| "".into()), markup, usage: None };
        let said = LastReply { text: text.into(), finish, reasoning_only: has("reasoning") && text.trim().is_empty(), markup_only: markup };
        if let Some(node) = self.witness.reply(agent, text, finish, extra) {
            self.replies.insert(n, (node, said.clone()));
        }
        self.last.insert(agent.into(), said);
    }

    fn candidate(&mut self, what: &What) {
        let What::Candidate { text, agent, uses, finish, synthetic, reasoning_only, from } = what else { return };
        self.anonymous += 1;
        let text = text.as_deref().unwrap_or_default();
        let from = from.and_then(|n| self.replies.get(&n).cloned());
        // A candidate carries its reply's finish and channels, whether or not it says from which it comes.
        let reply = from
            .as_ref()
            .map(|(_, said)| said.clone())
            .or_else(|| self.last.get(agent).filter(|l| l.text.trim() == text.trim()).cloned())
            .unwrap_or_default();
        let form = match () {
            () if *synthetic => Form::Placeholder,
            () if *reasoning_only || reply.reasoning_only => Form::ReasoningOnly,
            () if reply.markup_only => Form::CallMarkup,
            () => Form::Text,
        };
        let finish = finish.as_deref().map_or(reply.finish, |f| finish_of(Some(f)));
        let uses = uses.iter().map(String::as_str).collect();
        self.witness.candidate(&ForeignCandidate { agent, text, form, finish, from: from.map(|(node, _)| node), uses });
    }
}

fn rules(mode: &str) -> ModeRules {
    let owner = match mode {
        "plan_execute" => "replanner",
        "supervisor" => "supervisor",
        _ => "main",
    };
    ModeRules { planner: (mode == "plan_execute").then(|| "planner".into()), ..ModeRules::explicit(owner) }
}

fn translate(said: &CasePolicy) -> Policy {
    let required = |field: &Option<String>| field.as_deref() == Some("required");
    let defaults = Limits::default();
    Policy {
        require_execution_evidence: required(&said.evidence),
        require_checks: required(&said.checks),
        require_fresh_evidence: required(&said.checks),
        reconciliation: Some(Reconciliation::Explicit),
        deliverable: if said.deliverable.as_deref() == Some("plan") { Deliverable::Plan } else { Deliverable::Answer },
        terminal_transfers: said.terminal_transfer.unwrap_or(false),
        retries: said.retries.unwrap_or(0),
        limits: Limits {
            continuations: said.nudges.unwrap_or(1),
            depth: said.max_depth.unwrap_or(defaults.depth),
            transfers: said.max_transfers.unwrap_or(defaults.transfers),
            replans: said.max_replans.unwrap_or(defaults.replans),
            tool_output_bytes: said.output_limit.unwrap_or(defaults.tool_output_bytes),
            ..defaults
        },
        ..Policy::default()
    }
}

fn steps_of(steps: &[CaseStep]) -> Vec<StepSpec> {
    let need = |s: &String| Str::from(s.as_str());
    steps.iter().map(|s| StepSpec { id: s.id.as_str().into(), text: "".into(), needs: s.needs.iter().map(need).collect() }).collect()
}

fn text_of(id: &Option<Value>) -> String {
    id.as_ref().map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn effect_of(effect: Option<&str>) -> Effect {
    match effect {
        Some("write") => Effect::Write,
        Some("check") => Effect::Check,
        Some("control") => Effect::Control,
        _ => Effect::Read,
    }
}

fn outcome_of(outcome: &str) -> Outcome {
    match outcome {
        "ok" | "" | "done" | "completed" => Outcome::Completed,
        "limited" => Outcome::CutOff,
        "timeout" => Outcome::TimedOut,
        "cancelled" | "killed" => Outcome::Cancelled,
        "aborted" | "lost" => Outcome::Lost,
        "refused" | "rejected" | "denied" => Outcome::Rejected,
        _ => Outcome::Failed,
    }
}

fn finish_of(finish: Option<&str>) -> Finish {
    match finish {
        Some("tool_calls") => Finish::ToolCalls,
        Some("length") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        _ => Finish::Stop,
    }
}

fn cause_of(cause: &str) -> Cause {
    match cause {
        "natural" => Cause::Natural,
        "pause" => Cause::Pause,
        "awaiting_human" => Cause::AwaitingHuman,
        "turn_limit" => Cause::TurnLimit,
        "budget" => Cause::Budget,
        "timeout" => Cause::Timeout,
        "user_cancelled" => Cause::UserCancelled,
        "idle_exit" => Cause::IdleExit,
        "replan_limit" => Cause::ReplanLimit,
        "transfer_limit" => Cause::TransferLimit,
        _ => Cause::ProviderError,
    }
}

fn verdict_of(verdict: &str) -> Option<Verdict> {
    match verdict {
        "approved" | "approve" | "accept" | "pass" => Some(Verdict::Approved),
        "rejected" | "reject" | "fail" => Some(Verdict::Rejected),
        _ => None,
    }
}

/// Criteria come as a map, a list of records, or a list of words.
fn criteria_of(criteria: &Value) -> Vec<(Str, bool)> {
    let met = |value: &Value| match value {
        Value::Bool(met) => *met,
        Value::String(word) => matches!(word.as_str(), "met" | "ok" | "pass" | "passed" | "yes" | "true" | "satisfied"),
        Value::Object(fields) => ["met", "ok", "pass", "satisfied"].iter().any(|k| fields.get(*k) == Some(&Value::Bool(true))),
        _ => false,
    };
    match criteria {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.as_str().into(), met(value))).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string().into(), met(value))).collect(),
        _ => Vec::new(),
    }
}
