//! What every journal promises, asked of each that there is; in `file`, what one in a file promises besides.

mod file;

use crate::scratch::Scratch;
use countersign::journal::projection::{RunQuery, process_details};
use countersign::journal::tail::Tail;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use std::sync::Arc;

/// Every journal, each with what has to outlive it.
pub fn journals() -> Vec<(Arc<dyn Journal>, Scratch)> {
    let scratch = Scratch::new();
    let file = SqliteJournal::open(scratch.file("runs.db")).unwrap();
    vec![(Arc::new(MemoryJournal::new()), Scratch::new()), (Arc::new(file), scratch)]
}

/// A run that looks once and answers.
fn runner(journal: &Arc<dyn Journal>) -> Runner {
    let look = crate::driver::tool("look", Declared::run(Effect::Read));
    let agent = Agent::new("main", "").tool(look.spec());
    let model = ScriptedModel(|r: &ModelRequest| if replies(&r.transcript) == 0 { ModelReply::call("look", "1") } else { ModelReply::text("seen") });
    Runner::builder(Single::default(), model).agent(agent).tool(look).policy(Policy::execution()).journal(journal.clone()).build().unwrap()
}

async fn ran(journal: &Arc<dyn Journal>, run: &str) -> RunResult {
    runner(journal).start(run, "Look, please").unwrap().result().await.unwrap()
}

#[tokio::test]
async fn a_log_comes_back_as_it_was_written() {
    for (journal, _scratch) in journals() {
        let result = ran(&journal, "a").await;
        let log = journal::read_all(&*journal, "a").await.unwrap();
        assert_eq!(log, result.run.ledger().log());
        assert_eq!(Run::replay(Arc::new(Gate::default()), log.clone()).unwrap().final_answer(), result.final_response.as_ref());
        for after in 0..=log.len() {
            assert_eq!(journal.read("a", after as u32, 2).await.unwrap(), log[after..(after + 2).min(log.len())]);
        }
        assert!(journal.read("nobody", 0, 10).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_append_that_does_not_continue_the_log_is_refused_and_changes_nothing() {
    for (journal, _scratch) in journals() {
        let result = ran(&journal, "a").await;
        let log = result.run.ledger().log();
        let (run, last) = (Str::from("a"), log.len() as u32);
        for expected in [0, last - 1, last + 1] {
            let stale = journal.append(Batch::new(&run, expected, &log[..1])).await;
            assert_eq!(stale, Err(JournalError::Stale { run: run.clone(), expected, at: last }));
        }
        assert_eq!(journal::read_all(&*journal, "a").await.unwrap(), log);
    }
}

#[tokio::test]
async fn runs_are_found_by_status_mode_and_time() {
    for (journal, _scratch) in journals() {
        ran(&journal, "a").await;
        let whole = ran(&Arc::new(MemoryJournal::new()).into_dyn(), "b").await;
        journal.append(Batch::new(&"b".into(), 0, &whole.run.ledger().log()[..3])).await.unwrap();
        let names = async |query: RunQuery| journal.list(&query).await.unwrap().iter().map(|r| r.run.to_string()).collect::<Vec<_>>();
        let all = RunQuery::default();
        assert_eq!(names(all.clone()).await.len(), 2);
        assert_eq!(names(RunQuery { most: 1, ..all.clone() }).await.len(), 1);
        assert_eq!(names(RunQuery { status: Some(Status::Completed), ..all.clone() }).await, ["a"]);
        assert_eq!(names(RunQuery { status: Some(Status::InProgress), ..all.clone() }).await, ["b"]);
        assert_eq!(names(RunQuery { mode: Some("single".into()), ..all.clone() }).await.len(), 2);
        assert!(names(RunQuery { mode: Some("deep".into()), ..all.clone() }).await.is_empty());
        assert_eq!(names(RunQuery { text: Some("look, P".into()), ..all.clone() }).await.len(), 2);
        let summary = journal.summary("a").await.unwrap().unwrap();
        assert_eq!((summary.status, summary.reason, &*summary.title), (Status::Completed, Some(Reason::Verified), "Look, please"));
        assert!(names(RunQuery { since_ms: Some(summary.started_ms + 60_000), ..all.clone() }).await.is_empty());
        assert_eq!(names(RunQuery { before_ms: Some(u64::MAX / 2), ..all }).await.len(), 2);
        assert!(journal.summary("nobody").await.unwrap().is_none());
    }
}

trait IntoDyn {
    fn into_dyn(self) -> Arc<dyn Journal>;
}

impl IntoDyn for Arc<MemoryJournal> {
    fn into_dyn(self) -> Arc<dyn Journal> {
        self
    }
}

#[tokio::test]
async fn only_a_final_fills_a_message() {
    for (journal, _scratch) in journals() {
        let result = ran(&journal, "a").await;
        let message = journal.message("a").await.unwrap().unwrap();
        assert_eq!((message.content.as_deref(), message.candidate, message.finalized), (Some("seen"), None, true));
        // The same records without the final: what they say is not enough.
        let renamed = renamed(result.run.ledger().log(), "forged");
        journal.append(Batch::new(&"forged".into(), 0, &renamed)).await.unwrap();
        let message = journal.message("forged").await.unwrap().unwrap();
        assert_eq!((message.content, message.candidate.as_deref(), message.finalized), (None, Some("seen"), false));
        // Nor does the final of another run do.
        let (run, renamed) = ("borrowed".into(), self::renamed(result.run.ledger().log(), "borrowed"));
        journal.append(Batch { answer: result.final_response.as_ref(), ..Batch::new(&run, 0, &renamed) }).await.unwrap();
        assert_eq!(journal.message("borrowed").await.unwrap().unwrap().content, None);
        assert!(journal.message("nobody").await.unwrap().is_none());
    }
}

/// A log under another name, as a forger would write it.
fn renamed(log: &[Arc<Record>], name: &str) -> Vec<Arc<Record>> {
    let rename = |record: &Arc<Record>| {
        let mut record = (**record).clone();
        match &mut record.event {
            Event::RunStarted(start) => start.run = name.into(),
            Event::Decided { decision, .. } => Arc::make_mut(decision).run_id = name.into(),
            _ => {}
        }
        Arc::new(record)
    };
    log.iter().map(rename).collect()
}

#[tokio::test]
async fn a_candidate_and_a_failure_stand_apart_from_an_answer() {
    for (journal, _scratch) in journals() {
        let refused = ScriptedModel(|_: &ModelRequest| ModelReply::text("surely"));
        let agent = || Agent::new("main", "").tool(crate::driver::spec("read", Declared::run(Effect::Read)));
        let builder = crate::driver::base(Single::default(), refused).agent(agent()).policy(Policy::execution());
        builder.journal(journal.clone()).build().unwrap().start("blocked", "t").unwrap().result().await.unwrap();
        let message = journal.message("blocked").await.unwrap().unwrap();
        assert_eq!((message.content, message.candidate.as_deref(), message.finalized), (None, Some("surely"), false));
        let fails =
            testing::FaultyModel::new(ScriptedModel(|_: &ModelRequest| ModelReply::text("x")), (1..9).map(|n| (n, testing::Fault::Error(None))));
        let builder = crate::driver::base(Single::default(), fails).agent(agent());
        builder.journal(journal.clone()).build().unwrap().start("failed", "t").unwrap().result().await.unwrap();
        let message = journal.message("failed").await.unwrap().unwrap();
        assert_eq!((message.status, message.finalized), (Some(Status::Failed), false));
        assert!(message.content.unwrap().starts_with("provider_error"));
    }
}

#[tokio::test]
async fn whole_outputs_are_kept_and_work_is_listed() {
    for (journal, _scratch) in journals() {
        let result = ran(&journal, "a").await;
        let (run, log) = (Str::from("b"), renamed(result.run.ledger().log(), "b"));
        let outputs = [(NodeId(3), Str::from("all of it"))];
        journal.append(Batch { outputs: &outputs, ..Batch::new(&run, 0, &log) }).await.unwrap();
        assert_eq!(journal.kept("b", NodeId(3)).await.unwrap().as_deref(), Some("all of it"));
        // A writer who comes too late changes nothing.
        let late = [(NodeId(3), Str::from("something else"))];
        assert!(journal.append(Batch { outputs: &late, ..Batch::new(&run, 0, &log) }).await.is_err());
        assert_eq!(journal.kept("b", NodeId(3)).await.unwrap().as_deref(), Some("all of it"));
        assert!(journal.kept("a", NodeId(4)).await.unwrap().is_none());
        let details = process_details(result.run.ledger());
        let lines: Vec<_> = details.iter().map(|d| (d.reference.kind, &*d.agent, d.ended_ms.is_some())).collect();
        assert_eq!(lines, [(NodeKind::Activation, "main", true), (NodeKind::ToolRun, "main", true)]);
        assert_eq!(&*details[1].text, "look(1)");
    }
}

#[tokio::test]
async fn a_tail_gives_every_event_once_in_order_while_another_writes() {
    for (journal, _scratch) in journals() {
        let mut tail = Tail::new(journal.clone(), "a", 2);
        let reader = async {
            let mut seen = Vec::new();
            while let Some(record) = tail.next().await {
                seen.push(record.unwrap().seq);
            }
            seen
        };
        let (seen, result) = tokio::join!(reader, ran(&journal, "a"));
        assert_eq!(seen, (3..=result.run.ledger().seq()).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn sixty_four_runs_share_one_file() {
    let scratch = Scratch::new();
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(scratch.file("runs.db")).unwrap());
    let runs = (0..64).map(|n| {
        let journal = journal.clone();
        tokio::spawn(async move { ran(&journal, &format!("run-{n}")).await.reason() })
    });
    for run in runs.collect::<Vec<_>>() {
        assert_eq!(run.await.unwrap(), Reason::Verified);
    }
    assert_eq!(journal.list(&RunQuery::default()).await.unwrap().len(), 64);
}

#[tokio::test]
async fn two_drivers_on_one_run_are_not_possible_after_a_crash() {
    let scratch = Scratch::new();
    let open = || -> Arc<dyn Journal> { Arc::new(SqliteJournal::open(scratch.file("runs.db")).unwrap()) };
    let whole = ran(&Arc::new(MemoryJournal::new()).into_dyn(), "a").await;
    let (one, two) = (open(), open());
    one.append(Batch::new(&"a".into(), 0, &whole.run.ledger().log()[..2])).await.unwrap();
    // Side by side: whichever is second finds that the other has written, or has ended the run already.
    let go_on = async |journal: &Arc<dyn Journal>| match runner(journal).resume("a", vec![], None).await {
        Ok(run) => run.result().await,
        Err(why) => Err(why),
    };
    let (first, second) = tokio::join!(go_on(&one), go_on(&two));
    let ends = [first, second];
    let finals = ends.iter().filter(|end| end.as_ref().is_ok_and(|r| r.final_response.is_some())).count();
    let refused = ends.iter().filter(|end| matches!(end, Err(DriveError::Journal(JournalError::Stale { .. }) | DriveError::Ended(_)))).count();
    assert_eq!((finals, refused), (1, 1));
    let log = journal::read_all(&*one, "a").await.unwrap();
    assert_eq!(log.iter().filter(|r| matches!(r.event, Event::Decided { scope: ROOT, .. })).count(), 1);
    assert!(matches!(runner(&two).resume("a", vec![], None).await, Err(DriveError::Ended(_))), "one final a run, whoever asks");
}
