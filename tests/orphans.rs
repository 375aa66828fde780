//! Work that a process leaves behind, or that fails beside other work: nothing is forgotten, cancelled or done twice.

use crate::driver::{spec, turns};
use countersign::live::Command as Say;
use countersign::testing::ScriptedModel;
use countersign::*;
use std::sync::{Arc, Mutex};

type Ran = Arc<Mutex<Vec<String>>>;

/// A tool that says what it did, and fails for `bad`.
fn works(name: &'static str, declared: Declared, ran: &Ran) -> FnTool<countersign::tool::Run> {
    let ran = ran.clone();
    FnTool::plain(name, "Works.", declared, move |what: serde_json::Value| {
        ran.lock().unwrap().push(format!("{name} {what}"));
        if what == "bad" { Err(ToolError::Failed("it did not work".into())) } else { Ok(format!("{name} did {what}")) }
    })
}

fn write() -> Declared {
    Declared::run(Effect::Write)
}

fn build() -> Declared {
    Declared { background: true, ..write() }
}

/// One agent that writes and builds, told by a script.
fn one(script: fn(&ModelRequest) -> ModelReply, ran: &Ran) -> Runner {
    let (writes, builds) = (works("write", write(), ran), works("build", build(), ran));
    let agent = Agent::new("main", "").tool(writes.spec()).tool(builds.spec());
    let builder = Runner::builder(Single::default(), ScriptedModel(script)).agent(agent).tool(writes).tool(builds);
    builder.policy(Policy::execution()).clock(Arc::new(|| 0)).build().unwrap()
}

/// The run taken up from the first `cut` events of another.
async fn after_a_crash(runner: &Runner, log: &[Arc<Record>], cut: usize, say: Vec<Say>) -> RunResult {
    let journal = Arc::new(MemoryJournal::new());
    let id = match &log[0].event {
        Event::RunStarted(start) => start.run.clone(),
        _ => unreachable!("a log begins with its start"),
    };
    journal.append(Batch::new(&id, 0, &log[..cut])).await.unwrap();
    runner.on(journal).resume(&id, say, None).await.unwrap().result().await.unwrap()
}

fn at(log: &[Arc<Record>], fits: impl Fn(&Event) -> bool) -> usize {
    log.iter().position(|r| fits(&r.event)).expect("there is such an event") + 1
}

fn three_at_once(r: &ModelRequest) -> ModelReply {
    if turns(r) == 0 {
        ModelReply::call("write", "\"a\"").and_call("write", "\"b\"").and_call("write", "\"bad\"")
    } else {
        ModelReply::text("two of three were written")
    }
}

#[tokio::test]
async fn a_failing_sibling_cancels_nobody_and_every_call_has_one_result() {
    let ran = Ran::default();
    let result = one(three_at_once, &ran).run("t").await.unwrap();
    assert_eq!((result.reason(), ran.lock().unwrap().len()), (Reason::VerifiedPartial, 3));
    let outcomes: Vec<_> = result.run.ledger().tool_runs().iter().map(|r| r.state).collect();
    let settled = RunState::Settled;
    assert_eq!(outcomes, [settled(Outcome::Completed), settled(Outcome::Completed), settled(Outcome::Failed)]);
}

#[tokio::test]
async fn results_that_were_in_before_the_crash_are_not_made_again() {
    let ran = Ran::default();
    let whole = one(three_at_once, &ran).run("t").await.unwrap();
    let log = whole.run.ledger().log();
    let first = at(log, |e| matches!(e, Event::ToolSettled { .. }));
    for cut in first..log.len() {
        ran.lock().unwrap().clear();
        let again = after_a_crash(&one(three_at_once, &ran), log, cut, vec![]).await;
        let settled = log[..cut].iter().filter(|r| matches!(r.event, Event::ToolSettled { .. })).count();
        // Those that had begun and have no result are lost: nobody runs them again on a guess.
        assert!(ran.lock().unwrap().is_empty(), "{:?} ran again", ran.lock().unwrap());
        let kept = again.run.ledger().tool_runs().iter().filter(|r| matches!(r.state, RunState::Settled(_))).count();
        assert_eq!(kept, settled);
        assert_eq!(again.reason(), if settled == 3 { Reason::VerifiedPartial } else { Reason::UnknownOutcome });
    }
}

fn builds(r: &ModelRequest) -> ModelReply {
    match turns(r) {
        0 => ModelReply::call("build", "\"it\""),
        n => ModelReply::text(format!("built, as far as I know after {n} turns")),
    }
}

#[tokio::test]
async fn a_job_whose_process_died_is_marked_and_a_resume_asks_what_became_of_it() {
    let ran = Ran::default();
    let whole = one(builds, &ran).run("t").await.unwrap();
    let log = whole.run.ledger().log();
    let begun = at(log, |e| matches!(e, Event::BackgroundStarted { .. }));
    ran.lock().unwrap().clear();
    let crashed = after_a_crash(&one(builds, &ran), log, begun, vec![]).await;
    assert_eq!((crashed.status(), crashed.reason()), (Status::Blocked, Reason::UnknownOutcome));
    let marked = |r: &Arc<Record>| matches!(r.event, Event::BackgroundEnded { outcome: Outcome::Lost, .. });
    assert_eq!(crashed.run.ledger().log().iter().filter(|r| marked(r)).count(), 1);
    assert!(ran.lock().unwrap().is_empty());
    // Somebody says: again. It goes on as the job that it was, once, and its end wakes its owner.
    let call = crashed.run.ledger().open().lost.iter().next().unwrap();
    let say = vec![Say::Resolve { call, outcome: None, text: "".into(), by: "ann".into() }];
    let log = crashed.run.ledger().log();
    let again = after_a_crash(&one(builds, &ran), log, log.len(), say).await;
    assert_eq!((again.reason(), &*ran.lock().unwrap()), (Reason::Verified, &vec!["build \"it\"".to_owned()]));
    assert_eq!(again.run.ledger().tool_runs().len(), 1);
}

/// A main agent whose helper begins a job and ends before it.
fn team(ran: &Ran) -> Runner {
    fn script(r: &ModelRequest) -> ModelReply {
        let given: Vec<u32> = r.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. })).map(|e| e.node.0).collect();
        match (&*r.agent.name, turns(r)) {
            ("helper", 0) => ModelReply::call("build", "\"it\""),
            ("helper", n) => ModelReply::text(format!("it is being built, or built, after {n} turns")),
            (_, 0) => ModelReply::call("task", r#"{"task":"build it"}"#),
            _ => {
                let all: Vec<String> = given.iter().map(|n| format!(r#"{{"result":{n},"disposition":"adopted"}}"#)).collect();
                ModelReply::call("conclude", format!(r#"{{"answer":"It is built.","dispositions":[{}]}}"#, all.join(",")))
            }
        }
    }
    let builds = works("build", build(), ran);
    let main = Agent::new("main", "").tool(ToolSpec::delegate("task", "helper")).tool(ToolSpec::conclude());
    let builder = Runner::builder(Deep::default(), ScriptedModel(script)).agent(main).agent(Agent::new("helper", "").tool(builds.spec()));
    builder.tool(builds).policy(Policy::conversation()).clock(Arc::new(|| 0)).build().unwrap()
}

#[tokio::test]
async fn a_sub_agent_and_its_job_are_taken_over_by_a_resume_and_never_forgotten() {
    let ran = Ran::default();
    let whole = team(&ran).run("t").await.unwrap();
    assert!(whole.final_response.is_some(), "{:?}", whole.decision);
    let log = whole.run.ledger().log();
    for cut in 1..log.len() {
        let again = after_a_crash(&team(&ran), log, cut, vec![]).await;
        let ledger = again.run.ledger();
        let open = ledger.activations().iter().filter(|a| a.open && a.id != ROOT).count();
        let lost = !ledger.open().lost.is_empty();
        match again.final_response {
            Some(_) => assert!(open == 0 && ledger.open().jobs.is_empty(), "final after event {cut} with work open"),
            // The job was under way: whoever takes the run up says that nobody knows, and asks.
            None => assert!(lost && again.reason() == Reason::UnknownOutcome, "after event {cut}: {:?}", again.decision),
        }
    }
}

#[tokio::test]
async fn a_specialist_that_a_job_wakes_after_its_transfer_is_waited_for_and_heard() {
    let ran = Ran::default();
    let slow = FnTool::new("build", "Builds.", build(), {
        let ran = ran.clone();
        move |_: serde_json::Value| {
            let ran = ran.clone();
            async move {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                ran.lock().unwrap().push("built".into());
                Ok::<_, ToolError>("built".to_owned())
            }
        }
    });
    let script = |r: &ModelRequest| {
        let given: Vec<_> = r.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. })).collect();
        match (&*r.agent.name, turns(r)) {
            ("dba", 0) => ModelReply::call("build", "1"),
            ("dba", 1) => ModelReply::text("begun"),
            ("dba", _) => ModelReply::text("done"),
            (_, 0) => ModelReply::call("transfer_to_dba", r#"{"task":"build"}"#),
            _ => {
                let all: Vec<String> = given.iter().map(|e| format!(r#"{{"result":{},"disposition":"adopted"}}"#, e.node.0)).collect();
                ModelReply::call("conclude", format!(r#"{{"answer":"heard {}","dispositions":[{}]}}"#, given.len(), all.join(",")))
            }
        }
    };
    let boss = Agent::new("supervisor", "").tool(ToolSpec::transfer("dba")).tool(ToolSpec::conclude());
    let builder = Runner::builder(Supervisor::default(), ScriptedModel(script)).agent(boss).agent(Agent::new("dba", "").tool(slow.spec()));
    tokio::time::pause();
    let result = builder.tool(slow).build().unwrap().run("t").await.unwrap();
    assert_eq!(result.text(), Some("heard 2"), "{:?}", result.decision);
    let returned = result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::Returned { .. })).count();
    assert_eq!(returned, 1, "a transfer comes back once; what comes later is input");
}

#[tokio::test]
async fn a_step_that_was_done_before_the_crash_is_not_done_again() {
    fn script(r: &ModelRequest) -> ModelReply {
        match (&*r.agent.name, turns(r)) {
            ("planner", _) => ModelReply::call("plan", r#"{"steps":[{"id":"a","text":"do a"},{"id":"b","text":"do b","needs":["a"]}]}"#),
            ("executor", 0) => ModelReply::call("write", format!("{:?}", transcript::question(&r.transcript).contains("step `a`"))),
            ("executor", _) => ModelReply::text("did it"),
            _ => ModelReply::call("verdict", r#"{"act":"respond","answer":"both done"}"#),
        }
    }
    let mk = |ran: &Ran| {
        let writes = works("write", write(), ran);
        let builder = Runner::builder(PlanExecute, ScriptedModel(script)).agent(PlanExecute::planner("")).agent(PlanExecute::replanner(""));
        let builder = builder.agent(Agent::new("executor", "").tool(spec("write", write()))).tool(writes);
        builder.policy(Policy::execution()).clock(Arc::new(|| 0)).build().unwrap()
    };
    let ran = Ran::default();
    let whole = mk(&ran).run("t").await.unwrap();
    assert_eq!((whole.text(), ran.lock().unwrap().len()), (Some("both done"), 2));
    let log = whole.run.ledger().log();
    for cut in at(log, |e| matches!(e, Event::ActivationEnded { activation, .. } if activation.0 > 2))..log.len() {
        ran.lock().unwrap().clear();
        let again = after_a_crash(&mk(&ran), log, cut, vec![]).await;
        assert!(!ran.lock().unwrap().iter().any(|done| done == "write true"), "step `a` was done again after event {cut}");
        assert!(again.text() == Some("both done") || again.reason() == Reason::UnknownOutcome, "{:?}", again.decision);
    }
}

fn builds_and_pays(r: &ModelRequest) -> ModelReply {
    if turns(r) == 0 { ModelReply::call("build", "\"it\"").and_call("pay", "1") } else { ModelReply::text("both were dealt with") }
}

#[tokio::test]
async fn a_lost_job_that_is_resolved_on_resume_forgets_no_call_that_waits_beside_it() {
    let ran = Ran::default();
    let mk = || {
        let (builds, pays) = (works("build", build(), &ran), works("pay", Declared { approval: true, ..write() }, &ran));
        let agent = Agent::new("main", "").tool(builds.spec()).tool(pays.spec());
        let builder = Runner::builder(Single::default(), ScriptedModel(builds_and_pays)).agent(agent).tool(builds).tool(pays);
        builder.policy(Policy::execution()).clock(Arc::new(|| 0)).build().unwrap()
    };
    let whole = mk().run("t").await.unwrap();
    let log = whole.run.ledger().log();
    let begun = at(log, |e| matches!(e, Event::ApprovalRequested { .. }));
    ran.lock().unwrap().clear();
    for outcome in [None, Some(Outcome::Completed), Some(Outcome::Failed)] {
        ran.lock().unwrap().clear();
        let parked = after_a_crash(&mk(), log, begun, vec![]).await;
        let approval = parked.run.ledger().open().approvals.iter().next().expect("the payment waits");
        let call = parked.run.ledger().open().lost.iter().next().expect("the job is lost");
        let log = parked.run.ledger().log();
        let resolved = after_a_crash(&mk(), log, log.len(), vec![Say::Resolve { call, outcome, text: "looked".into(), by: "ann".into() }]).await;
        assert_eq!(resolved.reason(), Reason::AwaitingApproval, "{outcome:?}: {:?}", resolved.decision);
        let log = resolved.run.ledger().log();
        let grant = Say::Approve { approval, granted: true, by: "ann".into(), why: "".into(), args: None };
        let done = after_a_crash(&mk(), log, log.len(), vec![grant]).await;
        assert!(done.final_response.is_some(), "{outcome:?}: {:?}", done.decision);
        assert_eq!(ran.lock().unwrap().iter().filter(|what| what.starts_with("pay")).count(), 1, "{outcome:?}");
    }
}

#[tokio::test]
async fn only_a_lost_call_is_resolved_by_somebody_on_resume() {
    let ran = Ran::default();
    let whole = one(three_at_once, &ran).run("t").await.unwrap();
    let log = whole.run.ledger().log();
    let asked = at(log, |e| matches!(e, Event::ModelReplied { .. }));
    let call = whole.run.ledger().tool_runs()[0].id;
    ran.lock().unwrap().clear();
    let say = vec![Say::Resolve { call, outcome: Some(Outcome::Completed), text: "surely".into(), by: "ann".into() }];
    let again = after_a_crash(&one(three_at_once, &ran), log, asked, say).await;
    assert_eq!((again.reason(), ran.lock().unwrap().len()), (Reason::VerifiedPartial, 3), "nobody's word stands for a call that can be made");
}
