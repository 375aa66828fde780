//! The rules of the cases, read off their text one after the other. Slow and plain on purpose.

use super::log::{Ev, Name, Start};
use super::state::State;
use std::collections::BTreeSet;

/// What the rules say: status, reason, next, and what is missing (`None` where nobody compares it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub status: &'static str,
    pub reason: &'static str,
    pub next: &'static str,
    pub missing: Option<BTreeSet<&'static str>>,
}

/// The ruling after all of these events.
pub fn decide(start: &Start, events: &[Ev]) -> Ruling {
    let mut state = State::new(start);
    for (at, ev) in events.iter().enumerate() {
        state.take(at, ev);
        let last = at + 1 == events.len();
        if !last && is_ruled_on(events, at) && rule(start, &state).next == "deliver" {
            // Rule 1: one final, and nothing after it changes that.
            return Ruling { status: "completed", reason: "already_final", next: "none", missing: None };
        }
    }
    rule(start, &state)
}

/// A candidate is ruled on once those who judge it have spoken.
fn is_ruled_on(events: &[Ev], at: usize) -> bool {
    if !matches!(events[at], Ev::Candidate { .. } | Ev::Verdict { .. }) {
        return false;
    }
    for later in &events[at + 1..] {
        match later {
            Ev::Candidate { .. } | Ev::Nudge => return true,
            Ev::Verdict { .. } => return false,
            _ => {}
        }
    }
    true
}

struct View<'a> {
    start: &'a Start,
    s: &'a State,
}

fn rule(start: &Start, s: &State) -> Ruling {
    let view = View { start, s };
    let missing = view.missing();
    let (status, reason, next) = view.verdict(&missing);
    let missing = (reason != "user_cancelled").then_some(missing);
    Ruling { status, reason, next, missing }
}

impl View<'_> {
    /// Every check that objects.
    fn missing(&self) -> BTreeSet<&'static str> {
        let s = self.s;
        let checks: [(&'static str, bool); 22] = [
            ("tools_closed", self.open_tool()),
            ("background_done", s.jobs.iter().any(|j| j.open)),
            ("sub_agents_done", s.children.iter().any(|c| c.open)),
            ("transfers_returned", s.transfers.iter().any(|t| !t.back && !t.terminal)),
            ("approvals_settled", s.approvals.iter().any(|a| a.open)),
            ("questions_answered", s.questions.iter().any(|(_, open)| *open)),
            ("denials_respected", s.breach),
            ("ids_unambiguous", !self.shared_ids().is_empty()),
            ("outcomes_known", s.calls.iter().any(|c| c.lost && c.end.is_none())),
            ("plan_settled", self.plan_open()),
            ("candidate_text", s.candidate.as_ref().is_none_or(|c| c.form != "text" || c.text.trim().is_empty())),
            ("candidate_whole", self.cut_short()),
            ("candidate_owner", s.candidate.as_ref().is_some_and(|c| c.agent != self.owner())),
            ("candidate_last", s.candidate.as_ref().is_some_and(|c| s.result.is_some_and(|at| at > c.said))),
            ("replies_reconciled", self.unreconciled()),
            ("conflicts_resolved", !s.conflicts.is_empty()),
            ("result_whole", s.children.iter().any(|c| c.reply.as_ref().is_some_and(|r| r.cut))),
            ("evidence_ok", self.start.evidence && !self.evidence()),
            ("checks_pass", self.start.checks && s.check != Some(true)),
            ("evidence_fresh", self.start.checks && self.stale()),
            ("guard_ok", s.candidate.as_ref().is_some_and(|c| c.rejected)),
            ("normal_stop", self.abnormal()),
        ];
        checks.into_iter().filter(|(_, objects)| *objects).map(|(name, _)| name).collect()
    }

    fn owner(&self) -> Name {
        let handed = self.s.transfers.iter().rev().find(|t| t.terminal);
        handed.map_or(self.start.owner(), |t| t.to)
    }

    /// Open, and not counted elsewhere: as an approval, a child or a job.
    fn open_tool(&self) -> bool {
        let job_runs = |j: usize| self.s.jobs[j].open;
        self.s.calls.iter().any(|c| c.is_open() && !c.waits && !c.child && !c.job.is_some_and(job_runs))
    }

    fn shared_ids(&self) -> Vec<&str> {
        let open: Vec<&str> = self.s.calls.iter().filter(|c| c.is_open() && !c.id.is_empty()).map(|c| c.id).collect();
        open.iter().filter(|id| open.iter().filter(|o| o == id).count() > 1).copied().collect()
    }

    fn plan_open(&self) -> bool {
        let blocked = |id: &Name| self.s.step(id).is_some_and(|s| s.state == "blocked");
        !self.start.plan_is_due
            && self.s.steps.iter().any(|s| match s.state {
                "pending" | "limited" => true,
                "done" => s.needs.iter().any(blocked),
                _ => false,
            })
    }

    fn cut_short(&self) -> bool {
        let Some(c) = &self.s.candidate else { return false };
        matches!(c.finish, "length" | "error") || (c.finish == "content_filter" && !c.text.trim().is_empty())
    }

    fn unreconciled(&self) -> bool {
        let terminal = |t: usize| self.s.transfers[t].terminal;
        self.s.children.iter().filter(|c| c.direct && !c.transfer.is_some_and(terminal)).any(|c| {
            let used = self.s.candidate.as_ref().is_some_and(|k| k.uses.contains(&c.id));
            c.reply.as_ref().is_some_and(|r| !r.reconciled && !used)
        })
    }

    /// What was done by the time of the candidate: its words cannot rest on what came later. Where a tool result
    /// has overtaken them they are refused for that, and whatever was done counts.
    fn evidence(&self) -> bool {
        let overtaken = |said: usize| self.s.result.is_some_and(|at| at > said);
        let by = self.s.candidate.as_ref().filter(|c| !overtaken(c.said)).map_or(usize::MAX, |c| c.at);
        self.s.calls.iter().any(|c| c.effect != "control" && !c.child && matches!(c.end, Some(("ok", at)) if at < by))
            || self.s.evidence.iter().any(|(_, at)| *at < by)
    }

    /// A check is bound to the state that it saw, which is that of the moment when it was called.
    fn stale(&self) -> bool {
        self.s.good_check.is_some_and(|check| self.s.write.is_some_and(|w| w > check) || self.s.edited.is_some_and(|e| e > check))
    }

    fn abnormal(&self) -> bool {
        match self.s.stop {
            None | Some("natural" | "pause" | "awaiting_human") => false,
            Some("idle_exit") => self.background_killed(),
            Some(_) => true,
        }
    }

    fn background_killed(&self) -> bool {
        self.s.killed || self.s.jobs.iter().any(|j| j.open)
    }

    /// Rules 2 to 7, or what the candidate lacks.
    fn verdict(&self, missing: &BTreeSet<&'static str>) -> (&'static str, &'static str, &'static str) {
        let s = self.s;
        let has = |check: &str| missing.contains(check);
        let asked_for =
            |id: &str| s.approvals.iter().filter(|a| a.open).flat_map(|a| &a.calls).any(|c| s.calls[*c].id == id && s.calls[*c].is_open());
        if s.cancelled {
            return ("cancelled", "user_cancelled", "stop");
        }
        if has("denials_respected") {
            return ("blocked", "denied_action_ran", "ask_human");
        }
        if self.shared_ids().into_iter().any(asked_for) {
            return ("blocked", "ambiguous_ids", "stop");
        }
        if has("approvals_settled") {
            return ("awaiting_approval", "awaiting_approval", "ask_human");
        }
        if has("questions_answered") {
            return ("awaiting_approval", "awaiting_answer", "ask_human");
        }
        if has("ids_unambiguous") {
            return ("blocked", "ambiguous_ids", "stop");
        }
        if has("outcomes_known") {
            return ("blocked", "unknown_outcome", "ask_human");
        }
        if s.resume_failed {
            return ("blocked", "resume_failed", "resume_run");
        }
        let filtered = s.candidate.as_ref().map_or(s.filtered, |c| c.finish == "content_filter" && c.text.trim().is_empty());
        if filtered {
            return ("failed", "content_filtered", "stop");
        }
        match s.stop {
            Some("error") if has("tools_closed") => ("blocked", "pending_tool_executions", "stop"),
            Some("error") if s.errors.max(1) <= self.start.retries => ("in_progress", "provider_error", "resume_run"),
            Some("error") => ("failed", "provider_error", "stop"),
            Some("timeout") => ("failed", "timeout", "stop"),
            Some("turn_limit") => ("blocked", "turn_limit", "stop"),
            Some("budget") => ("blocked", "budget_exhausted", "stop"),
            Some("replan_limit") => ("blocked", "replan_limit", "stop"),
            Some("transfer_limit") => ("blocked", "transfer_limit", "stop"),
            Some("idle_exit") if self.background_killed() => ("blocked", "background_aborted", "stop"),
            _ => self.lacking(missing),
        }
    }

    /// Rules 8 to 15.
    fn lacking(&self, missing: &BTreeSet<&'static str>) -> (&'static str, &'static str, &'static str) {
        let s = self.s;
        let has = |check: &str| missing.contains(check);
        let replied = s.transfers.iter().filter(|t| !t.back && !t.terminal).all(|t| t.replied);
        if has("candidate_owner") {
            let by = s.candidate.as_ref().map_or("", |c| c.agent);
            let others = has("tools_closed")
                || has("background_done")
                || s.children.iter().any(|c| c.open && c.agent != by)
                || s.transfers.iter().any(|t| !t.back && !t.terminal && !t.replied && t.to != by);
            return ("in_progress", "wrong_producer", if others { "wait" } else { "return_control" });
        }
        let pending = [
            ("tools_closed", "pending_tool_executions"),
            ("background_done", "pending_background"),
            ("sub_agents_done", "pending_sub_agents"),
            ("transfers_returned", "pending_transfers"),
        ];
        if let Some((_, reason)) = pending.iter().find(|(check, _)| has(check)) {
            let only_control = *reason == "pending_transfers" && replied;
            return (
                "in_progress",
                reason,
                if s.just_resumed {
                    "resume_run"
                } else if only_control {
                    "return_control"
                } else {
                    "wait"
                },
            );
        }
        match self.lack(missing) {
            Some(reason) if s.just_resumed => ("in_progress", reason, "resume_run"),
            Some(reason) if s.nudges < self.start.nudges => ("in_progress", reason, "nudge"),
            Some("guard_rejected") => ("blocked", "guard_unsatisfied", "stop"),
            Some(reason) => ("blocked", reason, "stop"),
            None => ("completed", self.completion(), "deliver"),
        }
    }

    fn lack(&self, missing: &BTreeSet<&'static str>) -> Option<&'static str> {
        let form = self.s.candidate.as_ref().map_or("text", |c| c.form);
        let text = match form {
            "reasoning" => "reasoning_only",
            "placeholder" => "placeholder_response",
            _ => "empty_response",
        };
        let order = [
            ("plan_settled", "pending_plan_steps"),
            ("candidate_whole", "truncated_response"),
            ("candidate_text", text),
            ("candidate_last", "candidate_too_early"),
            ("replies_reconciled", "unreconciled_results"),
            ("conflicts_resolved", "conflicting_results"),
            ("result_whole", "truncated_result"),
            ("checks_pass", "check_failed"),
            ("evidence_fresh", "stale_evidence"),
            ("evidence_ok", "missing_execution_evidence"),
            ("guard_ok", "guard_rejected"),
        ];
        order.into_iter().find(|(check, _)| missing.contains(check)).map(|(_, reason)| reason)
    }

    fn completion(&self) -> &'static str {
        let s = self.s;
        if !self.start.evidence && !self.start.checks {
            return "not_required";
        }
        let made_good = |at: usize| s.calls[at + 1..].iter().any(|c| c.name == s.calls[at].name && c.is_good() && !c.child && c.effect != "control");
        let failed = |at: usize| {
            let call = &s.calls[at];
            call.effect != "control" && matches!(call.end, Some(("error" | "timeout" | "cancelled", _))) && !made_good(at)
        };
        let unsound = s.children.iter().any(|c| c.direct && c.reply.as_ref().is_some_and(|r| r.out != "ok"));
        let blocked = s.steps.iter().any(|s| s.state == "blocked");
        if (0..s.calls.len()).any(failed) || unsound || blocked { "verified_partial" } else { "verified" }
    }
}
