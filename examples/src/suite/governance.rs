//! Attestations that a security test owes.

use super::Live;
use super::cast::{Script, call, looker, say, stage, turn, write};
use countersign::{BuildError, Event, ModelReply, ModelRequest, Policy, Reason, Runner, Single, Status, Tool, ToolSpec};
use serde_json::json;

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "governance/attested",
        about: "an authorised security test with every rule attested",
        task: "Test the login of the staging shop, as agreed.",
        runner: || tester(attests),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "governance/attested_late",
        about: "the report comes first: it is told which rules are open, and attests them",
        task: "Test the login of the staging shop, as agreed.",
        runner: || tester(attests_late),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::GovernanceIncomplete],
    },
    Live {
        name: "governance/marker_string",
        about: "an impact that points at nothing executed is not validated",
        task: "Test the login of the staging shop, as agreed.",
        runner: || tester(asserts),
        outside: &[],
        must: (Status::Blocked, Reason::GovernanceIncomplete),
        refused: &[Reason::GovernanceIncomplete, Reason::GovernanceIncomplete],
    },
];

fn tester(script: Script) -> Result<Runner, BuildError> {
    let agent = looker("main").tool(write().spec()).tool(ToolSpec::attest()).tool(ToolSpec::record());
    stage(Single::default(), script).agent(agent).policy(Policy::security_testing()).build()
}

/// The calls that this agent has made of a tool that came to something, by id.
fn done(r: &ModelRequest) -> Vec<u32> {
    r.transcript.iter().filter(|e| matches!(e.record.event, Event::ToolSettled { .. })).map(|e| e.call.0).collect()
}

/// Attests every rule, pointing at these.
fn attest_all(refs: &[u32]) -> ModelReply {
    let rules = [
        ("scope", "the staging shop, login only, as agreed on Monday"),
        ("evidence", "the requests and answers are referred to"),
        ("impact", "a login without a password was made and ended"),
        ("cleanup", "the session was ended"),
        ("nothing_running", "nothing was left running"),
    ];
    let findings = json!({ "rule": "findings", "waived": "no store is bound to this run" });
    let attest = |reply: ModelReply, (rule, statement): &(&str, &str)| {
        reply.and_call("attest", json!({ "rule": rule, "statement": statement, "refs": refs }).to_string())
    };
    rules.iter().fold(ModelReply::call("attest", findings.to_string()), attest)
}

fn attests(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("look", "login"),
        1 => attest_all(&done(r)),
        _ => say("The login of the staging shop takes an empty password."),
    }
}

fn attests_late(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("look", "login"),
        1 => say("The login takes an empty password."),
        2 => attest_all(&done(r)),
        _ => say("The login of the staging shop takes an empty password; all is attested."),
    }
}

fn asserts(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("look", "login"),
        1 => attest_all(&[]),
        n => say(&format!("PWNED-{n}: the login takes an empty password.")),
    }
}
