//! Tells the events of a case to a witness.

use super::CaseError;
use super::vocab::{CasePolicy, What};
use super::words::{cause_of, claims_of, criteria_of, effect_of, finish_of, outcome_of, steps_of, verdict_of};
use countersign::witness::{ForeignCall, ForeignCandidate, ForeignReply, Witness};
use countersign::{
    Cause, Cut, Declared, Deliverable, Finish, Form, Gate, GuardVerdict, Limits, ModeRules, NodeId, NudgeBy, Policy, Reconciliation, ReplyExtra,
    Report, ResumedBy, RunStarted, StepOutcome, Str,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A witness of the project's own, and what it needs to know of the vocabulary.
pub struct Player {
    /// The run.
    pub witness: Witness,
    owner: String,
    planner: String,
    replies: BTreeMap<u32, (NodeId, LastReply)>,
    last: BTreeMap<String, LastReply>,
}

#[derive(Clone, Debug, Default)]
struct LastReply {
    text: String,
    finish: Finish,
    reasoning_only: bool,
    markup_only: bool,
    errored: bool,
}

impl Player {
    /// Begins a run in a mode, under its rules and a policy.
    pub fn start(mode: &str, rules: ModeRules, policy: Policy) -> Result<Self, CaseError> {
        let owner = rules.concluder(&policy).to_string();
        let planner = rules.planner.as_ref().unwrap_or(&rules.owner).to_string();
        let start = RunStarted::new("case", "", mode, rules, policy);
        let witness = Witness::new(Arc::new(Gate::default()), start, 0)?;
        Ok(Self { witness, owner, planner, replies: BTreeMap::new(), last: BTreeMap::new() })
    }

    /// Tells one event, the `n`th.
    pub fn tell(&mut self, n: u32, what: &What) {
        match what {
            What::RunStarted { .. } | What::Streamed {} | What::ClientLeft {} | What::ClientBack {} => {}
            What::ModelReply { .. } => self.model_reply(n, what),
            What::Candidate { .. } => self.candidate(what),
            What::ToolCall { .. }
            | What::ToolResult { .. }
            | What::BackgroundStarted { .. }
            | What::BackgroundFinished { .. }
            | What::ApprovalRequested { .. }
            | What::ApprovalGranted { .. }
            | What::ApprovalDenied { .. } => self.tool(what),
            What::SubAgentStarted { .. }
            | What::SubAgentReply { .. }
            | What::Transfer { .. }
            | What::TransferReturned { .. }
            | What::Reconciled { .. } => self.delegation(what),
            What::PlanCreated { .. } | What::Replanned { .. } | What::StepDone { .. } | What::StepBlocked { .. } => self.plan(what),
            What::Stopped { .. }
            | What::Nudge { .. }
            | What::Resumed { .. }
            | What::Crashed {}
            | What::GuardVerdict { .. }
            | What::AskUser { .. }
            | What::UserAnswered { .. }
            | What::CancelRequested { .. }
            | What::Edited { .. } => self.course(what),
        }
    }

    /// An agent's name; where none is told it is the owner of the answer.
    fn who<'a>(&'a self, agent: &'a str) -> &'a str {
        if agent.trim().is_empty() { &self.owner } else { agent }
    }

    fn tool(&mut self, what: &What) {
        match what {
            What::ToolCall { id, name, agent, effect, step, scope, reads } => {
                let agent = self.who(agent).to_owned();
                let scratch = scope.as_deref() == Some("scratch");
                let declared = Declared { approval: false, scratch, ..Declared::run(effect_of(effect.as_deref())) };
                let call = ForeignCall { agent: &agent, id, name, args: "{}", declared, step: step.as_deref(), reads: reads.as_deref() };
                self.witness.call(&call);
                self.last.remove(&agent);
            }
            What::ToolResult { id, outcome, size, truncated, marker, of, text, full_ref } => {
                let text = text.as_deref().unwrap_or_default();
                if outcome == "running" {
                    return self.witness.goes_on(id, text);
                }
                let of = of.as_deref().and_then(|o| self.witness.reply_of(o));
                let cut = truncated.then(|| Cut { size: *size, marked: marker.unwrap_or(true), of, full: full_ref.as_deref().map(Str::from) });
                self.witness.result(id, outcome_of(outcome), text, cut);
            }
            What::BackgroundStarted { id, call, owner, what } => {
                self.witness.job_started(id, call.as_deref(), owner.as_deref(), what.as_deref().unwrap_or("job"));
            }
            What::BackgroundFinished { id, outcome } => self.witness.job_ended(id, outcome_of(outcome), ""),
            What::ApprovalRequested { id, of } => self.witness.approval_requested(id, of),
            What::ApprovalGranted { id } => self.witness.approval_settled(id, true, ""),
            What::ApprovalDenied { id, why } => self.witness.approval_settled(id, false, why.as_deref().unwrap_or_default()),
            _ => {}
        }
    }

    fn delegation(&mut self, what: &What) {
        match what {
            What::SubAgentStarted { id, agent, parent, call } => self.witness.child_started(id, agent, parent.as_deref(), call.as_deref()),
            What::SubAgentReply { id, agent, outcome, parent, transfer, tools_ok, claims, verdict, criteria, text } => {
                let report = Report {
                    claims: claims_of(claims),
                    verdict: verdict.as_deref().and_then(verdict_of),
                    criteria: criteria_of(criteria),
                    artefacts: Vec::new(),
                    evidence: Vec::new(),
                    executed: *tools_ok,
                };
                let (parent, transfer) = (parent.as_deref(), transfer.as_deref());
                let said = ForeignReply { id, agent, outcome: outcome_of(outcome), parent, transfer, text: text.as_deref(), report };
                self.witness.child_replied(&said);
            }
            What::Transfer { id, from, to, terminal } => {
                let from = self.who(from).to_owned();
                self.witness.transferred(id, &from, to, "", *terminal);
            }
            What::TransferReturned { id, outcome } => self.witness.returned(id, outcome_of(outcome)),
            What::Reconciled { replies, by, resolved } => {
                let by = self.who(by.as_deref().unwrap_or_default()).to_owned();
                let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
                let resolved: Vec<&str> = resolved.iter().map(String::as_str).collect();
                self.witness.reconciled(&by, &replies, &resolved);
            }
            _ => {}
        }
    }

    fn plan(&mut self, what: &What) {
        let reason = |why: Option<&str>| why.filter(|w| !w.trim().is_empty()).unwrap_or("not said").to_owned();
        match what {
            What::PlanCreated { by, steps } => {
                let by = if by.trim().is_empty() { self.planner.clone() } else { by.clone() };
                self.witness.plan(&by, steps_of(steps), Vec::new());
            }
            What::Replanned { by, steps, dropped } => {
                let by = self.who(by).to_owned();
                let gone = dropped.iter().map(|d| (d.id.as_str().into(), reason(Some(&d.why)).into())).collect();
                self.witness.plan(&by, steps_of(steps), gone);
            }
            What::StepDone { id, outcome } => {
                let outcome = if outcome.as_deref().is_none_or(|o| o == "ok") { StepOutcome::Done } else { StepOutcome::CutOff };
                self.witness.step_settled(id, outcome, "");
            }
            What::StepBlocked { id, why } => self.witness.step_settled(id, StepOutcome::Blocked, &reason(why.as_deref())),
            _ => {}
        }
    }

    fn course(&mut self, what: &What) {
        let witness = &mut self.witness;
        match what {
            What::Stopped { cause } => witness.stopped(cause_of(cause), ""),
            What::Nudge { by, agent } => {
                let by = match by.as_str() {
                    "hook" => NudgeBy::Hook,
                    "guard" => NudgeBy::Guard,
                    _ => NudgeBy::Gate,
                };
                witness.nudged(by, agent.as_deref(), "");
            }
            // The cases know one allowance per run: a resume grants no fresh one.
            What::Resumed { ok } => witness.taken_up(ResumedBy::Crash, ok.unwrap_or(true)),
            What::Crashed {} => witness.crashed(),
            // The cases count the last verdict alone, whoever gave it: one guard's name for all.
            What::GuardVerdict { by, verdict, why } => {
                let why: Str = format!("{by}: {}", why.as_deref().unwrap_or_default()).into();
                let accepted = matches!(verdict.as_str(), "accept" | "accepted" | "ok" | "pass");
                witness.guard_spoke("guard", if accepted { GuardVerdict::Accept } else { GuardVerdict::Nudge(why) });
            }
            What::AskUser { id } => witness.asked_user(id, ""),
            What::UserAnswered { id } => witness.user_answered(id, ""),
            What::CancelRequested { by } => witness.cancel_requested(by),
            What::Edited { by } => witness.edited(by),
            _ => {}
        }
    }

    fn model_reply(&mut self, n: u32, what: &What) {
        let What::ModelReply { agent, text, finish, parts } = what else { return };
        let agent = self.who(agent).to_owned();
        let text = text.as_deref().unwrap_or_default();
        let has = |part: &str| parts.iter().any(|p| p == part);
        let markup_only = has("call_markup") && !has("text");
        let reasoning_only = has("reasoning") && text.trim().is_empty();
        let mut said = LastReply {
            text: text.into(),
            finish: finish_of(finish.as_deref()),
            reasoning_only,
            markup_only,
            errored: finish.as_deref() == Some("error"),
        };
        if said.errored {
            if text.trim().is_empty() {
                said.finish = Finish::Stop;
            }
            self.witness.model_failed(&agent, "", Some(text).filter(|t| !t.is_empty()));
        } else {
            let extra = ReplyExtra { reasoning: has("reasoning").then(|| "".into()), markup: markup_only, usage: None };
            if let Some(node) = self.witness.reply(&agent, text, said.finish, extra) {
                self.replies.insert(n, (node, said.clone()));
            }
        }
        self.last.insert(agent, said);
    }

    fn candidate(&mut self, what: &What) {
        let What::Candidate { text, agent, uses, finish, synthetic, reasoning_only, from } = what else { return };
        let agent = self.who(agent).to_owned();
        let text = text.as_deref().unwrap_or_default();
        let from = from.and_then(|n| self.replies.get(&n).cloned());
        // A candidate carries its reply's finish and channels, whether or not it says from which it comes.
        let reply = from
            .as_ref()
            .map(|(_, said)| said.clone())
            .or_else(|| self.last.get(&agent).filter(|l| l.text.trim() == text.trim()).cloned())
            .unwrap_or_default();
        let form = match () {
            () if *synthetic => Form::Placeholder,
            () if *reasoning_only || reply.reasoning_only => Form::ReasoningOnly,
            () if reply.markup_only => Form::CallMarkup,
            () => Form::Text,
        };
        // Where an error stopped the run, that says it all: its text is not also called cut.
        let stopped = self.witness.run().ledger().totals().stop == Some(Cause::ProviderError);
        let inherited = if reply.errored && stopped { Finish::Stop } else { reply.finish };
        let finish = finish.as_deref().map_or(inherited, |f| finish_of(Some(f)));
        let uses = uses.iter().map(String::as_str).collect();
        self.witness.candidate(&ForeignCandidate { agent: &agent, text, form, finish, from: from.map(|(node, _)| node), uses });
    }
}

/// What a mode of the cases fixes.
pub fn rules(mode: &str) -> ModeRules {
    let owner = match mode {
        "plan_execute" => "replanner",
        "supervisor" => "supervisor",
        _ => "main",
    };
    ModeRules { planner: (mode == "plan_execute").then(|| "planner".into()), ..ModeRules::explicit(owner) }
}

/// A policy of the cases in the project's own words.
pub fn translate(said: &CasePolicy) -> Policy {
    let required = |field: &Option<Value>| matches!(field, Some(Value::Bool(true))) || field.as_ref().and_then(Value::as_str) == Some("required");
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
