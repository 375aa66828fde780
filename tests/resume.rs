//! Runs that park or die and are taken up again by another process: approvals, questions, messages, forks.

use crate::driver::{base, spec, turns};
use crate::scratch::Scratch;
use countersign::live::Command as Say;
use countersign::testing::ScriptedModel;
use countersign::*;
use std::sync::{Arc, Mutex};

/// What really ran: agent-independent, in order.
type Ran = Arc<Mutex<Vec<String>>>;

fn pay(ran: &Ran) -> FnTool<countersign::tool::Run> {
    let ran = ran.clone();
    let declared = Declared { approval: true, ..Declared::run(Effect::Write) };
    FnTool::plain("pay", "Pays.", declared, move |what: serde_json::Value| {
        ran.lock().unwrap().push(what.to_string());
        Ok(format!("paid {what}"))
    })
}

/// What a process is that knows the file and nothing else. Each call is a new one.
fn process(file: &Scratch, ran: &Ran, policy: Policy, script: fn(&ModelRequest) -> ModelReply, clock: u64) -> Runner {
    let tool = pay(ran);
    let journal = Arc::new(SqliteJournal::open(file.file("runs.db")).unwrap());
    let builder = Runner::builder(Single::default(), ScriptedModel(script)).agent(Agent::new("main", "").tool(tool.spec())).tool(tool);
    builder.policy(policy).journal(journal).clock(Arc::new(move || clock)).build().unwrap()
}

fn pays_twice(r: &ModelRequest) -> ModelReply {
    if turns(r) == 0 { ModelReply::call("pay", "1").and_call("pay", "2") } else { ModelReply::text("settled") }
}

async fn took_up(runner: Runner, say: Vec<Say>) -> RunResult {
    runner.resume("r", say, None).await.unwrap().result().await.unwrap()
}

fn verdict(approval: NodeId, granted: bool) -> Say {
    Say::Approve { approval, granted, by: "ann".into(), why: "said so".into(), args: None }
}

fn waiting(result: &RunResult) -> Vec<NodeId> {
    result.decision.pending_approvals.iter().map(|r| r.node).collect()
}

const DAY: u64 = 24 * 60 * 60 * 1000;

#[tokio::test]
async fn two_calls_wait_and_other_processes_answer_each_before_a_resume_runs_it_once() {
    let (file, ran) = (Scratch::new(), Ran::default());
    let parked = process(&file, &ran, Policy::execution(), pays_twice, 0).start("r", "pay").unwrap().result().await.unwrap();
    assert_eq!((parked.status(), waiting(&parked).len()), (Status::AwaitingApproval, 2));
    let (first, second) = (waiting(&parked)[0], waiting(&parked)[1]);
    let half = took_up(process(&file, &ran, Policy::execution(), pays_twice, 2 * DAY), vec![verdict(second, true)]).await;
    assert_eq!((half.status(), waiting(&half)), (Status::AwaitingApproval, vec![first]));
    assert_eq!(*ran.lock().unwrap(), ["2"], "the one that was granted, and not the other");
    // Granting it once more changes nothing.
    let again = took_up(process(&file, &ran, Policy::execution(), pays_twice, 3 * DAY), vec![verdict(second, true)]).await;
    assert_eq!((again.status(), ran.lock().unwrap().len()), (Status::AwaitingApproval, 1));
    let done = took_up(process(&file, &ran, Policy::execution(), pays_twice, 4 * DAY), vec![verdict(first, false)]).await;
    assert_eq!((done.text(), &*ran.lock().unwrap()), (Some("settled"), &vec!["2".to_owned()]));
    let states: Vec<_> = done.run.ledger().tool_runs().iter().map(|r| r.state).collect();
    assert_eq!(states, [RunState::Settled(Outcome::Rejected), RunState::Settled(Outcome::Completed)]);
    assert_eq!(done.decision.evidence_refs.len(), 1, "what was denied is no evidence");
}

#[tokio::test]
async fn an_approval_that_lapsed_before_the_resume_is_a_denial() {
    let (file, ran) = (Scratch::new(), Ran::default());
    let parked = process(&file, &ran, Policy::execution(), pays_twice, 0).start("r", "pay").unwrap().result().await.unwrap();
    let late = took_up(process(&file, &ran, Policy::execution(), pays_twice, 8 * DAY), vec![verdict(waiting(&parked)[0], true)]).await;
    assert!(ran.lock().unwrap().is_empty(), "a grant that comes too late runs nothing");
    assert_eq!((late.final_response, late.decision.evidence_refs.len()), (None, 0));
    let lapsed = late.run.ledger().log().iter().filter(|r| matches!(r.event, Event::ApprovalSettled { lapsed: true, granted: false, .. }));
    assert_eq!(lapsed.count(), 2);
}

#[tokio::test]
async fn a_message_while_approvals_wait_neither_finishes_the_run_nor_drops_them_on_resume() {
    fn answers(r: &ModelRequest) -> ModelReply {
        let asked = r.transcript.iter().filter(|e| matches!(e.record.event, Event::InputArrived { .. })).count();
        if turns(r) == 0 { ModelReply::call("pay", "1") } else { ModelReply::text(format!("after {asked} messages")) }
    }
    for message in [Say::Steer("are you done?".into()), Say::FollowUp("and then?".into())] {
        let (file, ran) = (Scratch::new(), Ran::default());
        let parked = process(&file, &ran, Policy::execution(), answers, 0).start("r", "pay").unwrap().result().await.unwrap();
        let approval = waiting(&parked)[0];
        let asked = took_up(process(&file, &ran, Policy::execution(), answers, 1), vec![message]).await;
        assert_eq!((asked.status(), waiting(&asked)), (Status::AwaitingApproval, vec![approval]), "{:?}", asked.decision);
        let done = took_up(process(&file, &ran, Policy::execution(), answers, 2), vec![verdict(approval, true)]).await;
        assert_eq!((done.text(), ran.lock().unwrap().len()), (Some("after 1 messages"), 1));
    }
}

#[tokio::test]
async fn a_message_that_was_queued_outlives_a_crash_and_is_read_after_an_accepted_finish() {
    fn answers(r: &ModelRequest) -> ModelReply {
        let heard = r.transcript.iter().filter(|e| matches!(e.record.event, Event::InputArrived { .. })).count();
        ModelReply::text(["first", "second"][heard.min(1)])
    }
    let mk = |journal: Arc<dyn Journal>| {
        let builder = Runner::builder(Single::default(), ScriptedModel(answers)).agent(Agent::new("main", ""));
        builder.journal(journal).clock(Arc::new(|| 0)).build().unwrap()
    };
    let live = mk(Arc::new(MemoryJournal::new())).start("r", "t").unwrap();
    live.tell(Say::FollowUp("and?".into()));
    let whole = live.result().await.unwrap();
    assert_eq!(whole.text(), Some("second"));
    let log = whole.run.ledger().log();
    let queued = log.iter().position(|r| matches!(r.event, Event::InputQueued { .. })).unwrap() + 1;
    let accepted = log.iter().filter(|r| matches!(r.event, Event::Decided { .. })).count();
    assert_eq!(accepted, 1, "the first finish is followed by the message, and not by a ruling that ends the run");
    for cut in queued..log.len() {
        let journal = Arc::new(MemoryJournal::new());
        journal.append(Batch::new(&"r".into(), 0, &log[..cut])).await.unwrap();
        let again = took_up(mk(journal), vec![]).await;
        assert_eq!(again.text(), Some("second"), "died at event {cut}");
        let heard = again.run.ledger().log().iter().filter(|r| matches!(r.event, Event::InputArrived { .. })).count();
        assert_eq!(heard, 1, "read exactly once");
    }
}

#[tokio::test]
async fn a_resume_that_cannot_start_leaves_grants_unconsumed() {
    let (file, ran) = (Scratch::new(), Ran::default());
    let parked = process(&file, &ran, Policy::execution(), pays_twice, 0).start("r", "pay").unwrap().result().await.unwrap();
    let before = parked.run.ledger().seq();
    let journal = || -> Arc<dyn Journal> { Arc::new(SqliteJournal::open(file.file("runs.db")).unwrap()) };
    let model = || ScriptedModel(|_: &ModelRequest| ModelReply::text("x"));
    let other_mode = Runner::builder(Deep::default(), model()).agent(Agent::new("main", "")).journal(journal()).build().unwrap();
    let no_tool = Runner::builder(Single::default(), model()).agent(Agent::new("main", "")).journal(journal()).build().unwrap();
    let no_agent = Runner::builder(Single { agent: "boss" }, model()).agent(Agent::new("boss", "")).journal(journal()).build().unwrap();
    for (runner, lacks) in [(other_mode, "mode `single`"), (no_tool, "tool `pay`"), (no_agent, "agent `main`")] {
        let why = runner.resume("r", vec![verdict(waiting(&parked)[0], true)], None).await.err().expect("it lacks something");
        assert!(matches!(&why, DriveError::Unfit { missing, .. } if missing.contains(lacks)), "{why}");
        assert_eq!(journal().summary("r").await.unwrap().unwrap().seq, before, "nothing was recorded");
    }
    let all = waiting(&parked).iter().map(|approval| verdict(*approval, true)).collect();
    let done = took_up(process(&file, &ran, Policy::execution(), pays_twice, 1), all).await;
    assert_eq!((done.reason(), ran.lock().unwrap().len()), (Reason::Verified, 2));
}

#[tokio::test]
async fn a_person_gives_a_fresh_allowance_or_a_higher_limit_and_a_crash_gives_none_on_resume() {
    fn promises(r: &ModelRequest) -> ModelReply {
        ModelReply::text(format!("I shall, {}", turns(r)))
    }
    let (file, ran) = (Scratch::new(), Ran::default());
    let mk = || process(&file, &ran, Policy::execution(), promises, 0);
    let blocked = mk().start("r", "t").unwrap().result().await.unwrap();
    let told = |r: &RunResult| r.run.ledger().log().iter().filter(|r| matches!(r.event, Event::Nudged { .. })).count();
    assert_eq!((blocked.status(), told(&blocked)), (Status::Blocked, 2));
    let resumed = took_up(mk(), vec![]).await;
    assert!(told(&resumed) > 2, "a person's resume gives a fresh allowance");
    // As does a higher limit, said with the resume.
    let limits = Limits { continuations: 5, ..Limits::default() };
    let higher = mk().resume("r", vec![], Some(limits)).await.unwrap().result().await.unwrap();
    assert_eq!(told(&higher), told(&resumed) + 5);
    // The same log without its last ruling: a process died there, and nobody gives anything.
    let log = blocked.run.ledger().log();
    let journal = Arc::new(MemoryJournal::new());
    journal.append(Batch::new(&"r".into(), 0, &log[..log.len() - 1])).await.unwrap();
    let crashed = took_up(mk().on(journal), vec![]).await;
    assert_eq!((crashed.status(), told(&crashed)), (Status::Blocked, 2));
}

#[tokio::test]
async fn a_fork_shares_the_beginning_and_goes_its_own_way_as_after_a_crash() {
    let mk = |journal: &Arc<dyn Journal>, better: bool| {
        let script = move |r: &ModelRequest| match turns(r) {
            n @ 0..2 => ModelReply::call("read", format!("{n}")),
            _ => ModelReply::text(if better { "right" } else { "wrong" }),
        };
        let agent = Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read)));
        base(Single::default(), ScriptedModel(script)).agent(agent).policy(Policy::execution()).journal(journal.clone()).build().unwrap()
    };
    let file = Scratch::new();
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(file.file("runs.db")).unwrap());
    let old = mk(&journal, false).start("old", "t").unwrap().result().await.unwrap();
    let log = old.run.ledger().log();
    for seq in 1..log.len() as u32 {
        let name = format!("new-{seq}");
        let new = mk(&journal, true).fork("old", seq, &name, vec![], None).await.unwrap().result().await.unwrap();
        let started = new.run.ledger().started().unwrap();
        assert_eq!(started.forked, Some(countersign::event::Forked { run: "old".into(), seq }));
        let shared = new.run.ledger().log().iter().zip(log).skip(1).take(seq as usize - 1);
        assert!(shared.into_iter().all(|(a, b)| a == b), "fork at {seq}");
        let said_wrong = log[..seq as usize].iter().any(|r| matches!(&r.event, Event::ModelReplied { text, .. } if &**text == "wrong"));
        assert_eq!(new.text(), Some(if said_wrong { "wrong" } else { "right" }), "fork at {seq}");
        assert_eq!(journal::read_all(&*journal, &name).await.unwrap(), new.run.ledger().log());
    }
    assert_eq!(journal::read_all(&*journal, "old").await.unwrap(), log, "the old run stays as it was");
    let errors = [(0, "has no event 0"), (99, "has no event 99: it goes from 1 to"), (log.len() as u32, "has ended")];
    for (seq, said) in errors {
        let why = mk(&journal, true).fork("old", seq, "x", vec![], None).await.err().unwrap().to_string();
        assert!(why.contains(said), "{why}");
    }
    assert!(matches!(mk(&journal, true).fork("nobody", 1, "x", vec![], None).await, Err(DriveError::UnknownRun(_))));
    let taken = mk(&journal, true).fork("old", 1, "new-1", vec![], None).await.unwrap().result().await;
    assert!(matches!(taken, Err(DriveError::Journal(JournalError::Stale { .. }))), "a name is given once");
}

#[tokio::test(start_paused = true)]
async fn a_crash_gives_no_time_back_on_resume() {
    let hang =
        || FnTool::new("hang", "never ends", Declared::run(Effect::Read), |_: serde_json::Value| std::future::pending::<Result<String, ToolError>>());
    let began = tokio::time::Instant::now();
    let clock: Clock = Arc::new(move || u64::try_from(began.elapsed().as_millis()).unwrap());
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let mk = || {
        let agent = Agent::new("main", "").tool(hang().spec()).tool(spec("read", Declared::run(Effect::Read)));
        let script = |r: &ModelRequest| if turns(r) == 0 { ModelReply::call("read", "1") } else { ModelReply::call("hang", "1") };
        let slow = Slow(script);
        let policy = Policy { limits: Limits { deadline_ms: 1000, ..Limits::default() }, ..Policy::conversation() };
        base(Single::default(), slow).tool(hang()).agent(agent).policy(policy).journal(journal.clone()).clock(clock.clone()).build().unwrap()
    };
    // Killed after two replies of 300 ms each, inside a tool that never ends.
    let killed = mk().start("r", "t").unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    drop(killed);
    let left = journal::read_all(&*journal, "r").await.unwrap();
    let elsewhere: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    elsewhere.append(Batch::new(&"r".into(), 0, &left)).await.unwrap();
    let again = began.elapsed();
    let result = took_up(mk().on(elsewhere), vec![]).await;
    assert_eq!(result.reason(), Reason::Timeout);
    let took = (began.elapsed() - again).as_millis();
    assert!((390..=410).contains(&took), "600 ms of 1,000 were used, and {took} ms were left");
}

/// A model that takes 300 ms.
struct Slow<F>(F);

#[async_trait::async_trait]
impl<F: Fn(&ModelRequest) -> ModelReply + Send + Sync> Model for Slow<F> {
    async fn reply(&self, request: ModelRequest, _: &Deltas) -> Result<ModelReply, ModelError> {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        Ok((self.0)(&request))
    }
}
