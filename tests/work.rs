//! What agents are given of each other's work, how often they are asked, and what a budget of nothing is.

use crate::driver::turns;
use countersign::testing::ScriptedModel;
use countersign::transcript::{Message, message};
use countersign::*;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A runner over a script, with a note of who was asked what.
type Asked = Arc<Mutex<Vec<(String, String)>>>;

fn noted(script: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> (impl Model, Asked) {
    let asked = Asked::default();
    let notes = asked.clone();
    let model = ScriptedModel(move |r: &ModelRequest| {
        let said = |m: Message<'_>| match m {
            Message::User(text) => text.into_owned(),
            Message::Assistant { text, .. } => text.to_owned(),
            Message::Result { text, .. } => text,
        };
        let shown: Vec<String> = r.transcript.iter().filter_map(message).map(said).collect();
        notes.lock().unwrap().push((r.agent.name.to_string(), shown.join("\n")));
        script(r)
    });
    (model, asked)
}

fn asked(asked: &Asked, agent: &str) -> Vec<String> {
    asked.lock().unwrap().iter().filter(|(name, _)| name == agent).map(|(_, shown)| shown.clone()).collect()
}

fn call(name: &str, args: &serde_json::Value) -> ModelReply {
    ModelReply::call(name, args.to_string())
}

fn limited(limits: Limits) -> Policy {
    Policy { limits, ..Policy::default() }
}

/// A deep run: `main` hands work to `helper`, then answers by its script.
fn deep(script: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static, helper: Agent, policy: Policy) -> (Runner, Asked) {
    let (model, asked) = noted(script);
    let main = Agent::new("main", "").tool(ToolSpec::delegate("ask_helper", "helper")).tool(ToolSpec::conclude());
    let flood = crate::driver::tool("flood", Declared::run(Effect::Read));
    let long = FnTool::plain("long", "Says much.", Declared::run(Effect::Read), |n: usize| Ok("x".repeat(n)));
    let (main, helper) = (main.tool(long.spec()), helper.tool(long.spec()));
    let runner = Runner::builder(Single::default(), model).agent(main).agent(helper).tool(flood).tool(long).policy(policy).build().unwrap();
    (runner, asked)
}

fn delegates(r: &ModelRequest) -> Option<ModelReply> {
    (&*r.agent.name == "main" && turns(r) == 0).then(|| call("ask_helper", &json!({"task": "help"})))
}

fn ended(result: &RunResult) -> Vec<(Outcome, String)> {
    let ended = |event: &Event| match event {
        Event::ActivationEnded { outcome, text, .. } => Some((*outcome, text.to_string())),
        _ => None,
    };
    result.run.ledger().log().iter().filter_map(|r| ended(&r.event)).collect()
}

fn planned(script: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static, policy: Policy) -> (Runner, Asked) {
    let (model, asked) = noted(script);
    let agents = [PlanExecute::planner(""), PlanExecute::replanner(""), Agent::new("executor", "")];
    let builder = agents.into_iter().fold(Runner::builder(PlanExecute, model), RunnerBuilder::agent);
    (builder.policy(policy).build().unwrap(), asked)
}

fn plan(r: &ModelRequest) -> Option<ModelReply> {
    (&*r.agent.name == "planner").then(|| call("plan", &json!({"steps": [{"id": "a", "text": "nothing needs to be done here"}]})))
}

/// An empty revision, one that forgets a step, and one that is no verdict count like those that were made.
#[tokio::test]
async fn failed_and_empty_revisions_count_against_the_limit() {
    let misfits = [json!({"act": "revise"}), json!({"act": "revise", "steps": [{"id": "b", "text": "more"}]}), json!({"act": "sing"})];
    let script = move |r: &ModelRequest| match (plan(r), &*r.agent.name) {
        (Some(plan), _) => plan,
        (None, "replanner") => call("verdict", &misfits[turns(r) % 3]),
        _ => ModelReply { finish: Finish::Length, ..ModelReply::text("half") },
    };
    let (runner, asked) = planned(script, limited(Limits { replans: 2, ..Limits::default() }));
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.status(), result.reason()), (Status::Blocked, Reason::ReplanLimit), "{}", result.log());
    assert_eq!(self::asked(&asked, "replanner").len(), 3, "as often as it may revise, and not once more");
    // One that did not fit and one that did are two.
    let script = |r: &ModelRequest| match (plan(r), &*r.agent.name, turns(r)) {
        (Some(plan), ..) => plan,
        (None, "replanner", 0) => call("verdict", &json!({"act": "revise"})),
        (None, "replanner", _) => {
            let steps = json!([{"id": format!("s{}", r.activation), "text": "more"}]);
            call("verdict", &json!({"act": "revise", "steps": steps, "dropped": [{"id": "a", "why": "no need"}]}))
        }
        _ => ModelReply::text("done"),
    };
    let (runner, _) = planned(script, limited(Limits { replans: 1, ..Limits::default() }));
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.status(), result.reason()), (Status::Blocked, Reason::ReplanLimit), "{}", result.log());
    assert_eq!(result.run.ledger().totals().plans, 1, "the revision that would have been the second is not made");
}

/// Two nudges to whoever concluded ask nobody else again.
#[tokio::test]
async fn what_was_asked_once_is_not_asked_again_by_a_nudge() {
    let script = |r: &ModelRequest| match (delegates(r), &*r.agent.name) {
        (Some(reply), _) => reply,
        (None, "main") if turns(r) == 1 => ModelReply::text(""),
        (None, "main") if turns(r) == 2 => ModelReply { finish: Finish::Length, ..ModelReply::text("It is") },
        _ => ModelReply::text("It is done."),
    };
    let (runner, asked) = deep(script, Agent::new("helper", ""), Policy::default());
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.text(), self::asked(&asked, "helper").len()), (Some("It is done."), 1), "{}", result.log());
    let nudges = result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::Nudged { .. })).count();
    assert_eq!((nudges, result.run.ledger().activations().len()), (2, 3));
}

#[tokio::test]
async fn a_budget_of_zero_is_none() {
    let script = |r: &ModelRequest| delegates(r).unwrap_or_else(|| ModelReply::text(""));
    let zero = |limits: Limits| deep(script, Agent::new("helper", ""), limited(limits));
    let helped = async |(runner, asked): (Runner, Asked)| (runner.run("task").await.unwrap().reason(), self::asked(&asked, "helper").len());
    assert_eq!(helped(zero(Limits { tool_calls: 0, ..Limits::default() })).await, (Reason::BudgetExhausted, 0));
    assert_eq!(helped(zero(Limits { depth: 0, ..Limits::default() })).await.1, 0);
    assert_eq!(helped(zero(Limits { continuations: 0, ..Limits::default() })).await.0, Reason::EmptyResponse);
    // A sub-agent is asked nothing once the run has no turn left, nor where it has none of its own.
    assert_eq!(helped(zero(Limits { turns: 1, ..Limits::default() })).await, (Reason::TurnLimit, 0));
    assert_eq!(helped(deep(script, Agent::new("helper", "").turns(0), Policy::default())).await.1, 0);
    let none = Policy { limits: Limits { turns: 0, ..Limits::default() }, ..Policy::default() };
    assert!(none.infeasible().is_some(), "and a run that could ask nobody is not begun");
}

#[tokio::test]
async fn one_limit_on_output_holds_for_all_agents_and_nothing_is_cut_twice() {
    let script = |r: &ModelRequest| match (&*r.agent.name, turns(r)) {
        ("main", 1) | ("helper", 0) => call("long", &json!(1_000)),
        ("main", 2) | ("helper", 1) => ModelReply::text("seen"),
        _ => delegates(r).unwrap(),
    };
    let (runner, asked) = deep(script, Agent::new("helper", ""), limited(Limits { tool_output_bytes: 100, ..Limits::default() }));
    let result = runner.run("task").await.unwrap();
    assert_eq!(result.text(), Some("seen"));
    for agent in ["main", "helper"] {
        let shown = self::asked(&asked, agent).pop().unwrap();
        assert!(shown.contains(&format!("{}\n[cut: 1000 bytes in all]", "x".repeat(100))) && !shown.contains(&"x".repeat(101)), "{agent}: {shown}");
        assert_eq!(shown.matches("[cut:").count(), 1);
    }
    for run in result.run.ledger().tool_runs().iter().filter(|run| run.child.is_none()) {
        let whole = runner.journal().kept(&result.decision.run_id, run.id).await.unwrap().unwrap();
        assert_eq!(whole.len(), 1_000, "the whole is kept, and is not the cut copy");
    }
}

/// There is no cut copy of what a sub-agent says, and so no reason to ask for it again.
#[tokio::test]
async fn a_long_result_of_a_sub_agent_reaches_its_owner_whole() {
    let script =
        |r: &ModelRequest| delegates(r).unwrap_or_else(|| ModelReply::text(if &*r.agent.name == "main" { "seen".into() } else { "y".repeat(5_000) }));
    let (runner, asked) = deep(script, Agent::new("helper", ""), limited(Limits { tool_output_bytes: 100, ..Limits::default() }));
    assert_eq!(runner.run("task").await.unwrap().text(), Some("seen"));
    assert!(self::asked(&asked, "main").pop().unwrap().contains(&"y".repeat(5_000)));
}

#[tokio::test]
async fn what_failed_is_shown_to_whoever_concludes() {
    let script = |r: &ModelRequest| match (plan(r), &*r.agent.name) {
        (Some(plan), _) => plan,
        (None, "replanner") => {
            call("verdict", &json!({"act": "respond", "answer": "It could not be done.", "blocked": [{"id": "a", "why": "cut short"}]}))
        }
        _ => ModelReply { finish: Finish::Length, ..ModelReply::text("half of it") },
    };
    let (runner, asked) = planned(script, Policy::default());
    runner.run("task").await.unwrap();
    let shown = self::asked(&asked, "replanner").pop().unwrap();
    assert!(shown.contains("was cut off: half of it"), "{shown}");
}

/// What is said beside a call, before it or in its echo is not what the call says.
#[tokio::test]
async fn an_answer_or_a_report_is_read_from_its_call() {
    let script = |r: &ModelRequest| match (delegates(r), &*r.agent.name) {
        (Some(reply), _) => reply,
        (None, "main") => {
            let Some(Event::ActivationEnded { .. }) = r.transcript.last().map(|e| &e.record.event) else { panic!("the result comes last") };
            let result = r.transcript.last().unwrap().node.0;
            let args = json!({"answer": "The real answer.", "dispositions": [{"result": result, "disposition": "adopted"}]});
            ModelReply { text: "Now I conclude.".into(), ..call("conclude", &args) }
        }
        _ => ModelReply { text: "Let me report.".into(), ..call("report", &json!({"summary": "The real report."})) },
    };
    let (runner, _) = deep(script, Agent::new("helper", "").tool(ToolSpec::report()), Policy::default());
    let result = runner.run("task").await.unwrap();
    assert_eq!(result.text(), Some("The real answer."), "{}", result.log());
    assert_eq!(ended(&result)[0], (Outcome::Completed, "The real report.".into()));
}

/// `noop` says that nothing is to be done; no phrase does, in prose or in a step.
#[tokio::test]
async fn no_phrase_says_that_nothing_is_to_be_done() {
    let (runner, asked) = planned(
        |r| match (plan(r), &*r.agent.name) {
            (Some(plan), _) => plan,
            (None, "replanner") => call("verdict", &json!({"act": "respond", "answer": "It was looked at."})),
            _ => ModelReply::text("There was something after all."),
        },
        Policy::default(),
    );
    assert_eq!(runner.run("task").await.unwrap().text(), Some("It was looked at."));
    assert_eq!(self::asked(&asked, "executor").len(), 1, "a step whose words say that it is none is carried out");
    let (runner, asked) = planned(|_| ModelReply::text("Nothing needs to be done."), Policy::default());
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.final_response.is_none(), self::asked(&asked, "replanner").len()), (true, 0), "{}", result.log());
}

#[tokio::test]
async fn a_sub_agent_that_is_cut_off_hands_back_what_it_has_as_partial() {
    let script = |r: &ModelRequest| match (delegates(r), &*r.agent.name) {
        (Some(reply), _) => reply,
        (None, "main") => ModelReply::text("One door was seen."),
        _ => ModelReply { text: "The front door is open; now the back door.".into(), ..call("long", &json!(1)) },
    };
    let (runner, asked) = deep(script, Agent::new("helper", "").turns(1), Policy::default());
    let result = runner.run("task").await.unwrap();
    assert_eq!(ended(&result)[0], (Outcome::CutOff, "The front door is open; now the back door.".into()), "{}", result.log());
    assert!(self::asked(&asked, "main").pop().unwrap().contains(", cut off] The front door is open"));
}

#[tokio::test]
async fn a_delegation_that_cannot_begin_is_a_failed_call() {
    let script = |r: &ModelRequest| match (&*r.agent.name, turns(r)) {
        ("main", 0) => call("ask_helper", &json!({"task": "  "})),
        ("main", 1) => call("ask_helper", &json!({})),
        _ => ModelReply::text("I did it myself."),
    };
    let (runner, asked) = deep(script, Agent::new("helper", ""), Policy::default());
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.text(), self::asked(&asked, "helper").len()), (Some("I did it myself."), 0));
    let failed = |run: &&countersign::ledger::ToolRun| run.state == RunState::Settled(Outcome::Failed);
    assert_eq!(result.run.ledger().tool_runs().iter().filter(failed).count(), 2);
}

#[tokio::test]
async fn words_that_a_limit_cut_are_no_answer() {
    let script = |_: &ModelRequest| ModelReply { finish: Finish::Length, ..ModelReply::text("[cut: 4096 tokens]") };
    let (runner, _) = deep(script, Agent::new("helper", ""), Policy::default());
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.status(), result.final_response.is_none()), (Status::Blocked, true), "{}", result.log());
}
