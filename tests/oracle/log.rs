//! Random logs: a plain list of what happened, with names from small pools so that they meet.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub type Name = &'static str;

/// One thing that happened. Nothing here comes from the project.
#[derive(Clone, Debug, PartialEq)]
pub enum Ev {
    Reply {
        agent: Name,
        text: Name,
        finish: Name,
        parts: Vec<Name>,
    },
    Call {
        id: Name,
        name: Name,
        agent: Name,
        effect: Name,
        scratch: bool,
        step: Option<Name>,
        reads: Option<Name>,
    },
    Result {
        id: Name,
        out: Name,
        cut_of: Option<Name>,
    },
    Job {
        id: Name,
        call: Option<Name>,
    },
    JobEnd {
        id: Name,
        out: Name,
    },
    Child {
        id: Name,
        agent: Name,
        parent: Option<Name>,
        call: Option<Name>,
    },
    ChildReply {
        id: Name,
        agent: Name,
        out: Name,
        parent: Option<Name>,
        transfer: Option<Name>,
        tools_ok: u32,
        claim: Option<(Name, Name)>,
        review: Option<(Name, bool)>,
        text: Option<Name>,
    },
    Plan {
        steps: Vec<(Name, Vec<Name>)>,
    },
    Replan {
        steps: Vec<(Name, Vec<Name>)>,
        dropped: Vec<Name>,
    },
    StepDone {
        id: Name,
        limited: bool,
    },
    StepBlocked {
        id: Name,
    },
    Transfer {
        id: Name,
        to: Name,
        terminal: bool,
    },
    Back {
        id: Name,
        out: Name,
    },
    Reconciled {
        replies: Vec<Name>,
        resolved: Vec<Name>,
    },
    Approval {
        id: Name,
        of: Name,
    },
    Granted {
        id: Name,
    },
    Denied {
        id: Name,
    },
    Candidate {
        agent: Name,
        text: Name,
        uses: Vec<Name>,
        finish: Option<Name>,
        synthetic: bool,
        reasoning: bool,
        from: Option<usize>,
    },
    Stop {
        cause: Name,
    },
    Nudge,
    Resumed {
        ok: bool,
    },
    Crashed,
    Verdict {
        by: Name,
        accept: bool,
    },
    Ask {
        id: Name,
    },
    Answered {
        id: Name,
    },
    Cancel,
    Edited,
    ClientLeft,
}

/// How the run begins.
#[derive(Clone, Debug)]
pub struct Start {
    pub mode: Name,
    pub evidence: bool,
    pub checks: bool,
    pub nudges: u32,
    pub retries: u32,
    pub plan_is_due: bool,
    pub terminal: bool,
}

impl Start {
    pub fn owner(&self) -> Name {
        match (self.mode, self.plan_is_due) {
            ("plan_execute", true) => "planner",
            ("plan_execute", false) => "replanner",
            ("supervisor", _) => "supervisor",
            _ => "main",
        }
    }

    /// In the words of the cases.
    pub fn told(&self) -> Value {
        let asked = |on: bool| if on { "required" } else { "none" };
        json!({ "ev": "run_started", "mode": self.mode, "policy": {
            "evidence": asked(self.evidence), "checks": asked(self.checks), "nudges": self.nudges, "retries": self.retries,
            "deliverable": if self.plan_is_due { "plan" } else { "answer" }, "terminal_transfer": self.terminal } })
    }
}

impl Ev {
    /// In the words of the cases. `from` counts events as the cases do: the start is the first.
    pub fn told(&self) -> Value {
        let steps = |s: &[(Name, Vec<Name>)]| s.iter().map(|(id, needs)| json!({ "id": id, "needs": needs })).collect::<Vec<_>>();
        match self {
            Self::Reply { agent, text, finish, parts } => {
                json!({ "ev": "model_reply", "agent": agent, "text": text, "finish": finish, "parts": parts })
            }
            Self::Call { id, name, agent, effect, scratch, step, reads } => {
                json!({ "ev": "tool_call", "id": id, "name": name, "agent": agent, "effect": effect, "scope": scratch.then_some("scratch"), "step": step, "reads": reads })
            }
            Self::Result { id, out, cut_of: Some(of) } => {
                json!({ "ev": "tool_result", "id": id, "outcome": out, "truncated": true, "marker": false, "of": of, "size": 9 })
            }
            Self::Result { id, out, cut_of: None } => json!({ "ev": "tool_result", "id": id, "outcome": out }),
            Self::Job { id, call } => json!({ "ev": "background_started", "id": id, "call": call }),
            Self::JobEnd { id, out } => json!({ "ev": "background_finished", "id": id, "outcome": out }),
            Self::Child { id, agent, parent, call } => json!({ "ev": "sub_agent_started", "id": id, "agent": agent, "parent": parent, "call": call }),
            Self::ChildReply { id, agent, out, parent, transfer, tools_ok, claim, review, text } => {
                let claims: Map<String, Value> = claim.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
                json!({ "ev": "sub_agent_reply", "id": id, "agent": agent, "outcome": out, "parent": parent, "transfer": transfer, "tools_ok": tools_ok,
                    "claims": claims, "text": text, "verdict": review.map(|r| r.0), "criteria": review.map(|r| json!({ "works": true, "tested": r.1 })) })
            }
            Self::Plan { steps: s } => json!({ "ev": "plan_created", "steps": steps(s) }),
            Self::Replan { steps: s, dropped } => {
                let gone: Vec<Value> = dropped.iter().map(|id| json!({ "id": id, "why": "no need" })).collect();
                json!({ "ev": "replanned", "steps": steps(s), "carried": [], "dropped": gone })
            }
            Self::StepDone { id, limited } => json!({ "ev": "step_done", "id": id, "outcome": if *limited { "limited" } else { "ok" } }),
            Self::StepBlocked { id } => json!({ "ev": "step_blocked", "id": id, "why": "no key" }),
            Self::Transfer { id, to, terminal } => json!({ "ev": "transfer", "id": id, "from": "supervisor", "to": to, "terminal": terminal }),
            Self::Back { id, out } => json!({ "ev": "transfer_returned", "id": id, "outcome": out }),
            Self::Reconciled { replies, resolved } => json!({ "ev": "reconciled", "replies": replies, "resolved": resolved }),
            Self::Approval { id, of } => json!({ "ev": "approval_requested", "id": id, "for": of }),
            Self::Granted { id } => json!({ "ev": "approval_granted", "id": id }),
            Self::Denied { id } => json!({ "ev": "approval_denied", "id": id, "why": "no" }),
            Self::Candidate { agent, text, uses, finish, synthetic, reasoning, from } => {
                json!({ "ev": "candidate", "agent": agent, "text": text, "uses": uses, "finish": finish, "synthetic": synthetic,
                    "reasoning_only": reasoning, "from": from.map(|at| at + 2) })
            }
            Self::Stop { cause } => json!({ "ev": "stopped", "cause": cause }),
            Self::Nudge => json!({ "ev": "nudge", "by": "gate" }),
            Self::Resumed { ok } => json!({ "ev": "resumed", "from": "log", "ok": ok }),
            Self::Crashed => json!({ "ev": "crashed" }),
            Self::Verdict { by, accept } => json!({ "ev": "guard_verdict", "by": by, "verdict": if *accept { "accept" } else { "reject" } }),
            Self::Ask { id } => json!({ "ev": "ask_user", "id": id }),
            Self::Answered { id } => json!({ "ev": "user_answered", "id": id }),
            Self::Cancel => json!({ "ev": "cancel_requested", "by": "user" }),
            Self::Edited => json!({ "ev": "edited", "by": "outside" }),
            Self::ClientLeft => json!({ "ev": "client_left", "client": "k1", "last_seen": 1 }),
        }
    }
}

const AGENTS: &[Name] = &["main", "replanner", "supervisor", "planner", "helper", "s1"];
const CALLS: &[Name] = &["c1", "c2", "c3", "", " c1 "];
const CHILDREN: &[Name] = &["a1", "a2"];
const STEPS: &[Name] = &["p1", "p2", "p3"];
const OUTCOMES: &[Name] = &["ok", "ok", "ok", "error", "timeout", "cancelled"];

fn one(of: &'static [Name]) -> impl Strategy<Value = Name> + Clone {
    proptest::sample::select(of)
}

fn some(of: &'static [Name]) -> impl Strategy<Value = Vec<Name>> {
    proptest::sample::subsequence(of, 0..=of.len())
}

fn maybe(of: &'static [Name]) -> impl Strategy<Value = Option<Name>> {
    option::weighted(0.3, one(of))
}

pub fn start() -> impl Strategy<Value = Start> {
    let mode = one(&["single", "deep", "plan_execute", "supervisor"]);
    (mode, any::<bool>(), any::<bool>(), 0..3_u32, 0..2_u32, proptest::bool::weighted(0.2), any::<bool>()).prop_map(
        |(mode, evidence, checks, nudges, retries, plan_is_due, terminal)| Start { mode, evidence, checks, nudges, retries, plan_is_due, terminal },
    )
}

fn work() -> impl Strategy<Value = Ev> {
    let effect = one(&["read", "write", "write", "check", "control"]);
    let call = (one(CALLS), one(&["grep", "edit", "test"]), one(AGENTS), effect, proptest::bool::weighted(0.2), maybe(STEPS), maybe(CHILDREN))
        .prop_map(|(id, name, agent, effect, scratch, step, reads)| Ev::Call { id, name, agent, effect, scratch, step, reads });
    let out = one(&["ok", "ok", "ok", "error", "timeout", "cancelled", "running"]);
    let result = (one(CALLS), out, option::weighted(0.1, one(CHILDREN))).prop_map(|(id, out, cut_of)| Ev::Result { id, out, cut_of });
    prop_oneof![
        5 => call,
        6 => result,
        1 => (one(&["b1", "b2"]), option::weighted(0.7, one(&["c1", "c2", "c3"]))).prop_map(|(id, call)| Ev::Job { id, call }),
        1 => (one(&["b1", "b2", "c1"]), one(OUTCOMES)).prop_map(|(id, out)| Ev::JobEnd { id, out }),
        1 => (one(&["g1", "g2", "g3"]), one(&["c1", "c2", "p1", "p2"])).prop_map(|(id, of)| Ev::Approval { id, of }),
        2 => (one(&["g1", "g2", "g3"]), any::<bool>()).prop_map(|(id, yes)| if yes { Ev::Granted { id } } else { Ev::Denied { id } }),
    ]
}

fn delegation() -> impl Strategy<Value = Ev> {
    let started = (one(CHILDREN), option::weighted(0.2, one(CHILDREN)), option::weighted(0.2, one(&["c1", "c2"])))
        .prop_map(|(id, parent, call)| Ev::Child { id, agent: "helper", parent, call });
    let claim = option::weighted(0.3, (one(&["x", "y"]), one(&["4", "5"])));
    let review = option::weighted(0.2, (one(&["approved", "rejected"]), any::<bool>()));
    let out = one(&["ok", "ok", "ok", "error", "limited", "timeout", "cancelled", "aborted"]);
    let words = option::weighted(0.3, one(&["", "rows"]));
    let reply = (one(CHILDREN), out.clone(), option::weighted(0.2, one(CHILDREN)), 0..2_u32, claim.clone(), review.clone(), words).prop_map(
        |(id, out, parent, tools_ok, claim, review, text)| Ev::ChildReply {
            id,
            agent: "helper",
            out,
            parent,
            transfer: None,
            tools_ok,
            claim,
            review,
            text,
        },
    );
    let told = one(&["t1", "t2"]);
    let specialist = (one(&["r1", "r2"]), out, told.clone(), proptest::bool::weighted(0.8), 0..2_u32, claim).prop_map(
        |(id, out, transfer, linked, tools_ok, claim)| {
            let agent = if transfer == "t1" { "s1" } else { "s2" };
            Ev::ChildReply { id, agent, out, parent: None, transfer: linked.then_some(transfer), tools_ok, claim, review: None, text: None }
        },
    );
    prop_oneof![
        3 => started,
        4 => reply,
        2 => (told.clone(), proptest::bool::weighted(0.3)).prop_map(|(id, terminal)| Ev::Transfer { id, to: if id == "t1" { "s1" } else { "s2" }, terminal }),
        2 => specialist,
        2 => (told, one(&["ok", "error", "refused"])).prop_map(|(id, out)| Ev::Back { id, out }),
        3 => (some(&["a1", "a2", "r1", "r2"]), some(&["x", "y", "verdict:a1"])).prop_map(|(replies, resolved)| Ev::Reconciled { replies, resolved }),
    ]
}

fn planning() -> impl Strategy<Value = Ev> {
    let steps = || vec((one(STEPS), some(STEPS)), 0..3);
    prop_oneof![
        2 => steps().prop_map(|steps| Ev::Plan { steps }),
        1 => (steps(), some(STEPS)).prop_map(|(steps, dropped)| Ev::Replan { steps, dropped }),
        4 => (one(STEPS), proptest::bool::weighted(0.2)).prop_map(|(id, limited)| Ev::StepDone { id, limited }),
        2 => one(STEPS).prop_map(|id| Ev::StepBlocked { id }),
    ]
}

fn course() -> impl Strategy<Value = Ev> {
    let causes = &[
        "natural",
        "pause",
        "awaiting_human",
        "turn_limit",
        "budget",
        "timeout",
        "error",
        "user_cancelled",
        "idle_exit",
        "replan_limit",
        "transfer_limit",
    ];
    prop_oneof![
        2 => one(causes).prop_map(|cause| Ev::Stop { cause }),
        3 => Just(Ev::Nudge),
        3 => proptest::bool::weighted(0.8).prop_map(|ok| Ev::Resumed { ok }),
        1 => Just(Ev::Crashed),
        3 => (one(&["hook", "validator"]), any::<bool>()).prop_map(|(by, accept)| Ev::Verdict { by, accept }),
        1 => one(&["q1", "q2"]).prop_map(|id| Ev::Ask { id }),
        1 => one(&["q1", "q2"]).prop_map(|id| Ev::Answered { id }),
        1 => Just(Ev::Edited),
        1 => Just(Ev::ClientLeft),
    ]
}

const TEXTS: &[Name] = &["", "  ", "Yes.", "No."];

fn words() -> impl Strategy<Value = Ev> {
    let finish = one(&["stop", "stop", "tool_calls", "length", "content_filter", "error"]);
    (one(AGENTS), one(TEXTS), finish, some(&["reasoning", "call_markup", "text"])).prop_map(|(agent, text, finish, parts)| Ev::Reply {
        agent,
        text,
        finish,
        parts,
    })
}

fn candidate(owner: Name) -> impl Strategy<Value = Ev> {
    let agent = prop_oneof![6 => Just(owner), 1 => one(AGENTS)];
    let text = prop_oneof![6 => Just("Yes."), 1 => one(TEXTS)];
    let finish = option::weighted(0.1, one(&["stop", "length", "content_filter"]));
    let rare = || proptest::bool::weighted(0.05);
    (agent, text, some(&["a1", "a2", "r1", "r2"]), finish, rare(), rare(), option::weighted(0.1, 0..8_usize))
        .prop_map(|(agent, text, uses, finish, synthetic, reasoning, from)| Ev::Candidate { agent, text, uses, finish, synthetic, reasoning, from })
}

/// A run of each kind: mostly in order, never orderly.
pub fn run() -> impl Strategy<Value = (Start, Vec<Ev>)> {
    start().prop_flat_map(|start| {
        let owner = start.owner();
        let event = prop_oneof![
            8 => work(),
            5 => delegation(),
            3 => planning(),
            3 => course(),
            2 => words(),
            4 => candidate(owner),
            1 => proptest::bool::weighted(0.1).prop_map(|cancel| if cancel { Ev::Cancel } else { Ev::Edited }),
        ];
        (Just(start), vec(event, 1..18), proptest::bool::weighted(0.6), candidate(owner)).prop_map(|(start, mut events, ends, last)| {
            if ends {
                events.push(last);
            }
            (start, events)
        })
    })
}
