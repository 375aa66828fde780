//! A main agent with sub-agents.

use super::Live;
use super::cast::{Script, call, conclude, delegate, hand_over, looker, report, results, say, stage, told, turn};
use countersign::transcript::question;
use countersign::{Agent, BuildError, Deep, Limits, ModelReply, ModelRequest, Policy, Reason, Runner, Status, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "deep/three_side_by_side",
        about: "three sub-agents report claims; the main agent accounts for each and says what is uncertain",
        task: "Is the release ready?",
        runner: || three(full_account),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "deep/one_result_unread",
        about: "a conclusion that leaves one result unaccounted for is refused, then mended",
        task: "Is the release ready?",
        runner: || three(forgets_one),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::UnreconciledResults],
    },
    Live {
        name: "deep/word_for_word",
        about: "a sub-agent's words, passed on as they are, are no synthesis",
        task: "Is the release ready?",
        runner: || three(relays),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::UnreconciledResults],
    },
    Live {
        name: "deep/two_disagree",
        about: "two claims of one key differ: the conclusion has to settle it by name",
        task: "How many users are there?",
        runner: || three(overlooks_conflict),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::ConflictingResults],
    },
    Live {
        name: "deep/failed_empty_cut_off",
        about: "sub-agents that fail, come back empty or are cut off reach their parent as what they are",
        task: "Is the release ready?",
        runner: unlucky,
        outside: &[],
        must: (Status::Completed, Reason::VerifiedPartial),
        refused: &[],
    },
    Live {
        name: "deep/too_deep",
        about: "a sub-agent may not go deeper than the policy says; it is told, and does it itself",
        task: "Is the release ready?",
        runner: too_deep,
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
];

fn three(script: Script) -> Result<Runner, BuildError> {
    let main = ["tests", "docs", "users"].iter().fold(Agent::new("main", "").tool(ToolSpec::conclude()), |main, name| main.tool(delegate(name)));
    let helper = |name: &str| looker(name).tool(ToolSpec::report());
    let runner = stage(Deep::default(), script).agent(main).agent(helper("tests")).agent(helper("docs")).agent(helper("users"));
    runner.policy(Policy::execution()).build()
}

/// Sub-agents look, then report.
fn helper(r: &ModelRequest) -> ModelReply {
    let name = &*r.agent.name;
    match turn(r) {
        0 => call("look", name),
        _ => report(&format!("I looked at the {name}: all well."), name, "well"),
    }
}

fn begin() -> ModelReply {
    hand_over(&[("tests", "Do the tests pass?"), ("docs", "Are the docs complete?"), ("users", "How many users are there?")])
}

fn full_account(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("main", 0) => begin(),
        ("main", _) => {
            let why = ["", "says the same as the tests", "not asked for"];
            let dispositions = ["adopted", "duplicate", "rejected"];
            let each = results(r).into_iter().zip(dispositions).zip(why);
            let accounts: Vec<_> = each.map(|((id, d), why)| json!({ "result": id, "disposition": d, "why": why })).collect();
            let answer = json!({
                "answer": "The release is ready.",
                "dispositions": accounts,
                "uncertainties": ["nobody looked at the load test"],
                "next_actions": ["tag the release"],
            });
            ModelReply::call("conclude", answer.to_string())
        }
        _ => helper(r),
    }
}

fn forgets_one(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("main", 0) => begin(),
        ("main", 1) => {
            let adopted: Vec<_> = results(r).iter().skip(1).map(|id| json!({ "result": id, "disposition": "adopted" })).collect();
            ModelReply::call("conclude", json!({ "answer": "Ready.", "dispositions": adopted }).to_string())
        }
        ("main", _) => conclude(r, "Ready: tests, docs and users are well."),
        _ => helper(r),
    }
}

fn relays(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("main", 0) => begin(),
        ("main", 1) => conclude(r, "I looked at the docs: all well."),
        ("main", _) => conclude(r, "Ready: three agents looked, and found nothing wrong."),
        _ => helper(r),
    }
}

fn overlooks_conflict(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("main", 0) => begin(),
        ("main", _) if told(r) == 0 => conclude(r, "There are 40 users."),
        ("main", _) => {
            let adopted: Vec<_> = results(r).iter().map(|id| json!({ "result": id, "disposition": "adopted" })).collect();
            let resolved = [json!({ "key": "users", "why": "the docs are a month old; the count is of today" })];
            let answer = json!({ "answer": "There are 42 users.", "dispositions": adopted, "resolved": resolved });
            ModelReply::call("conclude", answer.to_string())
        }
        (name, 0) => call("look", name),
        ("docs", _) => report("The docs say 40.", "users", "40"),
        (name, _) => report(&format!("By the {name}, 42."), "users", "42"),
    }
}

/// What the agent that fails owes and never gives.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema and its parser are used")]
struct Count {
    count: u32,
}

fn unlucky() -> Result<Runner, BuildError> {
    let main =
        ["fails", "empty", "slow", "good"].iter().fold(Agent::new("main", "").tool(ToolSpec::conclude()), |main, name| main.tool(delegate(name)));
    let script: Script = |r| match (&*r.agent.name, turn(r)) {
        ("main", 0) => hand_over(&[("fails", "count"), ("empty", "look"), ("slow", "look everywhere"), ("good", "look")]),
        ("main", _) => {
            let mut last = results(r);
            let good = last.pop();
            let set_aside = last.iter().map(|id| json!({ "result": id, "disposition": "rejected", "why": "came to nothing" }));
            let all: Vec<_> = set_aside.chain(good.map(|id| json!({ "result": id, "disposition": "adopted" }))).collect();
            ModelReply::call("conclude", json!({ "answer": "One of four looked: all well.", "dispositions": all }).to_string())
        }
        ("fails", _) => say("It is hard to count."),
        ("empty", _) => say(""),
        ("slow", n) => call("look", &format!("room {n}")),
        (_, 0) => call("look", "release"),
        _ => say("I looked: all well."),
    };
    let runner = stage(Deep::default(), script).agent(main);
    let runner = runner.agent(Agent::new("fails", "").tool(ToolSpec::output::<Count>("count", "End with the count.")));
    let runner = runner.agent(looker("empty")).agent(looker("slow").turns(2)).agent(looker("good"));
    runner.policy(Policy::execution()).build()
}

fn too_deep() -> Result<Runner, BuildError> {
    let script: Script = |r| match (&*r.agent.name, turn(r)) {
        ("main", 0) => hand_over(&[("helper", "outer")]),
        ("main", _) => conclude(r, "All well, as far down as we may look."),
        ("helper", 0) if *question(&r.transcript) == *"outer" => hand_over(&[("helper", "inner")]),
        ("helper", 0 | 1) if turn(r) == usize::from(*question(&r.transcript) == *"outer") => call("look", "release"),
        _ => say("I looked myself."),
    };
    let main = Agent::new("main", "").tool(delegate("helper")).tool(ToolSpec::conclude());
    let helper = looker("helper").tool(delegate("helper"));
    let limits = Limits { depth: 1, ..Limits::default() };
    stage(Deep::default(), script).agent(main).agent(helper).policy(Policy { limits, ..Policy::execution() }).build()
}
