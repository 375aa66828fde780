//! Hooks around every act: they watch, and may refuse or change a tool call.

use crate::driver::{base, replay_equal, spec, turns};
use countersign::testing::ScriptedModel;
use countersign::*;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Vec<String>>>);

impl Watch {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl Hooks for Watch {
    fn before_model(&self, request: &ModelRequest) {
        self.note(format!("ask {}", request.agent.name));
    }

    fn after_model(&self, agent: &str, reply: &Result<ModelReply, ModelError>) {
        self.note(format!("{agent} said {} calls", reply.as_ref().map_or(0, |r| r.calls.len())));
    }

    fn before_tool(&self, tool: &str, request: &ToolRequest) -> ToolGate {
        self.note(format!("run {tool}({})", request.args));
        match tool {
            "write" => ToolGate::Refuse("nothing is written on a Friday".into()),
            _ => ToolGate::Edit("\"edited\"".into()),
        }
    }

    fn after_tool(&self, tool: &str, outcome: &Result<ToolOutput, ToolError>) {
        self.note(format!("{tool}: {}", outcome.as_ref().map_or_else(ToString::to_string, |o| o.text.to_string())));
    }
}

#[tokio::test]
async fn hooks_see_every_act_and_may_refuse_or_change_a_tool_call() {
    let watch = Watch::default();
    let agent = Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read))).tool(spec("write", Declared::run(Effect::Write)));
    let model = ScriptedModel(|r: &ModelRequest| match turns(r) {
        0 => ModelReply::call("read", "1").and_call("write", "2"),
        _ => ModelReply::text("done"),
    });
    let runner = base(Single::default(), model).agent(agent).hooks(watch.clone()).build().unwrap();
    let result = runner.run("task").await.unwrap();
    replay_equal(&result);
    let seen = watch.0.lock().unwrap().join("\n");
    assert_eq!(seen, "ask main\nmain said 2 calls\nrun read(1)\nread: read(\"edited\")\nrun write(2)\nask main\nmain said 0 calls");
    let refused = result
        .run
        .ledger()
        .log()
        .iter()
        .any(|r| matches!(&r.event, Event::ToolSettled { outcome: Outcome::Rejected, text, .. } if &**text == "nothing is written on a Friday"));
    assert!(refused, "a refusal is recorded, and told to the model");
}
