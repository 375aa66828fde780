//! Who plays: agents of the four modes whose model is a function of the seed and of what it is shown.

use super::dice::Dice;
use countersign::transcript::{question, replies};
use countersign::*;
use serde_json::json;

/// The tools of every world.
pub const TOOLS: &[&str] = &["look", "note", "write", "pay", "build"];

/// What a tool declares.
pub fn declared(tool: &str) -> Declared {
    match tool {
        "look" => Declared::run(Effect::Read),
        "note" => Declared { idempotent: true, ..Declared::run(Effect::Write) },
        "pay" => Declared { approval: true, ..Declared::run(Effect::Write) },
        "build" => Declared { background: true, ..Declared::run(Effect::Write) },
        _ => Declared::run(Effect::Write),
    }
}

/// A mode of the seed's choice, with its agents.
pub fn stage(seed: u64, model: impl Model + 'static) -> RunnerBuilder {
    let tools =
        |agent: Agent| TOOLS.iter().fold(agent, |agent, tool| agent.tool(ToolSpec::run(tool, "", json!({ "type": "object" }), declared(tool))));
    let worker = |name: &str| tools(Agent::new(name, ""));
    match Dice::of(&(seed, "mode")).up_to(4) {
        0 => Runner::builder(Single::default(), model).agent(worker("main")),
        1 => {
            let main = worker("main").tool(ToolSpec::delegate("task", "helper")).tool(ToolSpec::conclude());
            Runner::builder(Deep::default(), model).agent(main).agent(worker("helper"))
        }
        2 => {
            let boss = Agent::new("supervisor", "").tool(ToolSpec::transfer("dba")).tool(ToolSpec::transfer("net")).tool(ToolSpec::conclude());
            Runner::builder(Supervisor::default(), model).agent(boss).agent(worker("dba")).agent(worker("net"))
        }
        _ => Runner::builder(PlanExecute, model).agent(PlanExecute::planner("")).agent(worker("executor")).agent(PlanExecute::replanner("")),
    }
}

/// What an agent says: the same to the same question at the same turn, however often its process died.
pub fn reply(seed: u64, r: &ModelRequest) -> ModelReply {
    let turn = replies(&r.transcript);
    let asked = question(&r.transcript);
    let mut dice = Dice::of(&(seed, &*r.agent.name, &*asked, turn));
    match &*r.agent.name {
        "planner" => plan(&mut dice),
        "replanner" => verdict(&asked),
        "supervisor" if turn == 0 => hand_over(&mut dice, &["transfer_to_dba", "transfer_to_net"]),
        "main" if turn == 0 && r.agent.tools.contains_key("task") => hand_over(&mut dice, &["task"]),
        "supervisor" => conclude(r),
        "main" if turn > 2 && r.agent.tools.contains_key("conclude") => conclude(r),
        _ if turn < 3 && !dice.once_in(3) => work(&mut dice),
        name => ModelReply::text(format!("{name} is done after {turn} turns")),
    }
}

fn work(dice: &mut Dice) -> ModelReply {
    let mut reply = ModelReply::default();
    for _ in 0..=dice.up_to(3) {
        let tool = TOOLS[usize::try_from(dice.up_to(TOOLS.len() as u64)).unwrap()];
        reply = reply.and_call(tool, json!({ "n": dice.up_to(1000) }).to_string());
    }
    reply
}

fn hand_over(dice: &mut Dice, to: &[&'static str]) -> ModelReply {
    let mut reply = ModelReply::default();
    for n in 0..=dice.up_to(2) {
        let name = to[usize::try_from(dice.up_to(to.len() as u64)).unwrap()];
        reply = reply.and_call(name, json!({ "task": format!("part {n}, {}", dice.up_to(1000)) }).to_string());
    }
    reply
}

/// Every result that it was given, adopted.
fn conclude(r: &ModelRequest) -> ModelReply {
    let given = r.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. }));
    let dispositions: Vec<_> = given.map(|e| json!({ "result": e.node.0, "disposition": "adopted" })).collect();
    ModelReply::call("conclude", json!({ "answer": "all in one", "dispositions": dispositions }).to_string())
}

fn plan(dice: &mut Dice) -> ModelReply {
    let count = 1 + dice.up_to(4);
    let step = |n: u64, needs: bool| {
        let needs: Vec<_> = (0..n).filter(|_| needs).map(|n| format!("s{n}")).collect();
        json!({ "id": format!("s{n}"), "text": format!("do {n}"), "needs": needs })
    };
    let steps: Vec<_> = (0..count).map(|n| step(n, dice.once_in(3))).collect();
    ModelReply::call("plan", json!({ "steps": steps }).to_string())
}

/// Answers, and says of every step that was not done that it could not be.
fn verdict(asked: &str) -> ModelReply {
    let undone = asked.lines().filter(|l| l.trim_start_matches("- ").starts_with('`') && !l.contains(": done"));
    let name = |line: &str| line.split('`').nth(1).map(str::to_owned);
    let blocked: Vec<_> = undone.filter_map(name).map(|id| json!({ "id": id, "why": "it did not work out" })).collect();
    ModelReply::call("verdict", json!({ "act": "respond", "answer": "as far as it went", "blocked": blocked }).to_string())
}
