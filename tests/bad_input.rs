//! Bad input: each ends in a typed error or a recorded event, the run goes on or ends as it should, nothing is
//! lost, and nothing panics. What a command prints in bytes that are no text is in `real_input`.

use crate::driver::{base, replay_equal, spec, turns};
use countersign::agent::AgentsError;
use countersign::testing::{Fault, FaultyModel, ScriptedModel};
use countersign::*;
use std::sync::Arc;

fn read() -> ToolSpec {
    spec("read", Declared::run(Effect::Read))
}

/// Runs the single mode with a script and the `read` tool.
async fn single(script: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> RunResult {
    let runner = base(Single::default(), ScriptedModel(script)).agent(Agent::new("main", "").tool(read())).build().unwrap();
    let result = runner.run("task").await.unwrap();
    replay_equal(&result);
    result
}

/// What came of every call, in order: outcome and text.
fn settled(result: &RunResult) -> Vec<(Outcome, String)> {
    let log = result.run.ledger().log().iter();
    log.filter_map(|r| match &r.event {
        Event::ToolSettled { outcome, text, .. } => Some((*outcome, text.to_string())),
        _ => None,
    })
    .collect()
}

#[test]
fn a_malformed_policy_is_refused_with_its_place() {
    let toml = Policy::from_toml("require_execution_evidence = true\nnudges = 2\n").unwrap_err().to_string();
    assert!(toml.contains("TOML") && toml.contains("nudges") && toml.contains("line 2"), "{toml}");
    let json = Policy::from_json(r#"{"limits": {"turns": "many"}}"#).unwrap_err().to_string();
    assert!(json.contains("JSON") && json.contains("turns") | json.contains("u32"), "{json}");
    assert!(Policy::profile("lenient").unwrap_err().to_string().contains("security_testing"));
}

#[test]
fn what_does_not_fit_together_is_refused_before_a_token_is_spent() {
    let silent = || ScriptedModel(|_: &ModelRequest| ModelReply::text("never asked"));
    let built = |builder: RunnerBuilder| builder.build().err().map(|e| e.to_string()).unwrap_or_default();
    let twice = base(Single::default(), silent()).agent(Agent::new("main", "").tool(read()).tool(read()));
    assert_eq!(built(twice), "agent `main` has two tools called `read`; rename one");
    let nobody = base(Single::default(), silent()).agent(Agent::new("main", "").tool(ToolSpec::delegate("ask", "helper")));
    assert!(built(nobody).contains("no such agent"));
    let unowned = base(Single::default(), silent()).agent(Agent::new("other", ""));
    assert!(built(unowned).contains("concludes by agent `main`"));
    let alone = base(Supervisor::default(), silent()).agent(Agent::new("supervisor", ""));
    assert!(built(alone).contains("no specialist"));
    let unprovable = base(Single::default(), silent()).agent(Agent::new("main", "")).policy(Policy::execution());
    assert!(built(unprovable).contains("no agent has a tool whose result counts"));
    let unrun = base(Single::default(), silent()).agent(Agent::new("main", "").tool(spec("fly", Declared::run(Effect::Read))));
    assert!(built(unrun).contains("nothing runs it"));
    let both = Agents::new().with(Agent::new("main", "")).with(Agent::new("main", ""));
    assert_eq!(both.check(&Single::default(), &Policy::default()), Err(AgentsError::DuplicateAgent("main".into())));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_a_failed_call_that_says_so() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Path {
        path: String,
    }
    let declared = Declared::run(Effect::Read);
    let open = || FnTool::plain("open", "opens", declared, |p: Path| Ok(p.path));
    let model = ScriptedModel(|r: &ModelRequest| match turns(r) {
        0 => ModelReply::call("open", r#"{"file": 7}"#),
        1 => ModelReply::call("open", "not JSON at all"),
        2 => ModelReply::call("open", r#"{"path": "a"}"#),
        _ => ModelReply::text("opened"),
    });
    let runner =
        base(Single::default(), model).tool(open()).agent(Agent::new("main", "").tool(open().spec())).policy(Policy::execution()).build().unwrap();
    let result = runner.run("task").await.unwrap();
    let calls = settled(&result);
    assert!(calls[0].0 == Outcome::Failed && calls[0].1.contains("missing field `path`"), "{calls:?}");
    assert!(calls[1].0 == Outcome::Failed && calls[1].1.contains("do not fit"), "{calls:?}");
    assert_eq!((result.text(), result.reason()), (Some("opened"), Reason::Verified));
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_not_there_is_told_what_there_is() {
    let result = single(|r| if turns(r) == 0 { ModelReply::call("raed", "{}") } else { ModelReply::text("so be it") }).await;
    assert_eq!(settled(&result), [(Outcome::Failed, "there is no tool `raed`; there are: read".to_owned())]);
    assert_eq!(result.text(), Some("so be it"));
}

#[tokio::test]
async fn a_model_that_says_nothing_is_nudged_and_then_refused() {
    let result = single(|_| ModelReply::default()).await;
    assert_eq!((result.text(), result.status(), result.reason()), (None, Status::Blocked, Reason::NoProgress));
    assert_eq!(result.decision.finding("candidate_text").map(|f| &*f.message), Some("the answer is blank"));
}

#[tokio::test]
async fn text_beside_calls_is_not_the_answer() {
    let result = single(|r| match turns(r) {
        0 => ModelReply { text: "It is done.".into(), ..ModelReply::call("read", "1") },
        _ => ModelReply::text("Now it is."),
    })
    .await;
    assert_eq!(result.text(), Some("Now it is."));
    assert_eq!(settled(&result).len(), 1);
}

#[tokio::test]
async fn repeated_and_blank_call_ids_lose_no_result() {
    let call = |id: &str, args: &str| ToolCall { id: Some(id.into()), name: "read".into(), args: args.into() };
    let result = single(move |r| match turns(r) {
        0 => ModelReply {
            calls: vec![call("x", "1"), call("x", "2"), call("", "3"), call(" ", "4")],
            finish: Finish::ToolCalls,
            ..ModelReply::default()
        },
        1 => ModelReply { calls: vec![call("x", "5")], finish: Finish::ToolCalls, ..ModelReply::default() },
        _ => ModelReply::text("all five"),
    })
    .await;
    let texts: Vec<String> = settled(&result).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["read(1)", "read(2)", "read(3)", "read(4)", "read(5)"]);
    assert_eq!(result.text(), Some("all five"));
}

#[tokio::test]
async fn two_waiting_calls_of_one_id_are_not_run_on_a_guess() {
    let pay = || spec("pay", Declared { approval: true, ..Declared::run(Effect::Write) });
    let call = |args: &str| ToolCall { id: Some("x".into()), name: "pay".into(), args: args.into() };
    let model =
        ScriptedModel(move |_: &ModelRequest| ModelReply { calls: vec![call("1"), call("2")], finish: Finish::ToolCalls, ..ModelReply::default() });
    let runner = base(Single::default(), model).agent(Agent::new("main", "").tool(pay())).build().unwrap();
    let result = runner.run("task").await.unwrap();
    assert_eq!((result.status(), result.reason(), result.decision.next), (Status::Blocked, Reason::AmbiguousIds, Next::Stop));
    assert!(settled(&result).is_empty());
}

#[tokio::test]
async fn ten_megabytes_of_output_are_cut_with_a_mark_and_kept_whole() {
    let flood = || FnTool::plain("flood", "floods", Declared::run(Effect::Read), |_: serde_json::Value| Ok("ä".repeat(5_000_000)));
    let model = ScriptedModel(|r: &ModelRequest| if turns(r) == 0 { ModelReply::call("flood", "{}") } else { ModelReply::text("seen") });
    let runner = base(Single::default(), model).tool(flood()).agent(Agent::new("main", "").tool(flood().spec())).build().unwrap();
    let result = runner.run("task").await.unwrap();
    let cut = result.run.ledger().log().iter().find_map(|r| match &r.event {
        Event::ToolSettled { call, cut: Some(cut), text, .. } => Some((*call, cut.clone(), text.len())),
        _ => None,
    });
    let (call, cut, shown) = cut.unwrap();
    assert_eq!((cut.size, cut.marked, shown), (10_000_000, true, 64_000));
    let whole = runner.journal().kept(&result.decision.run_id, call).await.unwrap().unwrap();
    assert_eq!(whole.len(), 10_000_000);
    assert_eq!(result.text(), Some("seen"));
}

struct Clash;

impl Mode for Clash {
    fn name(&self) -> &str {
        "clash"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("main")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let first = work.ask("main", "question", "one")?;
        let second = work.ask("main", "question", "two")?;
        work.answer(if first.ok() { second } else { first })
    }
}

struct Panics;

impl Mode for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("main")
    }

    fn advance(&self, _: &mut Work<'_>) -> Flow<Answer> {
        panic!("the mode's own fault")
    }
}

#[tokio::test]
async fn a_mode_whose_keys_clash_or_that_panics_fails_the_run_and_says_why() {
    let model = || ScriptedModel(|_: &ModelRequest| ModelReply::text("said"));
    let clash = base(Clash, model()).agent(Agent::new("main", "")).build().unwrap().run("task").await.unwrap();
    assert_eq!((clash.status(), clash.reason()), (Status::Failed, Reason::ModeError));
    assert!(clash.decision.finding("normal_stop").unwrap().message.contains("key `question` is asked twice"));
    let panics = base(Panics, model()).agent(Agent::new("main", "")).build().unwrap().run("task").await.unwrap();
    assert_eq!((panics.status(), panics.reason()), (Status::Failed, Reason::ModeError));
    assert!(panics.decision.finding("normal_stop").unwrap().message.contains("the mode's own fault"));
    replay_equal(&panics);
}

#[tokio::test]
async fn a_panicking_tool_is_a_failed_call() {
    let bomb =
        || FnTool::plain("bomb", "panics", Declared::run(Effect::Read), |_: serde_json::Value| -> Result<String, ToolError> { panic!("boom") });
    let model = ScriptedModel(|r: &ModelRequest| if turns(r) == 0 { ModelReply::call("bomb", "{}") } else { ModelReply::text("it broke") });
    let runner = base(Single::default(), model).tool(bomb()).agent(Agent::new("main", "").tool(bomb().spec())).build().unwrap();
    let result = runner.run("task").await.unwrap();
    assert_eq!(settled(&result), [(Outcome::Failed, "the tool panicked: boom".to_owned())]);
    assert_eq!(result.text(), Some("it broke"));
}

#[tokio::test]
async fn a_panicking_model_is_a_provider_error() {
    let model = FaultyModel::new(ScriptedModel(|_: &ModelRequest| ModelReply::text("fine")), [(1, Fault::Panic)]);
    let runner = base(Single::default(), model).agent(Agent::new("main", "")).build().unwrap();
    let result = runner.run("task").await.unwrap();
    assert_eq!(result.text(), Some("fine"), "it is tried again");
    assert!(result.log().contains("model_failed"));
}

struct Broken(bool);

impl Check for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn examine(&self, _: &View<'_>) -> Result<Option<Finding>, String> {
        if self.0 { panic!("no verdict") } else { Err("the oracle is out".into()) }
    }
}

#[tokio::test]
async fn a_check_that_errs_or_panics_is_a_finding_never_a_pass() {
    for (panics, says) in [(true, "it panicked"), (false, "the oracle is out")] {
        let model = ScriptedModel(|_: &ModelRequest| ModelReply::text("an answer"));
        let runner = base(Single::default(), model).check(Broken(panics)).agent(Agent::new("main", "")).build().unwrap();
        let result = runner.run("task").await.unwrap();
        assert_eq!((result.text(), result.status()), (None, Status::Blocked));
        assert!(result.decision.finding("broken").unwrap().message.contains(says));
    }
}

struct Anything;

impl Check for Anything {
    fn name(&self) -> &str {
        "anything"
    }

    fn examine(&self, _: &View<'_>) -> Result<Option<Finding>, String> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_log_whose_checks_are_not_here_is_shown_as_recorded_and_makes_no_final() {
    let model = ScriptedModel(|_: &ModelRequest| ModelReply::text("an answer"));
    let runner = base(Single::default(), model).check(Anything).agent(Agent::new("main", "")).build().unwrap();
    let result = runner.run("task").await.unwrap();
    assert_eq!(result.text(), Some("an answer"));
    let elsewhere = Run::read(Arc::new(Gate::default()), &result.log()).unwrap();
    assert!(elsewhere.final_answer().is_none(), "nobody here can tell whether `anything` held");
    let prefix: Vec<_> = result.run.ledger().log().iter().take_while(|r| !matches!(r.event, Event::Decided { .. })).cloned().collect();
    let asked_anew = Run::replay(Arc::new(Gate::default()), prefix).unwrap().decide();
    assert!(asked_anew.finding("anything").unwrap().message.contains("not available here"));
}

#[tokio::test]
async fn a_policy_that_was_changed_in_the_log_is_noticed() {
    let log = single(|_| ModelReply::text("an answer")).await.log();
    let forged = log.replacen("\"require_execution_evidence\":false", "\"require_execution_evidence\":true", 1);
    assert_ne!(log, forged);
    let why = Run::read(Arc::new(Gate::default()), &forged).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(why.contains("was changed after it was written"), "{why}");
}

#[tokio::test]
async fn an_unknown_run_and_one_that_has_ended_are_told_apart() {
    let runner = base(Single::default(), ScriptedModel(|_: &ModelRequest| ModelReply::text("done"))).agent(Agent::new("main", "")).build().unwrap();
    assert_eq!(runner.resume("nobody", vec![], None).await.err().map(|e| e.to_string()).unwrap(), "no run is called `nobody`");
    runner.start("r", "task").unwrap().result().await.unwrap();
    assert_eq!(runner.resume("r", vec![], None).await.err().map(|e| e.to_string()).unwrap(), "run `r` has ended; start a new one");
}

#[tokio::test]
async fn two_drivers_of_one_run_cannot_both_write() {
    let runner = base(Single::default(), ScriptedModel(|_: &ModelRequest| ModelReply::text("done"))).agent(Agent::new("main", "")).build().unwrap();
    let (first, second) = (runner.start("r", "task").unwrap(), runner.start("r", "task").unwrap());
    let ended = [first.result().await.map(drop).map_err(|e| e.to_string()), second.result().await.map(drop).map_err(|e| e.to_string())];
    assert_eq!(ended.iter().filter(|e| e.is_ok()).count(), 1);
    assert!(ended.iter().any(|e| e.as_ref().is_err_and(|e| e.contains("another driver has written to it"))), "{ended:?}");
}
