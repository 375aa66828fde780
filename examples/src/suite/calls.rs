//! What becomes of calls.

use super::Live;
use super::cast::{Script, build, call, dump, fall, looker, say, stage, turn};
use countersign::{BuildError, Limits, ModelReply, ModelRequest, Policy, Reason, Runner, Single, Status, Tool, ToolCall};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "calls/background",
        about: "an answer waits for a job that is still running, and is made again with its result",
        task: "Build the shop.",
        runner: || single(background, Limits::default()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::PendingBackground],
    },
    Live {
        name: "calls/huge_output",
        about: "more than a model can be shown is cut, and says so",
        task: "Is all well?",
        runner: || {
            single(|r| if turn(r) == 0 { call("dump", "log") } else { say("All is well.") }, Limits { tool_output_bytes: 100, ..Limits::default() })
        },
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "calls/panic",
        about: "a tool that panics has failed; the run goes on",
        task: "Is all well?",
        runner: || single(falls, Limits::default()),
        outside: &[],
        must: (Status::Completed, Reason::VerifiedPartial),
        refused: &[],
    },
    Live {
        name: "calls/only_failures",
        about: "calls that all failed are no evidence",
        task: "Is all well?",
        runner: || single(only_falls, Limits::default()),
        outside: &[],
        must: (Status::Completed, Reason::VerifiedPartial),
        refused: &[Reason::MissingExecutionEvidence],
    },
    Live {
        name: "calls/odd_ones",
        about: "an unknown tool, arguments that do not fit, and one id for two calls",
        task: "Is all well?",
        runner: || single(odd, Limits::default()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "calls/over_and_over",
        about: "the same call with the same result: the model is told once, then stopped",
        task: "Is all well?",
        runner: || single(|_| call("look", "shop"), Limits::default()),
        outside: &[],
        must: (Status::Blocked, Reason::NoProgress),
        refused: &[],
    },
];

fn single(script: Script, limits: Limits) -> Result<Runner, BuildError> {
    let agent = looker("main").tool(build().spec()).tool(dump().spec()).tool(fall().spec());
    stage(Single::default(), script).agent(agent).policy(Policy { limits, ..Policy::execution() }).build()
}

fn background(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("look", "site").and_call("build", r#"{"what":"shop"}"#),
        1 => say("The shop is as good as built."),
        _ => say("The shop is built."),
    }
}

fn falls(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("fall", "the cat"),
        1 => call("look", "cat"),
        _ => say("The cat fell over, and is well."),
    }
}

fn only_falls(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("fall", "the cat"),
        1 => say("I tried, and the cat is well."),
        2 => call("look", "cat"),
        _ => say("The cat is well: I looked."),
    }
}

fn odd(r: &ModelRequest) -> ModelReply {
    let same = |what: &str| ToolCall { id: Some("call_1".into()), name: "look".into(), args: format!(r#"{{"what":"{what}"}}"#).into() };
    match turn(r) {
        0 => ModelReply::call("divine", r#"{"what":"all"}"#),
        1 => ModelReply::call("look", r#"{"where":"shop"}"#),
        2 => ModelReply { calls: vec![same("door"), same("till")], ..ModelReply::default() },
        _ => say("Door and till are well."),
    }
}
