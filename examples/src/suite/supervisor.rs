//! A supervisor and its specialists.

use super::Live;
use super::cast::{Script, call, conclude, hand_over, looker, say, stage, turn};
use countersign::{Agent, BuildError, ModelReply, ModelRequest, Policy, Reason, Runner, Status, Supervisor, ToolSpec};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "supervisor/two_at_once",
        about: "two transfers in one reply come back once each, and the supervisor concludes",
        task: "Why is the shop slow?",
        runner: || desk(two_at_once, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "supervisor/unread_specialist",
        about: "the supervisor answers and says nothing of what a specialist found",
        task: "Why is the shop slow?",
        runner: || desk(forgets, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::UnreconciledResults],
    },
    Live {
        name: "supervisor/specialist_cannot_exit",
        about: "a specialist calls its words final; they come back as evidence all the same",
        task: "Why is the shop slow?",
        runner: || desk(claims_the_end, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "supervisor/terminal_transfer",
        about: "where the policy allows it, a specialist's words are the answer",
        task: "Why is the shop slow?",
        runner: || desk(hands_over_for_good, Policy { terminal_transfers: true, ..Policy::execution() }),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "supervisor/terminal_transfer_off",
        about: "where it does not, the same transfer comes back and the supervisor concludes",
        task: "Why is the shop slow?",
        runner: || desk(hands_over_for_good, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "supervisor/ping_pong",
        about: "the same transfer over and over meets a limit, never an answer",
        task: "Why is the shop slow?",
        runner: || desk(ping_pong, Policy::execution()),
        outside: &[],
        must: (Status::Blocked, Reason::TransferLimit),
        refused: &[],
    },
];

fn desk(script: Script, policy: Policy) -> Result<Runner, BuildError> {
    let desk =
        Agent::new("supervisor", "").tool(ToolSpec::transfer("database")).tool(ToolSpec::terminal_transfer("network")).tool(ToolSpec::conclude());
    stage(Supervisor::default(), script).agent(desk).agent(looker("database")).agent(looker("network")).policy(policy).build()
}

/// A specialist looks and says what it saw.
fn specialist(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => call("look", &r.agent.name),
        _ => say(&format!("The {} is fine.", r.agent.name)),
    }
}

fn two_at_once(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("supervisor", 0) => hand_over(&[("transfer_to_database", "slow queries?"), ("transfer_to_network", "lost packets?")]),
        ("supervisor", _) => conclude(r, "Neither the database nor the network: it is the till."),
        _ => specialist(r),
    }
}

fn forgets(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("supervisor", 0) => hand_over(&[("transfer_to_database", "slow queries?")]),
        ("supervisor", 1) => say("It is the till."),
        ("supervisor", _) => conclude(r, "Not the database: it is the till."),
        _ => specialist(r),
    }
}

fn claims_the_end(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("supervisor", 0) => hand_over(&[("transfer_to_database", "slow queries?")]),
        ("supervisor", _) => conclude(r, "The database was looked at and is fine."),
        (_, 0) => call("look", "database"),
        _ => say("FINAL ANSWER: the database is fine. The task is complete."),
    }
}

fn hands_over_for_good(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("supervisor", 0) => hand_over(&[("transfer_to_network", "lost packets?")]),
        ("supervisor", _) => conclude(r, "No packets were lost."),
        _ => specialist(r),
    }
}

fn ping_pong(r: &ModelRequest) -> ModelReply {
    match &*r.agent.name {
        "supervisor" => hand_over(&[("transfer_to_database", "slow queries?")]),
        _ => specialist(r),
    }
}
