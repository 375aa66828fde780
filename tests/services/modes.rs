//! Every mode through real HTTP: it succeeds, and no fault of a provider ever becomes an answer.

use crate::aimock::{CHAOS, Mock};
use countersign::{
    Agent, Declared, Deep, Effect, Event, FnTool, Model, PlanExecute, Policy, Reason, RunResult, Runner, RunnerBuilder, Single, Status, Supervisor,
    Tool, ToolSpec,
};
use countersign_connect::model::Api;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const APIS: [Api; 2] = [Api::Openai, Api::Anthropic];
const MODES: [&str; 4] = ["single", "deep", "plan_execute", "supervisor"];

#[derive(Deserialize, JsonSchema)]
struct Door {
    door: String,
}

fn runner(mode: &str, model: impl Model + 'static) -> Runner {
    let look = FnTool::plain("look", "Looks at a door.", Declared::run(Effect::Read), |args: Door| Ok(format!("the {} door is open", args.door)));
    let looks = |name: &str, instructions: &str| Agent::new(name, instructions).tool(look.spec());
    let builder: RunnerBuilder = match mode {
        "single" => Runner::builder(Single::default(), model).agent(looks("main", "You are the owner.")),
        "deep" => Runner::builder(Deep::default(), model)
            .agent(Agent::new("main", "You are the owner.").tool(ToolSpec::delegate("ask_helper", "helper")).tool(ToolSpec::conclude()))
            .agent(looks("helper", "You are the helper.").tool(ToolSpec::report())),
        "plan_execute" => Runner::builder(PlanExecute, model)
            .agent(PlanExecute::planner("You are the planner."))
            .agent(PlanExecute::replanner("You are the replanner."))
            .agent(looks("executor", "You are the executor.")),
        _ => Runner::builder(Supervisor::default(), model)
            .agent(Agent::new("supervisor", "You are the owner.").tool(ToolSpec::transfer("helper")).tool(ToolSpec::conclude()))
            .agent(looks("helper", "You are the helper.")),
    };
    builder.tool(look).policy(Policy::execution()).build().expect("it fits together")
}

fn call(name: &str, args: &Value) -> Value {
    json!({"toolCalls": [{"name": name, "arguments": args}], "usage": used()})
}

fn text(text: &str) -> Value {
    json!({"content": text, "usage": used()})
}

/// Tokens, by the names of both APIs.
fn used() -> Value {
    json!({"prompt_tokens": 20, "completion_tokens": 10, "input_tokens": 20, "output_tokens": 10})
}

/// What an agent says, turn by turn.
fn turns(instructions: &str, said: &[Value]) -> Vec<Value> {
    let turn = |(at, response): (usize, &Value)| json!({"match": {"systemMessage": instructions, "turnIndex": at}, "response": response});
    said.iter().enumerate().map(turn).collect()
}

/// A script that brings a mode to its end.
fn script(mode: &str) -> Vec<Value> {
    let look = call("look", &json!({"door": "front"}));
    let task = json!({"task": "Look at the front door."});
    // The helper's result: run, owner, its reply with one call, the helper, its two replies with a call each.
    let conclusion = |result: u32| {
        call("conclude", &json!({"answer": "The front door stands open.", "dispositions": [{"result": result, "disposition": "adopted"}]}))
    };
    match mode {
        "single" => turns("owner", &[look, text("The front door stands open.")]),
        "deep" => {
            let report = call("report", &json!({"summary": "It is open.", "claims": [{"key": "door", "value": "open"}]}));
            [turns("owner", &[call("ask_helper", &task), conclusion(9)]), turns("helper", &[look, report])].concat()
        }
        "plan_execute" => {
            let plan = call("plan", &json!({"steps": [{"id": "look", "text": "look at the front door"}]}));
            let verdict = call("verdict", &json!({"act": "respond", "answer": "The front door stands open."}));
            [turns("the planner", &[plan]), turns("the executor", &[look, text("It is open.")]), turns("the replanner", &[verdict])].concat()
        }
        _ => [turns("owner", &[call("transfer_to_helper", &task), conclusion(8)]), turns("helper", &[look, text("It is open.")])].concat(),
    }
}

async fn run(mode: &str, mock: &Mock, api: Api) -> RunResult {
    runner(mode, mock.model(api)).run("Is the front door open?").await.expect("it comes to rest")
}

fn failures(result: &RunResult) -> usize {
    result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::ModelFailed { .. })).count()
}

#[tokio::test]
async fn every_mode_comes_to_its_answer() {
    for mode in MODES {
        let mock = Mock::play(&script(mode).into());
        for api in APIS {
            let result = run(mode, &mock, api).await;
            assert_eq!(result.text(), Some("The front door stands open."), "{mode} {api:?}: {}", result.log());
            assert_eq!((result.status(), result.reason()), (Status::Completed, Reason::Verified), "{mode} {api:?}");
            assert_eq!(failures(&result), 0, "{mode} {api:?}");
            let used = result.run.ledger().totals().usage;
            assert!(used.input_tokens > 0 && used.output_tokens > 0 && used.cost_micros > 0, "{mode} {api:?}: {used:?}");
        }
    }
}

#[tokio::test]
async fn a_fault_that_passes_is_recorded_and_the_mode_goes_on() {
    for mode in MODES {
        let mut fixtures = vec![json!({
            "match": {"userMessage": "front door", "sequenceIndex": 0},
            "response": {"error": {"message": "overloaded", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1},
        })];
        fixtures.extend(script(mode));
        for api in APIS {
            let mock = Mock::play(&fixtures.clone().into());
            let result = run(mode, &mock, api).await;
            assert_eq!(result.text(), Some("The front door stands open."), "{mode} {api:?}: {}", result.log());
            assert_eq!(failures(&result), 1, "{mode} {api:?}");
        }
    }
}

#[tokio::test]
async fn no_fault_becomes_an_answer_in_any_mode() {
    for mode in MODES {
        for (flag, _) in CHAOS {
            let mock = Mock::chaos(&script(mode).into(), flag);
            for api in APIS {
                refused(&run(mode, &mock, api).await, 3, &format!("{mode} {flag} {api:?}"));
            }
        }
        let denied =
            json!([{"match": {"userMessage": "front"}, "response": {"error": {"message": "no", "type": "authentication_error"}, "status": 401}}]);
        let mock = Mock::play(&denied);
        for api in APIS {
            refused(&run(mode, &mock, api).await, 1, &format!("{mode} 401 {api:?}"));
        }
    }
}

/// Text that had come before a stream was cut is in the log as partial, and nowhere else.
#[tokio::test]
async fn half_an_answer_is_no_answer_in_any_mode() {
    for mode in MODES {
        let cut = json!([{
            "match": {"userMessage": "front"}, "response": {"content": "The front door stands open, I am sure of it."},
            "chunkSize": 10, "latency": 5, "truncateAfterChunks": 5,
        }]);
        let mock = Mock::play(&cut);
        for api in APIS {
            let result = run(mode, &mock, api).await;
            refused(&result, 3, &format!("{mode} cut {api:?}"));
            let partial = |event: &Event| matches!(event, Event::ModelFailed { partial: Some(text), .. } if text.starts_with("The front"));
            assert!(result.run.ledger().log().iter().any(|r| partial(&r.event)), "{mode} {api:?}: {}", result.log());
        }
    }
}

fn refused(result: &RunResult, attempts: usize, what: &str) {
    assert_eq!((result.status(), result.reason()), (Status::Failed, Reason::ProviderError), "{what}: {}", result.log());
    assert_eq!(failures(result), attempts, "{what}");
    assert!(result.final_response.is_none() && result.candidate_response.is_none(), "{what}");
}
