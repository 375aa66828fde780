//! One agent.

use super::Live;
use super::cast::{Script, call, looker, say, stage, told, turn};
use countersign::{BuildError, Finish, ModelReply, ModelRequest, OnCapSpent, OnMissingEvidence, Policy, Reason, Runner, Single, Status};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "single/looks_then_answers",
        about: "one agent looks and answers from what it saw",
        task: "Is the shop open?",
        runner: || one(|r| if turn(r) == 0 { call("look", "shop") } else { say("It is open.") }, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "single/answers_without_looking",
        about: "an answer without evidence is refused; the agent is told, and looks",
        task: "Is the shop open?",
        runner: || one(lazy, Policy::execution()),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::MissingExecutionEvidence],
    },
    Live {
        name: "single/goes_on_untold",
        about: "the same with `continue`: it gets another turn, and nothing is injected",
        task: "Is the shop open?",
        runner: || one(unprompted, Policy { on_missing_evidence: OnMissingEvidence::Continue, ..Policy::execution() }),
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::MissingExecutionEvidence],
    },
    Live {
        name: "single/says_the_same_again",
        about: "the same words on the same evidence: nothing will come of asking once more",
        task: "Is the shop open?",
        runner: || one(|_| say("Surely."), Policy::execution()),
        outside: &[],
        must: (Status::Blocked, Reason::NoProgress),
        refused: &[Reason::MissingExecutionEvidence],
    },
    Live {
        name: "single/only_promises",
        about: "other words each time and never any work: the allowance is spent",
        task: "Is the shop open?",
        runner: || one(promises, Policy::execution()),
        outside: &[],
        must: (Status::Blocked, Reason::MissingExecutionEvidence),
        refused: &[Reason::MissingExecutionEvidence, Reason::MissingExecutionEvidence],
    },
    Live {
        name: "single/delivered_unverified",
        about: "the same where the policy says deliver: it goes out, and never as verified",
        task: "Is the shop open?",
        runner: || one(promises, Policy { on_cap_spent: OnCapSpent::Deliver, ..Policy::execution() }),
        outside: &[],
        must: (Status::Completed, Reason::Unverified),
        refused: &[Reason::MissingExecutionEvidence, Reason::MissingExecutionEvidence],
    },
    Live {
        name: "single/only_reasoning",
        about: "a reply that is all reasoning is not an answer",
        task: "What is six times seven?",
        runner: || one(reasons, Policy::conversation()),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::ReasoningOnly],
    },
    Live {
        name: "single/blank",
        about: "nor is a blank one",
        task: "What is six times seven?",
        runner: || one(blank, Policy::conversation()),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::EmptyResponse],
    },
    Live {
        name: "single/cut_short",
        about: "half an answer is no answer",
        task: "What is six times seven?",
        runner: || one(half, Policy::conversation()),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::TruncatedResponse],
    },
];

fn one(script: Script, policy: Policy) -> Result<Runner, BuildError> {
    stage(Single::default(), script).agent(looker("main")).policy(policy).build()
}

/// Reasons first, and says nothing.
fn reasons(r: &ModelRequest) -> ModelReply {
    let thought = ModelReply { reasoning: Some("six sevens are forty-two".into()), ..ModelReply::default() };
    if turn(r) == 0 { thought } else { say("Forty-two.") }
}

/// Says nothing at first.
fn blank(r: &ModelRequest) -> ModelReply {
    if turn(r) == 0 { say(" ") } else { say("Forty-two.") }
}

/// Is cut off by its output limit at first.
fn half(r: &ModelRequest) -> ModelReply {
    if turn(r) == 0 { ModelReply { finish: Finish::Length, ..say("Forty-") } } else { say("Forty-two.") }
}

/// Looks once it is told to.
fn lazy(r: &ModelRequest) -> ModelReply {
    match (told(r), turn(r)) {
        (0, _) => say("It is always open."),
        (_, 1) => call("look", "shop"),
        _ => say("It is open: I looked."),
    }
}

/// Looks once it gets another turn.
fn unprompted(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => say("It is always open."),
        1 => call("look", "shop"),
        _ => say("It is open: I looked."),
    }
}

/// Never looks.
fn promises(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => say("I will look at once."),
        1 => say("I am about to look."),
        _ => say("As good as looked."),
    }
}
