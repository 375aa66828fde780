//! The same run on our driver: events, graph, gate, in-memory journal, ending in a verified decision.

use async_trait::async_trait;
use countersign::{
    Agent, Declared, Deltas, Effect, Finish, Limits, MemoryJournal, Model, ModelError, ModelReply, ModelRequest, Policy, RunResult, Runner, Single,
    Str, Tool, ToolCall, ToolError, ToolOutput, ToolRequest, ToolSpec,
};
use std::sync::Arc;
use std::time::Duration;

/// Calls one tool `n` times, then answers.
pub(crate) struct Script {
    pub(crate) name: Str,
    pub(crate) args: Arc<[Str]>,
    pub(crate) latency: Duration,
}

#[async_trait]
impl Model for Script {
    async fn reply(&self, request: ModelRequest, _: &Deltas) -> Result<ModelReply, ModelError> {
        let turn = request.transcript.len() / 2;
        drop(request);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        Ok(match self.args.get(turn) {
            Some(args) => {
                let call = ToolCall { id: None, name: self.name.clone(), args: args.clone() };
                ModelReply { calls: vec![call], finish: Finish::ToolCalls, ..ModelReply::default() }
            }
            None => ModelReply::text("done"),
        })
    }
}

/// A tool that is done at once.
pub(crate) struct Quick(pub(crate) Declared);

#[async_trait]
impl Tool for Quick {
    fn spec(&self) -> ToolSpec {
        ToolSpec::run("read", "reads", serde_json::json!({"type": "object"}), self.0)
    }

    async fn run(&self, _: ToolRequest) -> Result<ToolOutput, ToolError> {
        Ok("ok: 12 lines".into())
    }
}

/// Arguments that differ from call to call, as real ones do.
pub(crate) fn args(n: usize) -> Arc<[Str]> {
    (0..n).map(|i| format!("{{\"path\":\"src/file_{i}.rs\"}}").into()).collect()
}

/// A policy with room for `n` calls.
pub(crate) fn policy(n: usize) -> Policy {
    let room = u32::try_from(n + 10).unwrap_or(u32::MAX);
    Policy { limits: Limits { turns: room, tool_calls: room, events: room.saturating_mul(8), ..Limits::default() }, ..Policy::execution() }
}

/// A runner for runs of `n` calls, and its journal.
pub(crate) fn runner(n: usize, effect: Effect, latency: Duration) -> (Runner, Arc<MemoryJournal>) {
    let journal = Arc::new(MemoryJournal::new());
    let tool = Quick(Declared::run(effect));
    let agent = Agent::new("main", "").tool(tool.spec());
    let model = Script { name: "read".into(), args: args(n), latency };
    let runner = Runner::builder(Single::default(), model).agent(agent).tool(tool).policy(policy(n)).journal(journal.clone()).build();
    match runner {
        Ok(runner) => (runner, journal),
        Err(why) => {
            eprintln!("the benchmark's runner cannot be built: {why}");
            std::process::exit(1);
        }
    }
}

/// One run, asserted; its log is forgotten again.
pub(crate) async fn run(runner: &Runner, journal: &MemoryJournal, n: usize) -> Option<RunResult> {
    let result = runner.run("task").await.ok()?;
    assert_eq!(result.text(), Some("done"), "{:?}", result.decision);
    assert_eq!(result.decision.completion_reason, countersign::Reason::Verified);
    assert_eq!(result.decision.evidence_refs.len(), n);
    // The run, its agent, a reply and a call each turn, the last reply, its result, candidate and decision.
    assert_eq!(result.run.ledger().node_count() as usize, 2 + 2 * n + 4);
    journal.forget(&result.decision.run_id);
    Some(result)
}
