//! The modes on the driver: each run is taken up again from every prefix of its log and comes to the same.
//! Approvals across a parked run, with edited arguments; a stream from its start to its end.

use countersign::testing::*;
use countersign::transcript::{question, replies};
use countersign::*;
use std::sync::Arc;

pub fn turns(r: &ModelRequest) -> usize {
    replies(&r.transcript)
}
fn nudged(r: &ModelRequest) -> usize {
    r.transcript.iter().filter(|e| matches!(e.record.event, Event::Nudged { .. })).count()
}
fn results(r: &ModelRequest) -> Vec<u32> {
    r.transcript.iter().filter(|e| matches!(e.record.event, Event::ActivationEnded { .. })).map(|e| e.node.0).collect()
}
pub fn tool(name: &'static str, declared: Declared) -> FnTool<countersign::tool::Run> {
    FnTool::plain(name, "x", declared, move |v: serde_json::Value| Ok(format!("{name}({v})")))
}
pub fn base(mode: impl Mode + 'static, model: impl Model + 'static) -> RunnerBuilder {
    Runner::builder(mode, model)
        .tool(tool("read", Declared::run(Effect::Read)))
        .tool(tool("write", Declared::run(Effect::Write)))
        .tool(tool("pay", Declared { approval: true, ..Declared::run(Effect::Write) }))
}
pub fn spec(n: &'static str, d: Declared) -> ToolSpec {
    tool(n, d).spec()
}
pub fn replay_equal(r: &RunResult) {
    let text = r.log();
    let again = Run::read(Arc::new(Gate::default()), &text).unwrap();
    assert_eq!(again.final_answer(), r.final_response.as_ref());
    let lines: String = again.ledger().log().iter().map(|x| serde_json::to_string(&**x).unwrap() + "\n").collect();
    assert_eq!(lines, text);
    assert_eq!(format!("{:?}", again.ledger().open()), format!("{:?}", r.run.ledger().open()));
}
async fn resume_everywhere(mk: impl Fn() -> Runner, r: &RunResult, want: &str) {
    let log = r.run.ledger().log().to_vec();
    for cut in 1..log.len() {
        let runner = mk();
        let id = r.run.ledger().started().unwrap().run.clone();
        runner.journal().append(Batch::new(&id, 0, &log[..cut])).await.unwrap();
        let live = runner.resume(&id, vec![], None).await.unwrap();
        let again = live.result().await.unwrap();
        replay_equal(&again);
        assert_eq!(again.text(), Some(want), "cut {cut} after {:?}\n{:?}", log[cut - 1].event, again.decision);
    }
}
#[tokio::test]
async fn single() {
    let mk = || {
        base(
            Single::default(),
            ScriptedModel(|r: &ModelRequest| match turns(r) {
                n @ 0..3 => ModelReply::call("read", format!("{n}")),
                _ => ModelReply::text("done"),
            }),
        )
        .agent(Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read))))
        .policy(Policy::execution())
        .build()
        .unwrap()
    };
    let r = mk().run("t").await.unwrap();
    assert_eq!((r.text(), r.reason()), (Some("done"), Reason::Verified));
    assert_eq!(r.decision.evidence_refs.len(), 3);
    replay_equal(&r);
    resume_everywhere(mk, &r, "done").await;
}
#[tokio::test]
async fn nudge() {
    let mk = || {
        base(
            Single::default(),
            ScriptedModel(|r: &ModelRequest| match (nudged(r), turns(r)) {
                (0, _) => ModelReply::text("lazy"),
                (1, 1) => ModelReply::call("read", "1"),
                _ => ModelReply::text("worked"),
            }),
        )
        .agent(Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read))))
        .policy(Policy::execution())
        .build()
        .unwrap()
    };
    let r = mk().run("t").await.unwrap();
    assert_eq!(r.text(), Some("worked"));
    replay_equal(&r);
    resume_everywhere(mk, &r, "worked").await;
    let lazy = base(Single::default(), ScriptedModel(|_: &ModelRequest| ModelReply::text("lazy")))
        .agent(Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read))))
        .policy(Policy::execution())
        .build()
        .unwrap();
    let r = lazy.run("t").await.unwrap();
    assert_eq!(r.reason(), Reason::NoProgress, "{:?}", r.decision);
}
#[tokio::test]
async fn deep() {
    let mk = || {
        base(
            Deep::default(),
            ScriptedModel(|r: &ModelRequest| match (&*r.agent.name, turns(r)) {
                ("helper", 0) => ModelReply::call("read", format!("\"{}\"", question(&r.transcript))),
                ("helper", _) => ModelReply::text(format!("found {}", question(&r.transcript))),
                (_, 0) => ModelReply::call("task", r#"{"task":"a"}"#).and_call("task", r#"{"task":"b"}"#).and_call("task", r#"{"task":"c"}"#),
                (_, 1) => ModelReply::text("forgot"),
                _ => {
                    let d: Vec<String> = results(r).iter().map(|n| format!(r#"{{"result":{n},"disposition":"adopted"}}"#)).collect();
                    ModelReply::call("conclude", format!(r#"{{"answer":"all","dispositions":[{}]}}"#, d.join(",")))
                }
            }),
        )
        .agent(Agent::new("main", "").tool(ToolSpec::delegate("task", "helper")).tool(ToolSpec::conclude()))
        .agent(Agent::new("helper", "").tool(spec("read", Declared::run(Effect::Read))))
        .policy(Policy::execution())
        .build()
        .unwrap()
    };
    let r = mk().run("t").await.unwrap();
    assert_eq!(r.text(), Some("all"), "{:?}", r.decision);
    assert_eq!(r.decision.evidence_refs.len(), 3);
    replay_equal(&r);
    resume_everywhere(mk, &r, "all").await;
}
#[tokio::test]
async fn supervisor() {
    let mk = || {
        base(
            Supervisor::default(),
            ScriptedModel(|r: &ModelRequest| match (&*r.agent.name, turns(r)) {
                ("supervisor", 0) => ModelReply::call("transfer_to_dba", r#"{"task":"q1"}"#).and_call("transfer_to_net", r#"{"task":"q2"}"#),
                ("dba", 0) => ModelReply::call("read", "1"),
                ("supervisor", _) => {
                    let d: Vec<String> = results(r).iter().map(|n| format!(r#"{{"result":{n},"disposition":"adopted"}}"#)).collect();
                    ModelReply::call("conclude", format!(r#"{{"answer":"both","dispositions":[{}]}}"#, d.join(",")))
                }
                (a, _) => ModelReply::text(format!("{a} says")),
            }),
        )
        .agent(Agent::new("supervisor", "").tool(ToolSpec::transfer("dba")).tool(ToolSpec::transfer("net")).tool(ToolSpec::conclude()))
        .agent(Agent::new("dba", "").tool(spec("read", Declared::run(Effect::Read))))
        .agent(Agent::new("net", ""))
        .build()
        .unwrap()
    };
    let r = mk().run("t").await.unwrap();
    assert_eq!(r.text(), Some("both"), "{:?}", r.decision);
    replay_equal(&r);
    resume_everywhere(mk, &r, "both").await;
}
#[tokio::test]
async fn plan() {
    let mk = || {
        base(
            PlanExecute,
            ScriptedModel(|r: &ModelRequest| {
                let q = question(&r.transcript);
                match &*r.agent.name {
                    "planner" => {
                        if turns(r) == 0 {
                            ModelReply::call("plan", r#"{"steps":"x"}"#)
                        } else {
                            ModelReply::call(
                                "plan",
                                r#"{"steps":[{"id":"a","text":"do a"},{"id":"b","text":"do b"},{"id":"c","text":"do c","needs":["a","b"]}]}"#,
                            )
                        }
                    }
                    "executor" => {
                        if q.contains("step `c`") {
                            ModelReply::text("")
                        } else if turns(r) == 0 {
                            ModelReply::call("read", "1")
                        } else {
                            ModelReply::text("did it")
                        }
                    }
                    _ => {
                        if q.contains("`d` (do d): done") {
                            ModelReply::call("verdict", r#"{"act":"respond","answer":"all done"}"#)
                        } else if turns(r) == 0 {
                            ModelReply::call("verdict", r#"{"act":"revise","steps":[]}"#)
                        } else {
                            ModelReply::call(
                                "verdict",
                                r#"{"act":"revise","steps":[{"id":"d","text":"do d","needs":["a"]}],"dropped":[{"id":"c","why":"came back empty"}]}"#,
                            )
                        }
                    }
                }
            }),
        )
        .agent(PlanExecute::planner(""))
        .agent(PlanExecute::replanner(""))
        .agent(Agent::new("executor", "").tool(spec("read", Declared::run(Effect::Read))))
        .policy(Policy::execution())
        .build()
        .unwrap()
    };
    let r = mk().run("t").await.unwrap();
    assert_eq!(r.text(), Some("all done"), "{:#?}", r.decision);
    assert_eq!(r.reason(), Reason::Verified);
    assert_eq!(r.decision.evidence_refs.len(), 3);
    replay_equal(&r);
    resume_everywhere(mk, &r, "all done").await;
}
#[tokio::test]
async fn approvals() {
    let mk = || {
        base(
            Single::default(),
            ScriptedModel(|r: &ModelRequest| match turns(r) {
                0 => ModelReply::call("pay", "1").and_call("read", "2"),
                _ => ModelReply::text("paid"),
            }),
        )
        .agent(
            Agent::new("main", "")
                .tool(spec("pay", Declared { approval: true, ..Declared::run(Effect::Write) }))
                .tool(spec("read", Declared::run(Effect::Read))),
        )
        .policy(Policy::execution())
        .build()
        .unwrap()
    };
    let runner = mk();
    let live = runner.start("r1", "t").unwrap();
    let mut events = live.events(0);
    let r = live.result().await.unwrap();
    assert_eq!((r.status(), r.reason()), (Status::AwaitingApproval, Reason::AwaitingApproval));
    let mut n = 0;
    while let Some(e) = events.next().await {
        if let Streamed::Event(e) = e.unwrap() {
            n += 1;
            assert_eq!(e.seq, n);
        }
    }
    assert_eq!(n, r.run.ledger().seq());
    let approval = r.decision.pending_approvals[0].node;
    let live = runner
        .resume("r1", vec![live::Command::Approve { approval, granted: true, by: "p".into(), why: "".into(), args: Some("7".into()) }], None)
        .await
        .unwrap();
    let r = live.result().await.unwrap();
    assert_eq!(r.text(), Some("paid"));
    assert!(r.log().contains("pay(7)"));
}
/// Whoever reads late gets the same order as whoever reads at once.
#[tokio::test]
async fn text_stands_before_its_reply_and_after_what_was_known_when_it_was_asked_for() {
    let script = |r: &ModelRequest| match turns(r) {
        0 => ModelReply { text: "first".into(), ..ModelReply::call("read", "1") },
        _ => ModelReply::text("second"),
    };
    let agent = Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read)));
    let runner = base(Single::default(), ScriptedModel(script)).agent(agent).build().unwrap();
    let live = runner.start("r1", "t").unwrap();
    let mut events = live.events(0);
    assert_eq!(live.result().await.unwrap().text(), Some("second"));
    let mut order = Vec::new();
    while let Some(streamed) = events.next().await {
        match streamed.unwrap() {
            Streamed::Delta { text, .. } => order.push(format!("text {text}")),
            Streamed::Event(record) => match &record.event {
                Event::ModelReplied { text, .. } => order.push(format!("reply {text}")),
                Event::ToolSettled { .. } => order.push("tool".to_owned()),
                _ => {}
            },
            Streamed::Progress { .. } => {}
            Streamed::Lagged { .. } => panic!("two pieces are not too many"),
        }
    }
    assert_eq!(order, ["text first", "reply first", "tool", "text second", "reply second"]);
}
struct Debate;
impl Mode for Debate {
    fn name(&self) -> &str {
        "debate"
    }
    fn rules(&self) -> ModeRules {
        ModeRules::owner("judge")
    }
    fn advance(&self, w: &mut Work<'_>) -> Flow<Answer> {
        let t = w.task();
        let mut said = String::new();
        for round in 0..2 {
            let mut w = w.within(round);
            let both = all([w.ask("pro", "pro", format!("{t}{said}")), w.ask("con", "con", format!("{t}{said}"))])?;
            for r in both {
                said.push_str(r.text());
            }
        }
        let j = w.ask("judge", "judge", said)?;
        w.answer(j)
    }
}
#[tokio::test]
async fn debate_nested() {
    let mk = || {
        base(
            Single::default(),
            ScriptedModel(|r: &ModelRequest| match (&*r.agent.name, turns(r)) {
                ("main", 0) => ModelReply::call("debate", r#"{"task":"is it"}"#),
                ("pro", 0) => ModelReply::call("read", "1"),
                (a, _) => ModelReply::text(format!("{a} said")),
            }),
        )
        .agent(Agent::new("main", "").tool(ToolSpec::delegate("debate", "debate")))
        .agent(Agent::mode("debate", Debate))
        .agent(Agent::new("pro", "").tool(spec("read", Declared::run(Effect::Read))))
        .agent(Agent::new("con", ""))
        .agent(Agent::new("judge", ""))
        .policy(Policy::execution())
        .build()
        .unwrap()
    };
    let r = mk().run("t").await.unwrap();
    assert_eq!(r.text(), Some("main said"), "{:#?}\n{}", r.decision, r.log());
    replay_equal(&r);
    resume_everywhere(mk, &r, "main said").await;
}
