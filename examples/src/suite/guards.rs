//! Guards: consulted on a normal finish only.

use super::Live;
use super::cast::{Script, call, fall_over, looker, say, stage, turn};
use countersign::{BuildError, Guard, GuardPlugin, GuardSaid, GuardState, Limits, OnGuardPanic, Policy, Reason, Runner, Single, Status};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "guards/satisfied",
        about: "a guard asks for a second look once, and is satisfied",
        task: "Write to Ann.",
        runner: || guarded(polite, Policy::conversation(), &[Polite]),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::GuardRejected],
    },
    Live {
        name: "guards/never_satisfied",
        about: "a guard is never satisfied: the run is blocked, not answered",
        task: "Write to Ann.",
        runner: || guarded(curt, Policy::conversation(), &[Polite]),
        outside: &[],
        must: (Status::Blocked, Reason::GuardUnsatisfied),
        refused: &[Reason::GuardRejected, Reason::GuardRejected],
    },
    Live {
        name: "guards/two_at_once",
        about: "two guards object at once: both are heard in one nudge",
        task: "Write to Ann.",
        runner: || guarded(polite, Policy::conversation(), &[Polite, Short]),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::GuardRejected],
    },
    Live {
        name: "guards/panics",
        about: "a guard panics: the finish stands, and the panic is recorded",
        task: "Write to Ann.",
        runner: || guarded(curt, Policy::conversation(), &[Falls]),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[],
    },
    Live {
        name: "guards/panic_refused",
        about: "the same where the policy refuses instead",
        task: "Write to Ann.",
        runner: || guarded(curt, Policy { on_guard_panic: OnGuardPanic::Refuse, ..Policy::conversation() }, &[Falls]),
        outside: &[],
        must: (Status::Blocked, Reason::GuardUnsatisfied),
        refused: &[Reason::GuardRejected, Reason::GuardRejected],
    },
    Live {
        name: "guards/stops",
        about: "a guard ends the run",
        task: "Write to Ann.",
        runner: || guarded(curt, Policy::conversation(), &[Stern]),
        outside: &[],
        must: (Status::Blocked, Reason::GuardUnsatisfied),
        refused: &[],
    },
    Live {
        name: "guards/not_asked_on_a_limit",
        about: "at a limit there is no finish to look at: the guard, who would end the run, is not asked",
        task: "Look everywhere.",
        runner: || guarded(everywhere, Policy { limits: Limits { turns: 2, ..Limits::default() }, ..Policy::conversation() }, &[Stern]),
        outside: &[],
        must: (Status::Blocked, Reason::TurnLimit),
        refused: &[],
    },
];

use Kind::{Falls, Polite, Short, Stern};

/// What a guard is like.
#[derive(Clone, Copy)]
enum Kind {
    /// Wants a greeting.
    Polite,
    /// Wants few words.
    Short,
    /// Ends the run.
    Stern,
    /// Panics.
    Falls,
}

impl Guard for Kind {
    fn name(&self) -> &str {
        match self {
            Self::Polite => "polite",
            Self::Short => "short",
            Self::Stern => "stern",
            Self::Falls => "falls",
        }
    }

    fn check(&self, state: &GuardState<'_>) -> GuardSaid {
        match self {
            Self::Polite if !state.final_text.contains("Dear") => GuardSaid::Nudge("Greet her.".into()),
            Self::Short if state.final_text.len() > 40 => GuardSaid::Nudge("Be brief.".into()),
            Self::Polite | Self::Short => GuardSaid::Accept,
            Self::Stern => GuardSaid::Stop("nothing is sent today".into()),
            Self::Falls => fall_over("a guard"),
        }
    }
}

fn guarded(script: Script, policy: Policy, guards: &[Kind]) -> Result<Runner, BuildError> {
    let runner = stage(Single::default(), script).agent(looker("main")).policy(policy);
    guards.iter().fold(runner, |runner, guard| runner.guard(GuardPlugin::new(*guard))).build()
}

fn polite(r: &countersign::ModelRequest) -> countersign::ModelReply {
    if turn(r) == 0 { say("The parcel that you asked after will be there on Monday.") } else { say("Dear Ann, it comes on Monday.") }
}

fn curt(r: &countersign::ModelRequest) -> countersign::ModelReply {
    say(["Monday.", "On Monday.", "Monday, then."].get(turn(r)).copied().unwrap_or("Monday!"))
}

fn everywhere(r: &countersign::ModelRequest) -> countersign::ModelReply {
    call("look", &format!("room {}", turn(r)))
}
