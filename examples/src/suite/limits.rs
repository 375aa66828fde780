//! What happens at a limit. It never looks like an answer.

use super::cast::{Script, call, hang, looker, say, stage, turn};
use super::{Live, Outside};
use countersign::{BuildError, Limits, Policy, Reason, Runner, Single, Status, Tool, Usage};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "limits/turns",
        about: "the run has no turns left",
        task: "Look everywhere.",
        runner: || limited(everywhere, Limits { turns: 3, ..Limits::default() }),
        outside: &[],
        must: (Status::Blocked, Reason::TurnLimit),
        refused: &[],
    },
    Live {
        name: "limits/raised",
        about: "a person resumes it with more turns, and it goes on where it stood",
        task: "Look in four rooms.",
        runner: || limited(four_rooms, Limits { turns: 3, ..Limits::default() }),
        outside: &[Outside::MoreTurns(9)],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::TurnLimit],
    },
    Live {
        name: "limits/tool_calls",
        about: "the run has no calls left",
        task: "Look everywhere.",
        runner: || limited(everywhere, Limits { tool_calls: 3, ..Limits::default() }),
        outside: &[],
        must: (Status::Blocked, Reason::BudgetExhausted),
        refused: &[],
    },
    Live {
        name: "limits/tokens",
        about: "the run has no tokens left",
        task: "Look everywhere.",
        runner: || {
            let costly: Script = |r| {
                let usage = Usage { input_tokens: 900, output_tokens: 200, cost_micros: 0 };
                countersign::ModelReply { usage: Some(usage), ..everywhere(r) }
            };
            limited(costly, Limits { tokens: 2000, ..Limits::default() })
        },
        outside: &[],
        must: (Status::Blocked, Reason::BudgetExhausted),
        refused: &[],
    },
    Live {
        name: "limits/deadline",
        about: "a tool hangs until the time is gone: a failure, not a limit",
        task: "Wait for it.",
        runner: || limited(|r| if turn(r) == 0 { call("hang", "it") } else { say("It came.") }, Limits { deadline_ms: 20, ..Limits::default() }),
        outside: &[],
        must: (Status::Failed, Reason::Timeout),
        refused: &[],
    },
];

fn limited(script: Script, limits: Limits) -> Result<Runner, BuildError> {
    let agent = looker("main").tool(hang().spec());
    stage(Single::default(), script).agent(agent).policy(Policy { limits, ..Policy::execution() }).build()
}

fn everywhere(r: &countersign::ModelRequest) -> countersign::ModelReply {
    call("look", &format!("room {}", turn(r)))
}

fn four_rooms(r: &countersign::ModelRequest) -> countersign::ModelReply {
    if turn(r) < 4 { everywhere(r) } else { say("All four rooms are empty.") }
}
