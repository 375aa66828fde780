//! A supervisor with three specialists of 5 calls each, whose results it accounts for one by one.

use crate::measure::{Row, interleaved};
use crate::ours::{Quick, policy};
use crate::turn::runtime;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Declared, Effect, Event, MemoryJournal, ModelReply, ModelRequest, Reason, Runner, Supervisor, Tool, ToolSpec};
use std::sync::Arc;

const SPECIALISTS: [&str; 3] = ["dba", "net", "app"];
const CALLS: usize = 5;

pub(crate) fn rows() -> Vec<Row> {
    let rt = runtime();
    let journal = Arc::new(MemoryJournal::new());
    let Some(runner) = runner(journal.clone()) else { return Vec::new() };
    let us = interleaved(500, &mut [&mut || rt.block_on(run(&runner, &journal))]);
    us.into_iter().map(|us| Row::new("countersign, supervisor and three", CALLS, us, "run")).collect()
}

/// Some runs in a row, for an instruction counter.
pub(crate) fn once(reps: usize) {
    let rt = runtime();
    let journal = Arc::new(MemoryJournal::new());
    let Some(runner) = runner(journal.clone()) else { return };
    (0..reps).for_each(|_| rt.block_on(run(&runner, &journal)));
}

async fn run(runner: &Runner, journal: &MemoryJournal) {
    let Ok(result) = runner.run("why is it slow").await else { return };
    assert_eq!((result.text(), result.reason()), (Some("It was the index."), Reason::Verified), "{:?}", result.decision);
    assert_eq!(result.decision.evidence_refs.len(), SPECIALISTS.len() * CALLS);
    journal.forget(&result.decision.run_id);
}

fn runner(journal: Arc<MemoryJournal>) -> Option<Runner> {
    let tool = Quick(Declared::run(Effect::Read));
    let mut supervisor = Agent::new("supervisor", "").tool(ToolSpec::conclude());
    for name in SPECIALISTS {
        supervisor = supervisor.tool(ToolSpec::transfer(name));
    }
    let mut builder = Runner::builder(Supervisor::default(), ScriptedModel(script)).agent(supervisor);
    for name in SPECIALISTS {
        builder = builder.agent(Agent::new(name, "").tool(tool.spec()));
    }
    builder.tool(tool).policy(policy(100)).journal(journal).build().ok()
}

fn script(request: &ModelRequest) -> ModelReply {
    let turn = replies(&request.transcript);
    match (&*request.agent.name, turn) {
        ("supervisor", 0) => {
            let hand = |reply: ModelReply, name: &str| reply.and_call(&format!("transfer_to_{name}"), r#"{"task":"look into it"}"#);
            SPECIALISTS.iter().fold(ModelReply::default(), |reply, name| hand(reply, name))
        }
        ("supervisor", _) => {
            let results = request.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. }));
            let all: Vec<String> = results.map(|e| format!(r#"{{"result":{},"disposition":"adopted"}}"#, e.node)).collect();
            ModelReply::call("conclude", format!(r#"{{"answer":"It was the index.","dispositions":[{}]}}"#, all.join(",")))
        }
        (_, turn) if turn < CALLS => ModelReply::call("read", format!(r#"{{"path":"{turn}"}}"#)),
        (name, _) => ModelReply::text(format!("{name} looked into it")),
    }
}
