//! What every journal promises, asked of each place where logs can be kept. Two suites ask: this one of those that
//! need nothing, and `tests/postgres` of the one that needs a server.

use async_trait::async_trait;
use countersign::journal::projection::{RunQuery, process_details};
use countersign::journal::tail::Tail;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use std::sync::Arc;

/// A place where logs are kept.
#[async_trait]
pub trait Place: Send + Sync {
    /// Opens it once more, as another process would.
    async fn open(&self) -> Arc<dyn Journal>;
}

/// A test for each promise, over the places that an expression makes.
macro_rules! promises {
    ($places:expr) => {
        promises! { $places;
            a_log_comes_back_as_it_was_written
            an_append_that_does_not_continue_the_log_is_refused_and_changes_nothing
            what_is_no_log_is_refused_and_takes_nothing_with_it
            runs_are_found_by_status_mode_and_time
            a_late_result_does_not_change_how_a_run_stands
            only_a_final_fills_a_message
            a_candidate_and_a_failure_stand_apart_from_an_answer
            whole_outputs_are_kept_and_work_is_listed
            every_character_comes_back
            a_tail_gives_every_event_once_in_order_while_another_writes
            reading_past_the_end_is_empty_and_a_tail_from_there_ends
            sixty_four_runs_share_one_place
            two_drivers_on_one_run_are_not_possible_after_a_crash
            of_many_writers_one_goes_on
            what_another_has_written_is_seen_before_a_resume_writes
        }
    };
    ($places:expr; $($promise:ident)*) => {
        $(
            #[tokio::test]
            async fn $promise() {
                for place in $places {
                    promises::$promise(&*place).await;
                }
            }
        )*
    };
}

fn tool(name: &'static str) -> FnTool<tool::Run> {
    FnTool::plain(name, "x", Declared::run(Effect::Read), move |v: serde_json::Value| Ok(format!("{name}({v})")))
}

/// A run that looks once and answers.
pub fn runner(journal: &Arc<dyn Journal>) -> Runner {
    let look = tool("look");
    let agent = Agent::new("main", "").tool(look.spec());
    let model = ScriptedModel(|r: &ModelRequest| if replies(&r.transcript) == 0 { ModelReply::call("look", "1") } else { ModelReply::text("seen") });
    Runner::builder(Single::default(), model).agent(agent).tool(look).policy(Policy::execution()).journal(journal.clone()).build().unwrap()
}

pub async fn ran(journal: &Arc<dyn Journal>, run: &str) -> RunResult {
    runner(journal).start(run, "Look, please").unwrap().result().await.unwrap()
}

/// The log of a whole run.
pub async fn whole(run: &str) -> RunResult {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    ran(&journal, run).await
}

/// A log under another name, as a forger would write it.
pub fn renamed(log: &[Arc<Record>], name: &str) -> Vec<Arc<Record>> {
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

pub async fn a_log_comes_back_as_it_was_written(place: &dyn Place) {
    let journal = place.open().await;
    let result = ran(&journal, "a").await;
    let log = journal::read_all(&*journal, "a").await.unwrap();
    assert_eq!(log, result.run.ledger().log());
    assert_eq!(Run::replay(Arc::new(Gate::default()), log.clone()).unwrap().final_answer(), result.final_response.as_ref());
    for after in 0..=log.len() {
        assert_eq!(journal.read("a", after as u32, 2).await.unwrap(), log[after..(after + 2).min(log.len())]);
    }
    assert!(journal.read("nobody", 0, 10).await.unwrap().is_empty());
}

pub async fn an_append_that_does_not_continue_the_log_is_refused_and_changes_nothing(place: &dyn Place) {
    let journal = place.open().await;
    let result = ran(&journal, "a").await;
    let log = result.run.ledger().log();
    let (run, last) = (Str::from("a"), log.len() as u32);
    for expected in [0, last - 1, last + 1] {
        let stale = journal.append(Batch::new(&run, expected, &log[..1])).await;
        assert_eq!(stale, Err(JournalError::Stale { run: run.clone(), expected, at: last }));
    }
    assert_eq!(journal::read_all(&*journal, "a").await.unwrap(), log);
}

pub async fn runs_are_found_by_status_mode_and_time(place: &dyn Place) {
    let journal = place.open().await;
    ran(&journal, "a").await;
    let whole = self::whole("b").await;
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
    let mut log = renamed(&whole.run.ledger().log()[..3], "c");
    if let Event::RunStarted(start) = &mut Arc::make_mut(&mut log[0]).event {
        start.conversation = Some("talk".into());
    }
    journal.append(Batch::new(&"c".into(), 0, &log)).await.unwrap();
    assert_eq!(names(RunQuery { conversation: Some("talk".into()), ..RunQuery::default() }).await, ["c"]);
    assert_eq!(journal.summary("c").await.unwrap().unwrap().conversation.as_deref(), Some("talk"));
}

pub async fn only_a_final_fills_a_message(place: &dyn Place) {
    let journal = place.open().await;
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

pub async fn a_candidate_and_a_failure_stand_apart_from_an_answer(place: &dyn Place) {
    let journal = place.open().await;
    let refused = ScriptedModel(|_: &ModelRequest| ModelReply::text("surely"));
    let agent = || Agent::new("main", "").tool(tool("read").spec());
    let builder = Runner::builder(Single::default(), refused).tool(tool("read")).agent(agent()).policy(Policy::execution());
    builder.journal(journal.clone()).build().unwrap().start("blocked", "t").unwrap().result().await.unwrap();
    let message = journal.message("blocked").await.unwrap().unwrap();
    assert_eq!((message.content, message.candidate.as_deref(), message.finalized), (None, Some("surely"), false));
    let fails = testing::FaultyModel::new(ScriptedModel(|_: &ModelRequest| ModelReply::text("x")), (1..9).map(|n| (n, testing::Fault::Error(None))));
    let builder = Runner::builder(Single::default(), fails).tool(tool("read")).agent(agent());
    builder.journal(journal.clone()).build().unwrap().start("failed", "t").unwrap().result().await.unwrap();
    let message = journal.message("failed").await.unwrap().unwrap();
    assert_eq!((message.status, message.finalized), (Some(Status::Failed), false));
    assert!(message.content.unwrap().starts_with("provider_error"));
}

pub async fn whole_outputs_are_kept_and_work_is_listed(place: &dyn Place) {
    let journal = place.open().await;
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

pub async fn a_tail_gives_every_event_once_in_order_while_another_writes(place: &dyn Place) {
    let journal = place.open().await;
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

pub async fn reading_past_the_end_is_empty_and_a_tail_from_there_ends(place: &dyn Place) {
    let journal = place.open().await;
    let result = ran(&journal, "a").await;
    let last = result.run.ledger().seq();
    assert!(journal.read("a", last + 5, 10).await.unwrap().is_empty());
    for after in [last, last + 5] {
        assert!(Tail::new(journal.clone(), "a", after).next().await.is_none());
    }
}

pub async fn what_is_no_log_is_refused_and_takes_nothing_with_it(place: &dyn Place) {
    let journal = place.open().await;
    let log = whole("a").await.run.ledger().log().to_vec();
    let (run, other) = (Str::from("a"), Str::from("b"));
    let appends = [Batch::new(&run, 0, &log[1..3]), Batch::new(&other, 0, &log[..3]), Batch::new(&run, 0, &log[..3])];
    let done = futures_util::future::join_all(appends.map(|batch| journal.append(batch))).await;
    let ends: Vec<_> = done.iter().map(Result::is_ok).collect();
    assert_eq!(ends, [false, false, true], "{done:?}");
    journal.append(Batch::new(&run, 3, &[])).await.unwrap();
    assert!(matches!(journal.append(Batch::new(&run, 4, &[])).await, Err(JournalError::Stale { at: 3, .. })));
    assert_eq!((journal::read_all(&*journal, "a").await.unwrap(), journal.summary("b").await.unwrap()), (log[..3].to_vec(), None));
}

pub async fn every_character_comes_back(place: &dyn Place) {
    let journal = place.open().await;
    let odd = "nul \0, a backslash \\, \\0, ä and 🦀, a quote ' and \u{7f}";
    let result = runner(&journal).start(odd, odd).unwrap().result().await.unwrap();
    let run = Str::from(odd);
    let summary = journal.summary(odd).await.unwrap().unwrap();
    assert_eq!((&*summary.run, &*summary.title, summary.seq), (odd, odd, result.run.ledger().seq()));
    assert_eq!(journal::read_all(&*journal, odd).await.unwrap(), result.run.ledger().log());
    let other = Str::from("b");
    let (log, outputs) = (renamed(result.run.ledger().log(), "b"), [(NodeId(3), run.clone())]);
    journal.append(Batch { outputs: &outputs, ..Batch::new(&other, 0, &log) }).await.unwrap();
    assert_eq!(journal.kept("b", NodeId(3)).await.unwrap(), Some(run));
    let found = journal.list(&RunQuery { text: Some("NUL \0, a back".into()), ..RunQuery::default() }).await.unwrap();
    assert_eq!(found.len(), 2);
    let other_case = RunQuery { text: Some("Ä".into()), ..RunQuery::default() };
    assert!(journal.list(&other_case).await.unwrap().is_empty(), "only ASCII letters have a case");
}

pub async fn sixty_four_runs_share_one_place(place: &dyn Place) {
    let journal = place.open().await;
    let runs = (0..64).map(|n| {
        let journal = journal.clone();
        tokio::spawn(async move { ran(&journal, &format!("run-{n}")).await.reason() })
    });
    for run in runs.collect::<Vec<_>>() {
        assert_eq!(run.await.unwrap(), Reason::Verified);
    }
    assert_eq!(journal.list(&RunQuery::default()).await.unwrap().len(), 64);
}

pub async fn two_drivers_on_one_run_are_not_possible_after_a_crash(place: &dyn Place) {
    let (one, two) = (place.open().await, place.open().await);
    one.append(Batch::new(&"a".into(), 0, &whole("a").await.run.ledger().log()[..2])).await.unwrap();
    // Side by side: whichever is second finds that the other drives it, has written, or has ended the run already.
    let go_on = async |journal: &Arc<dyn Journal>| match runner(journal).resume("a", vec![], None).await {
        Ok(run) => run.result().await,
        Err(why) => Err(why),
    };
    let (first, second) = tokio::join!(go_on(&one), go_on(&two));
    let ends = [first, second];
    let finals = ends.iter().filter(|end| end.as_ref().is_ok_and(|r| r.final_response.is_some())).count();
    let stale =
        |end: &&Result<_, _>| matches!(end, Err(DriveError::Journal(JournalError::Stale { .. }) | DriveError::Ended(_) | DriveError::Driven(_)));
    assert_eq!((finals, ends.iter().filter(stale).count()), (1, 1));
    let log = journal::read_all(&*one, "a").await.unwrap();
    assert_eq!(log.iter().filter(|r| matches!(r.event, Event::Decided { scope: ROOT, .. })).count(), 1);
    assert!(matches!(runner(&two).resume("a", vec![], None).await, Err(DriveError::Ended(_))), "one final a run, whoever asks");
}

/// Many writers that would all write the very same: each event is kept once, and whoever did not write it is told so.
pub async fn of_many_writers_one_goes_on(place: &dyn Place) {
    let log = whole("a").await.run.ledger().log().to_vec();
    let (run, one, two) = (Str::from("a"), place.open().await, place.open().await);
    for (at, record) in log.iter().enumerate() {
        let batch = Batch::new(&run, at as u32, std::slice::from_ref(record));
        let writers = (0..8).map(|n| if n % 2 == 0 { one.append(batch) } else { two.append(batch) });
        let done = futures_util::future::join_all(writers).await;
        assert_eq!(done.iter().filter(|end| end.is_ok()).count(), 1, "{done:?}");
        let stale = |end: &&Result<(), JournalError>| matches!(end, Err(JournalError::Stale { at: is, .. }) if *is == at as u32 + 1);
        assert_eq!(done.iter().filter(stale).count(), 7, "{done:?}");
    }
    assert_eq!(journal::read_all(&*two, "a").await.unwrap(), log);
}

pub async fn what_another_has_written_is_seen_before_a_resume_writes(place: &dyn Place) {
    let whole = whole("a").await;
    let (one, two, log, run) = (place.open().await, place.open().await, whole.run.ledger().log(), Str::from("a"));
    one.append(Batch::new(&run, 0, &log[..2])).await.unwrap();
    two.append(Batch::new(&run, 2, &log[2..3])).await.unwrap();
    assert!(matches!(one.append(Batch::new(&run, 2, &log[2..4])).await, Err(JournalError::Stale { at: 3, .. })));
    one.append(Batch::new(&run, 3, &log[3..5])).await.unwrap();
    assert!(matches!(two.append(Batch::new(&run, 3, &log[3..4])).await, Err(JournalError::Stale { at: 5, .. })));
    assert_eq!(journal::read_all(&*two, "a").await.unwrap(), log[..5]);
}

pub async fn a_late_result_does_not_change_how_a_run_stands(place: &dyn Place) {
    let journal = place.open().await;
    let result = ran(&journal, "a").await;
    let last = result.run.ledger().log().last().unwrap().clone();
    let event = Event::LateResult { call: NodeId(3), outcome: Outcome::Completed, text: "late".into() };
    let late = Record { seq: last.seq + 1, at_ms: last.at_ms + 1, event };
    journal.append(Batch::new(&"a".into(), last.seq, &[Arc::new(late)])).await.unwrap();
    let line = journal.summary("a").await.unwrap().unwrap();
    assert_eq!((line.status, line.reason, line.seq), (Status::Completed, Some(Reason::Verified), last.seq + 1));
    assert_eq!(line.changed_ms, last.at_ms + 1);
}
