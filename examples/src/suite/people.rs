//! What people say to a run.

use super::cast::{Script, call, hang, looker, pay, say, stage, turn};
use super::{Live, Outside};
use countersign::{BuildError, ModelReply, ModelRequest, Policy, Reason, Runner, Single, Status, Tool, ToolSpec};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "people/approval_granted",
        about: "a payment waits for a person; it is granted, and made once",
        task: "Pay the bill.",
        runner: || clerk(pays, Policy::execution()),
        outside: &[Outside::Grant],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::AwaitingApproval],
    },
    Live {
        name: "people/approval_denied",
        about: "it is denied: it does not run, and the agent reads why",
        task: "Pay the bill.",
        runner: || clerk(pays, Policy::conversation()),
        outside: &[Outside::Deny("not this month")],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::AwaitingApproval],
    },
    Live {
        name: "people/approval_open",
        about: "nobody has said anything yet: the run is parked, and nobody is nagged",
        task: "Pay the bill.",
        runner: || clerk(pays, Policy::execution()),
        outside: &[],
        must: (Status::AwaitingApproval, Reason::AwaitingApproval),
        refused: &[],
    },
    Live {
        name: "people/question_answered",
        about: "an agent asks the user, and goes on with the answer",
        task: "Look at the shop.",
        runner: || clerk(asks, Policy::execution()),
        outside: &[Outside::Answer("The one in the High Street.")],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::AwaitingAnswer],
    },
    Live {
        name: "people/cancelled",
        about: "the user cancels while a tool hangs: every open call is settled, and nothing is an answer",
        task: "Wait for it.",
        runner: || clerk(|_| call("hang", "it"), Policy::execution()),
        outside: &[Outside::CancelOnceCalled],
        must: (Status::Cancelled, Reason::UserCancelled),
        refused: &[],
    },
];

fn clerk(script: Script, policy: Policy) -> Result<Runner, BuildError> {
    let agent = looker("main").tool(pay().spec()).tool(hang().spec()).tool(ToolSpec::ask_user());
    stage(Single::default(), script).agent(agent).policy(policy).build()
}

fn pays(r: &ModelRequest) -> ModelReply {
    if turn(r) == 0 { call("pay", "bill") } else { say("I have seen to the bill.") }
}

fn asks(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => ModelReply::call("ask_user", r#"{"question":"Which shop?"}"#),
        1 => call("look", "High Street"),
        _ => say("The shop in the High Street is as expected."),
    }
}
