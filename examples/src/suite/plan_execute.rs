//! A planner, executors and a replanner.

use super::Live;
use super::cast::{Script, call, looker, say, stage, told, turn};
use countersign::transcript::question;
use countersign::{BuildError, Deliverable, ModelReply, ModelRequest, PlanExecute, Policy, Reason, Runner, Status};
use serde_json::json;

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "plan/side_by_side",
        about: "two steps run side by side, a third once both are done",
        task: "Move the shop.",
        runner: || plan(works, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "plan/a_step_fails",
        about: "a step comes back empty: the plan is revised, and every old step accounted for",
        task: "Move the shop.",
        runner: || plan(revises, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "plan/answers_with_steps_open",
        about: "the replanner answers while steps are open, is refused, and says why they cannot be done",
        task: "Move the shop.",
        runner: || plan(answers_early, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::VerifiedPartial),
        refused: &[Reason::PendingPlanSteps],
    },
    Live {
        name: "plan/silent_revision",
        about: "a revision that does not say what becomes of old steps goes back to the replanner",
        task: "Move the shop.",
        runner: || plan(revises_silently, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "plan/nothing_to_do",
        about: "an empty plan needs a reason",
        task: "Do nothing.",
        runner: || plan(idle, Policy::conversation()),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[],
    },
    Live {
        name: "plan/plan_only",
        about: "the plan is what was asked for: its steps do not stand in its way",
        task: "How would you move the shop?",
        runner: || plan(works, Policy { deliverable: Deliverable::Plan, ..Policy::conversation() }),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[],
    },
];

fn plan(script: Script, policy: Policy) -> Result<Runner, BuildError> {
    let agents = stage(PlanExecute, script).agent(PlanExecute::planner("")).agent(looker("executor")).agent(PlanExecute::replanner(""));
    agents.policy(policy).build()
}

/// The plan of every scenario here: pack and rent, then drive.
fn steps() -> ModelReply {
    let step = |id: &str, text: &str, needs: &[&str]| json!({ "id": id, "text": text, "needs": needs });
    let steps = [step("pack", "pack everything", &[]), step("rent", "rent a van", &[]), step("drive", "drive there", &["pack", "rent"])];
    ModelReply::call("plan", json!({ "steps": steps }).to_string())
}

/// An executor looks and says so.
fn carry_out(r: &ModelRequest) -> ModelReply {
    if turn(r) == 0 { call("look", "van") } else { say("Done, as far as this step goes.") }
}

/// An executor that cannot rent a van.
fn carry_out_but_rent(r: &ModelRequest) -> ModelReply {
    if question(&r.transcript).contains("step `rent`") { say("") } else { carry_out(r) }
}

fn verdict(json: &serde_json::Value) -> ModelReply {
    ModelReply::call("verdict", json.to_string())
}

fn moved() -> ModelReply {
    verdict(&json!({ "act": "respond", "answer": "The shop has moved." }))
}

/// Borrows a van instead of renting one.
fn borrow() -> ModelReply {
    let why = "no van was to be had";
    verdict(&json!({
        "act": "revise",
        "steps": [{ "id": "borrow", "text": "borrow a van" }, { "id": "drive_it", "text": "drive there", "needs": ["pack", "borrow"] }],
        "dropped": [{ "id": "rent", "why": why }, { "id": "drive", "why": why }],
    }))
}

fn works(r: &ModelRequest) -> ModelReply {
    match &*r.agent.name {
        "planner" => steps(),
        "executor" => carry_out(r),
        _ => moved(),
    }
}

fn revises(r: &ModelRequest) -> ModelReply {
    match &*r.agent.name {
        "planner" => steps(),
        "executor" => carry_out_but_rent(r),
        _ if question(&r.transcript).contains("`drive_it`") => moved(),
        _ => borrow(),
    }
}

fn revises_silently(r: &ModelRequest) -> ModelReply {
    match &*r.agent.name {
        "replanner" if turn(r) == 0 && !question(&r.transcript).contains("`drive_it`") => {
            verdict(&json!({ "act": "revise", "steps": [{ "id": "borrow", "text": "borrow a van" }] }))
        }
        _ => revises(r),
    }
}

fn answers_early(r: &ModelRequest) -> ModelReply {
    match &*r.agent.name {
        "planner" => steps(),
        "executor" => carry_out_but_rent(r),
        _ if told(r) == 0 => moved(),
        _ => {
            let blocked = [json!({ "id": "rent", "why": "no van was to be had" }), json!({ "id": "drive", "why": "there is no van to drive" })];
            verdict(&json!({ "act": "respond", "answer": "Everything is packed; there was no van.", "blocked": blocked }))
        }
    }
}

fn idle(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("planner", 0) => ModelReply::call("plan", json!({ "steps": [] }).to_string()),
        ("planner", _) => ModelReply::call("plan", json!({ "noop": "nothing was asked for" }).to_string()),
        _ => verdict(&json!({ "act": "respond", "answer": "There was nothing to do." })),
    }
}
