//! A tool's line back to its run: signs of progress, and results that come when nobody waits any more.

use crate::journal::journals;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// A call that says how far it is, and hands its line to the test.
struct Slow {
    lines: mpsc::UnboundedSender<Line>,
    timeout: Option<Duration>,
    /// Told when the call may come to its end.
    end: Arc<Notify>,
}

#[async_trait::async_trait]
impl Tool for Slow {
    fn spec(&self) -> ToolSpec {
        ToolSpec::run("slow", "Takes its time.", serde_json::json!({}), Declared::run(Effect::Read))
    }

    async fn run(&self, request: ToolRequest) -> Result<ToolOutput, ToolError> {
        request.line.progress("1 of 2");
        self.lines.send(request.line.clone()).expect("the test listens");
        self.end.notified().await;
        Ok("in time".into())
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

struct Given {
    runner: Runner,
    lines: mpsc::UnboundedReceiver<Line>,
    end: Arc<Notify>,
}

fn given(journal: &Arc<dyn Journal>, timeout: Option<Duration>, limits: Limits) -> Given {
    let (sender, lines) = mpsc::unbounded_channel();
    let end = Arc::new(Notify::new());
    let tool = Slow { lines: sender, timeout, end: end.clone() };
    let agent = Agent::new("main", "").tool(tool.spec());
    let model = ScriptedModel(|r: &ModelRequest| if replies(&r.transcript) == 0 { ModelReply::call("slow", "{}") } else { ModelReply::text("done") });
    let policy = Policy { limits, ..Policy::default() };
    let runner = Runner::builder(Single::default(), model).agent(agent).tool(tool).policy(policy).journal(journal.clone()).build().unwrap();
    Given { runner, lines, end }
}

async fn late_of(journal: &Arc<dyn Journal>, run: &str) -> Vec<(u32, String)> {
    let log = journal::read_all(&**journal, run).await.unwrap();
    let late = |r: &Arc<Record>| match &r.event {
        Event::LateResult { text, .. } => Some((r.seq, text.to_string())),
        _ => None,
    };
    // Whatever stands there reads as a whole.
    Run::replay(Arc::new(Gate::default()), log.clone()).unwrap();
    log.iter().filter_map(late).collect()
}

#[tokio::test]
async fn what_comes_after_a_cancelled_run_is_recorded_as_late_and_changes_nothing() {
    for (journal, _scratch) in journals() {
        let mut given = given(&journal, None, Limits::default());
        let run = given.runner.start("r", "t").unwrap();
        let line = given.lines.recv().await.unwrap();
        run.cancel(CancelWhen::AtOnce);
        let result = run.result().await.unwrap();
        assert_eq!(result.status(), Status::Cancelled);
        let before = journal.summary("r").await.unwrap().unwrap();
        line.late(Outcome::Completed, "after all").await.unwrap();
        line.late(Outcome::Failed, "and again").await.unwrap();
        assert_eq!(late_of(&journal, "r").await, [(before.seq + 1, "after all".into()), (before.seq + 2, "and again".into())]);
        let after = journal.summary("r").await.unwrap().unwrap();
        assert_eq!((after.status, after.reason, after.seq), (before.status, before.reason, before.seq + 2));
        let listed = journal.list(&journal::projection::RunQuery { status: Some(Status::Cancelled), ..Default::default() }).await.unwrap();
        assert_eq!(listed, [after]);
        assert!(matches!(given.runner.resume("r", vec![], None).await, Err(DriveError::Ended(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_the_run_goes_on_is_recorded_by_its_driver() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let gate = Arc::new(Notify::new());
    let waits = gate.clone();
    let hold = FnTool::new("hold", "Waits for the test.", Declared::run(Effect::Read), move |_: serde_json::Value| {
        let waits = waits.clone();
        async move {
            waits.notified().await;
            Ok::<_, ToolError>("held")
        }
    });
    let (sender, mut lines) = mpsc::unbounded_channel();
    let slow = Slow { lines: sender, timeout: Some(Duration::from_secs(1)), end: Arc::default() };
    let agent = Agent::new("main", "").tool(slow.spec()).tool(hold.spec());
    let model = ScriptedModel(|r: &ModelRequest| match replies(&r.transcript) {
        0 => ModelReply::call("slow", "{}"),
        1 => ModelReply::call("hold", "{}"),
        _ => ModelReply::text("done"),
    });
    let runner = Runner::builder(Single::default(), model).agent(agent).tool(slow).tool(hold).journal(journal.clone()).build().unwrap();
    let run = runner.start("r", "t").unwrap();
    let line = lines.recv().await.unwrap();
    let mut events = run.events(0);
    let mut seen = Vec::new();
    while let Some(next) = events.next().await {
        let Ok(Streamed::Event(record)) = next else { continue };
        match &record.event {
            Event::ToolSettled { outcome: Outcome::TimedOut, .. } => line.late(Outcome::Completed, "after all").await.unwrap(),
            Event::LateResult { .. } => gate.notify_one(),
            _ => {}
        }
        seen.push(record);
    }
    let result = run.result().await.unwrap();
    assert_eq!((result.text(), late_of(&journal, "r").await.len()), (Some("done"), 1));
    crate::driver::replay_equal(&result);
    let late = seen.iter().position(|r| matches!(r.event, Event::LateResult { .. })).unwrap();
    assert!(late + 1 < seen.len(), "it stands in the middle of the run");
}

/// A run that waits for a person may be driven by somebody else by now: nobody writes into it from the side.
#[tokio::test]
async fn what_comes_to_a_run_at_rest_is_not_written_into_it() {
    for (journal, _scratch) in journals() {
        let mut given = given(&journal, Some(Duration::from_millis(1)), Limits { turns: 1, ..Limits::default() });
        let run = given.runner.start("r", "t").unwrap();
        let line = given.lines.recv().await.unwrap();
        let result = run.result().await.unwrap();
        assert_eq!(result.status(), Status::Blocked);
        line.late(Outcome::Completed, "after all").await.unwrap();
        assert!(late_of(&journal, "r").await.is_empty());
        // One that is there all the same, from a version or a machine that thought otherwise, does not make it a crash.
        let call = result.run.ledger().tool_runs()[0].id;
        let event = Event::LateResult { call, outcome: Outcome::Completed, text: "from elsewhere".into() };
        let record = Arc::new(Record { seq: result.decision.at_seq + 2, at_ms: 0, event });
        journal.append(Batch::new(&"r".into(), record.seq - 1, &[record])).await.unwrap();
        assert_eq!(journal.summary("r").await.unwrap().unwrap().status, Status::Blocked);
        let limits = Limits { turns: 5, ..Limits::default() };
        let resumed = given.runner.resume("r", vec![], Some(limits)).await.unwrap().result().await.unwrap();
        assert_eq!(resumed.text(), Some("done"));
        let by = |r: &&Arc<Record>| matches!(r.event, Event::Resumed { by: ResumedBy::Person, .. });
        assert_eq!(resumed.run.ledger().log().iter().filter(by).count(), 1);
        assert!(!resumed.log().contains("\"crashed\""));
    }
}

#[tokio::test]
async fn signs_of_progress_are_streamed_and_not_recorded() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let given = given(&journal, None, Limits::default());
    let run = given.runner.start("r", "t").unwrap();
    let mut events = run.events(0);
    let shown = Mutex::new(Vec::new());
    while let Some(next) = events.next().await {
        if let Ok(Streamed::Progress { call, text }) = next {
            shown.lock().unwrap().push((call, text.to_string()));
            given.end.notify_one();
        }
    }
    let result = run.result().await.unwrap();
    let call = result.run.ledger().tool_runs()[0].id;
    assert_eq!((result.text(), shown.into_inner().unwrap()), (Some("done"), vec![(call, "1 of 2".to_owned())]));
    assert!(!result.log().contains("1 of 2"));
}
