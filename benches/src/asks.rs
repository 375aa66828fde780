//! A mode with a long chain of questions, each built on the answer before: cost a question, at 10, 100 and 1,000.

use crate::measure::{Row, interleaved};
use crate::ours::policy;
use crate::turn::runtime;
use countersign::testing::ScriptedModel;
use countersign::{Agent, Answer, Flow, MemoryJournal, Mode, ModeRules, ModelReply, ModelRequest, Policy, Runner, Work};
use std::sync::Arc;

struct Chain(usize);

impl Mode for Chain {
    fn name(&self) -> &str {
        "chain"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("main")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let mut last = work.ask("main", "first", "begin")?;
        for i in 1..self.0 {
            let before = last;
            last =
                work.ask_with("main", i, || format!("{} and then some more words to make a prompt of a hundred bytes or so, {i}", before.text()))?;
        }
        work.answer(last)
    }
}

pub(crate) fn rows() -> Vec<Row> {
    let rt = runtime();
    let at = |n: usize| {
        let (runner, journal) = runner(n)?;
        let us = interleaved((20_000 / n).max(5), &mut [&mut || rt.block_on(run(&runner, &journal))]);
        us.first().map(|us| Row::new("countersign, a chain of questions", n, us / n as f64, "question"))
    };
    [10, 100, 1000].into_iter().filter_map(at).collect()
}

/// Some runs in a row, for an instruction counter.
pub(crate) fn once(n: usize, reps: usize) {
    let rt = runtime();
    let Some((runner, journal)) = runner(n) else { return };
    (0..reps).for_each(|_| rt.block_on(run(&runner, &journal)));
}

fn runner(n: usize) -> Option<(Runner, Arc<MemoryJournal>)> {
    let journal = Arc::new(MemoryJournal::new());
    let model = ScriptedModel(|_: &ModelRequest| ModelReply::text("done"));
    let policy = Policy { require_execution_evidence: false, ..policy(n) };
    let built = Runner::builder(Chain(n), model).agent(Agent::new("main", "")).policy(policy).journal(journal.clone()).build();
    Some((built.ok()?, journal))
}

async fn run(runner: &Runner, journal: &MemoryJournal) {
    let Ok(result) = runner.run("task").await else { return };
    assert_eq!(result.text(), Some("done"), "{:?}", result.decision);
    journal.forget(&result.decision.run_id);
}
