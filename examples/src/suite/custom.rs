//! Modes and checks of one's own.

use super::Live;
use super::cast::{Script, call, conclude, delegate, hand_over, looker, say, stage, turn};
use countersign::{
    Agent, Answer, BuildError, Check, Deep, Finding, Flow, Mode, ModeRules, ModelRequest, Policy, Reason, Runner, Single, Status, ToolSpec, View,
    Work,
};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "custom/wrong_agent",
        about: "a mode would answer with the words of an agent that may not conclude",
        task: "Is it safe?",
        runner: || pair(Hasty),
        outside: &[],
        must: (Status::Failed, Reason::ModeError),
        refused: &[Reason::WrongProducer],
    },
    Live {
        name: "custom/one_key_twice",
        about: "a mode that asks two questions under one key is stopped, with a reason",
        task: "Is it safe?",
        runner: || pair(Muddled),
        outside: &[],
        must: (Status::Failed, Reason::ModeError),
        refused: &[],
    },
    Live {
        name: "custom/mode_panics",
        about: "a mode that panics ends its run, and nothing else",
        task: "Is it safe?",
        runner: || pair(Fragile),
        outside: &[],
        must: (Status::Failed, Reason::ModeError),
        refused: &[],
    },
    Live {
        name: "custom/mode_in_a_mode",
        about: "a deep run inside a single one: its final is evidence there, never the answer",
        task: "Is it safe?",
        runner: nested,
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[],
    },
    Live {
        name: "custom/refused_inside",
        about: "the gate rules inside too: the inner run is refused and mended there",
        task: "Is it safe?",
        runner: refused_inside,
        outside: &[],
        must: (Status::Completed, Reason::Verified),
        refused: &[Reason::UnreconciledResults],
    },
    Live {
        name: "custom/a_check_of_ones_own",
        about: "a user's check stands beside the gate's own",
        task: "How long is the bridge?",
        runner: || stage(Single::default(), metres).agent(looker("main")).check(Units).build(),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[Reason::CustomCheck],
    },
];

fn pair(mode: impl Mode + 'static) -> Result<Runner, BuildError> {
    stage(mode, |r| say(&format!("{}: it is safe", r.agent.name))).agent(looker("main")).agent(looker("helper")).build()
}

/// Asks a helper, and takes its words for the answer.
struct Hasty;

impl Mode for Hasty {
    fn name(&self) -> &str {
        "hasty"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("main")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let reply = work.ask("helper", "look", task)?;
        work.answer(reply)
    }
}

/// Asks two questions under one key.
struct Muddled;

impl Mode for Muddled {
    fn name(&self) -> &str {
        "muddled"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("main")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let first = work.ask("helper", "look", "Is it safe by day?")?;
        work.ask("main", "look", format!("And by night? By day: {}", first.text()))?;
        work.answer(first)
    }
}

/// Panics once it has an answer.
struct Fragile;

impl Mode for Fragile {
    fn name(&self) -> &str {
        "fragile"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("main")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let reply = work.ask("main", "main", "Is it safe?")?;
        super::cast::fall_over(&format!("a mode with {} bytes", reply.text().len()))
    }
}

fn team(script: Script) -> Result<Runner, BuildError> {
    let outer = Agent::new("outer", "").tool(delegate("team"));
    let inner = Agent::new("main", "").tool(delegate("helper")).tool(ToolSpec::conclude());
    let runner =
        stage(Single { agent: "outer" }, script).agent(outer).agent(Agent::mode("team", Deep::default())).agent(inner).agent(looker("helper"));
    runner.policy(Policy::execution()).build()
}

fn nested() -> Result<Runner, BuildError> {
    team(|r| match (&*r.agent.name, turn(r)) {
        ("outer", 0) => hand_over(&[("team", "Look into it.")]),
        ("outer", _) => say("The team looked into it: it is safe."),
        ("main", 0) => hand_over(&[("helper", "Look.")]),
        ("main", _) => conclude(r, "We looked, and found nothing."),
        (_, 0) => call("look", "bridge"),
        _ => say("Nothing to be seen."),
    })
}

fn refused_inside() -> Result<Runner, BuildError> {
    team(|r| match (&*r.agent.name, turn(r)) {
        ("outer", 0) => hand_over(&[("team", "Look into it.")]),
        ("outer", _) => say("The team looked into it: it is safe."),
        ("main", 0) => hand_over(&[("helper", "Look.")]),
        ("main", 1) => say("Nothing to worry about."),
        ("main", _) => conclude(r, "We looked, and found nothing."),
        (_, 0) => call("look", "bridge"),
        _ => say("Nothing to be seen."),
    })
}

/// An answer about a length says a unit.
struct Units;

impl Check for Units {
    fn name(&self) -> &str {
        "says_a_unit"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, made)) = view.candidate.filter(|(_, made)| !made.text.contains("metres")) else { return Ok(None) };
        Ok(Some(Finding {
            check: self.name().into(),
            subjects: vec![view.ledger.reference(node)],
            message: format!("{} bytes, and not one of them a unit", made.text.len()),
            remedy: "say how many metres".into(),
        }))
    }
}

fn metres(r: &ModelRequest) -> countersign::ModelReply {
    if turn(r) == 0 { say("It is 300 long.") } else { say("It is 300 metres long.") }
}
