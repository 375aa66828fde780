//! What scenarios share: a stage with tools, agents, and the lines that a scripted model says.

use countersign::testing::ScriptedModel;
use countersign::tool::Run;
use countersign::transcript::replies;
use countersign::{Agent, Declared, Effect, Event, FnTool, Mode, Model, ModelReply, ModelRequest, Runner, RunnerBuilder, Tool, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// What a scripted model is: what it says to what it is shown.
pub type Script = fn(&ModelRequest) -> ModelReply;

/// Arguments of most tools.
#[derive(Deserialize, JsonSchema)]
pub struct Args {
    /// What it is about.
    pub what: String,
}

/// A runner with every tool of this file and a clock that stands still, so that its log is always the same.
pub fn stage(mode: impl Mode + 'static, script: Script) -> RunnerBuilder {
    stage_with(mode, ScriptedModel(script))
}

/// As [`stage`], with a model of another kind.
pub fn stage_with(mode: impl Mode + 'static, model: impl Model + 'static) -> RunnerBuilder {
    let tools = [look(), write(), pay(), build(), dump(), fall(), hang()];
    let runner = Runner::builder(mode, model).clock(Arc::new(|| 0));
    tools.into_iter().fold(runner, RunnerBuilder::tool)
}

/// An agent that can look.
pub fn looker(name: &str) -> Agent {
    Agent::new(name, "").tool(look().spec())
}

/// Looks something up.
pub fn look() -> FnTool<Run> {
    FnTool::plain("look", "Looks something up.", Declared::run(Effect::Read), |args: Args| Ok(format!("{}: as expected", args.what)))
}

/// Writes something.
pub fn write() -> FnTool<Run> {
    FnTool::plain("write", "Writes something.", Declared::run(Effect::Write), |args: Args| Ok(format!("{}: written", args.what)))
}

/// Pays: a person has to grant it.
pub fn pay() -> FnTool<Run> {
    let declared = Declared { approval: true, ..Declared::run(Effect::Write) };
    FnTool::plain("pay", "Pays a bill.", declared, |args: Args| Ok(format!("{}: paid", args.what)))
}

/// Builds, in the background: it ends after the turn that began it.
pub fn build() -> FnTool<Run> {
    let declared = Declared { background: true, ..Declared::run(Effect::Write) };
    FnTool::new("build", "Builds in the background.", declared, |args: Args| async move {
        // Gives way once: whoever answers meanwhile is heard first, on every machine.
        tokio::task::yield_now().await;
        Ok::<_, ToolError>(format!("{}: built", args.what))
    })
}

/// Says more than a model can be shown.
pub fn dump() -> FnTool<Run> {
    FnTool::plain("dump", "Dumps a whole log.", Declared::run(Effect::Read), |_: Args| Ok("all is well. ".repeat(400)))
}

/// Panics.
pub fn fall() -> FnTool<Run> {
    FnTool::plain("fall", "Falls over.", Declared::run(Effect::Read), |args: Args| -> Result<String, ToolError> { fall_over(&args.what) })
}

/// Never ends.
pub fn hang() -> FnTool<Run> {
    FnTool::new("hang", "Never ends.", Declared::run(Effect::Read), |_: Args| std::future::pending::<Result<String, ToolError>>())
}

/// Panics without a word on standard error, where the table stands.
pub fn fall_over(what: &str) -> ! {
    std::panic::resume_unwind(Box::new(format!("{what} fell over")))
}

/// How many replies this agent has made.
pub fn turn(request: &ModelRequest) -> usize {
    replies(&request.transcript)
}

/// How often it was told that something is missing.
pub fn told(request: &ModelRequest) -> usize {
    request.transcript.iter().filter(|e| matches!(e.record.event, Event::Nudged { .. })).count()
}

/// Ids of the results that came back to it.
pub fn results(request: &ModelRequest) -> Vec<u32> {
    request.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. })).map(|e| e.node.0).collect()
}

/// Says something.
pub fn say(text: &str) -> ModelReply {
    ModelReply::text(text)
}

/// Calls a tool about something.
pub fn call(tool: &str, what: &str) -> ModelReply {
    ModelReply::call(tool, json!({ "what": what }).to_string())
}

/// Hands work over, to one agent a line: tool, task.
pub fn hand_over(work: &[(&str, &str)]) -> ModelReply {
    work.iter().fold(ModelReply::default(), |reply, (tool, task)| reply.and_call(tool, json!({ "task": task }).to_string()))
}

/// Concludes, adopting every result that came back.
pub fn conclude(request: &ModelRequest, answer: &str) -> ModelReply {
    let adopted: Vec<_> = results(request).iter().map(|id| json!({ "result": id, "disposition": "adopted" })).collect();
    ModelReply::call("conclude", json!({ "answer": answer, "dispositions": adopted }).to_string())
}

/// Reports one fact.
pub fn report(summary: &str, key: &str, value: &str) -> ModelReply {
    let claims = [json!({ "key": key, "value": value, "confidence": 90 })];
    ModelReply::call("report", json!({ "summary": summary, "claims": claims }).to_string())
}

/// A tool that hands work to an agent of the same name.
pub fn delegate(agent: &str) -> ToolSpec {
    ToolSpec::delegate(agent, agent)
}
