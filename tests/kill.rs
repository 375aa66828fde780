//! Processes killed with SIGKILL, at every event of every live scenario and inside tools, and taken up again from
//! their journal file by a process that knows nothing else.

mod appender;

use crate::scratch::Scratch;
use appender::Stops;
use countersign::live::Command as Say;
use countersign::*;
use countersign_examples::suite::{self, Live, Outside};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::Mutex;

/// Scenarios that do not come to the same after a crash, or have no end to be compared, with the reason.
const OTHERWISE: &[(&str, &str)] = &[
    ("calls/background", "nobody can tell whether the build was done, and nobody builds again on a guess"),
    ("limits/deadline", "the clock of the suite stands still, so that a crash has used nothing of its time"),
    ("provider/fails_twice", "its model counts calls, and a new process counts from none"),
];

/// Starts a process, waits until it stands where it was told to, and kills it. False where it came to its end first.
fn kill_at(args: &[&str]) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mortal")).args(args).stdout(Stdio::piped()).spawn().expect("the process starts");
    let mut said = String::new();
    BufReader::new(child.stdout.take().expect("it speaks")).read_line(&mut said).expect("it can be heard");
    child.kill().expect("it can be killed");
    child.wait().expect("it is dead");
    said == "here\n"
}

/// What a run came to: its decision's reason, and its answer.
type End = (Reason, Option<Str>);

/// Takes a scenario up again from its file, and says to it what was not said yet.
async fn take_up(live: &Live, file: &str) -> Result<End, String> {
    let journal = Arc::new(SqliteJournal::open(file).map_err(|e| e.to_string())?);
    let summary = journal.summary(live.name).await.map_err(|e| e.to_string())?.ok_or("it left nothing")?;
    let end = match summary.reason {
        // It had come to its end: nobody takes it up.
        Some(reason) if summary.status.is_terminal() || summary.status == Status::Blocked && live.outside.is_empty() => (reason, None),
        _ => go_on(live, journal.clone()).await.map_err(|e| e.to_string())?,
    };
    let message = journal.message(live.name).await.map_err(|e| e.to_string())?.unwrap_or_default();
    let answer = message.content.filter(|_| message.finalized);
    if end.1.is_none() || end.1 == answer { Ok((end.0, answer)) } else { Err(format!("its message says {answer:?}")) }
}

async fn go_on(live: &Live, journal: Arc<SqliteJournal>) -> Result<End, suite::SuiteError> {
    let runner = (live.runner)()?.on(journal);
    let result = runner.resume(live.name, Vec::new(), None).await?.result().await?;
    let result = live.hear(&runner, result).await?;
    Ok((result.reason(), result.text().map(Str::from)))
}

async fn killed_everywhere(live: &Live, wrong: &Mutex<Vec<String>>) {
    let whole = live.run().await.expect("it runs");
    let scratch = Scratch::new();
    for record in whole.run.ledger().log() {
        let file = scratch.file(&format!("{}.db", record.seq));
        let said = kill_at(&["scenario", &file, live.name, &record.seq.to_string()]);
        let must = match record.event {
            // Killed inside a write: nobody can tell, and nobody may guess.
            Event::ToolStarted { .. } => (Reason::UnknownOutcome, None),
            _ => (whole.reason(), whole.text().map(Str::from)),
        };
        let why = match take_up(live, &file).await {
            _ if !said => "it never came so far".into(),
            Ok(end) if end == must => continue,
            Ok((reason, text)) => format!("{} {text:?}", reason.name()),
            Err(why) => why,
        };
        wrong.lock().unwrap().push(format!("{} killed at event {}: {why}", live.name, record.seq));
    }
}

#[test]
fn a_kill_at_any_event_of_any_scenario_changes_no_decision() {
    let left_out = |live: &Live| OTHERWISE.iter().any(|(name, _)| *name == live.name) || live.outside.contains(&Outside::CancelOnceCalled);
    let scenarios: Vec<&Live> = suite::all().filter(|live| !left_out(live)).collect();
    let (next, wrong) = (std::sync::atomic::AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                while let Some(live) = scenarios.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
                    runtime.block_on(killed_everywhere(live, &wrong));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A run that was killed inside its tool, and how often the tool has really run.
struct Killed {
    scratch: Scratch,
    tool: &'static str,
}

impl Killed {
    fn inside(tool: &'static str, moment: &str) -> Self {
        let killed = Self { scratch: Scratch::new(), tool };
        assert!(kill_at(&["tool", &killed.scratch.file("run.db"), &killed.scratch.file("effects"), tool, moment]));
        killed
    }

    async fn resume(&self, policy: Policy, say: Vec<Say>) -> RunResult {
        let journal = Arc::new(SqliteJournal::open(self.scratch.file("run.db")).unwrap());
        let runner = appender::runner(self.scratch.file("effects").into(), self.tool, Stops::Never, journal, policy);
        runner.resume("mortal", say, None).await.unwrap().result().await.unwrap()
    }

    fn times(&self) -> usize {
        std::fs::read_to_string(self.scratch.file("effects")).unwrap_or_default().lines().count()
    }
}

#[tokio::test]
async fn a_kill_inside_a_harmless_tool_runs_it_again() {
    for (tool, moment, times) in [("read", "before", 1), ("read", "after", 2), ("idempotent", "before", 1), ("idempotent", "after", 2)] {
        let killed = Killed::inside(tool, moment);
        let result = killed.resume(Policy::execution(), vec![]).await;
        assert_eq!((result.reason(), killed.times()), (Reason::Verified, times), "{tool} killed {moment}");
    }
}

#[tokio::test]
async fn a_kill_inside_a_write_never_runs_it_again_by_itself() {
    for (moment, times) in [("before", 0), ("after", 1)] {
        let killed = Killed::inside("write", moment);
        for _ in 0..3 {
            let result = killed.resume(Policy::execution(), vec![]).await;
            assert_eq!((result.status(), result.reason()), (Status::Blocked, Reason::UnknownOutcome), "{:?}", result.decision);
            assert_eq!((result.text(), killed.times()), (None, times));
        }
    }
}

#[tokio::test]
async fn a_lost_write_is_resolved_by_a_person_after_a_crash() {
    let lost = |r: &RunResult| r.run.ledger().open().lost.iter().next().expect("a lost call");
    let resolve = |call, outcome, text: &str| vec![Say::Resolve { call, outcome, text: text.into(), by: "a person".into() }];
    // Run again, because somebody looked and it had not run.
    let killed = Killed::inside("write", "before");
    let parked = killed.resume(Policy::execution(), vec![]).await;
    let result = killed.resume(Policy::execution(), resolve(lost(&parked), None, "")).await;
    assert_eq!((result.reason(), killed.times()), (Reason::Verified, 1));
    // Recorded as done, because somebody looked and it had.
    let killed = Killed::inside("write", "after");
    let parked = killed.resume(Policy::execution(), vec![]).await;
    let result = killed.resume(Policy::execution(), resolve(lost(&parked), Some(Outcome::Completed), "the line is there")).await;
    assert_eq!((result.reason(), killed.times()), (Reason::Verified, 1));
    // Given up: it failed, and an answer on nothing is refused.
    let killed = Killed::inside("write", "before");
    let parked = killed.resume(Policy::execution(), vec![]).await;
    let result = killed.resume(Policy::execution(), resolve(lost(&parked), Some(Outcome::Failed), "given up")).await;
    assert_eq!((result.final_response.is_none(), killed.times()), (true, 0));
}

#[tokio::test]
async fn a_lost_write_is_resolved_by_the_policy_after_a_crash() {
    // The policy stands in the run's first event, so these runs are cut by hand and not killed.
    for (on_lost, times) in [(OnLost::Retry, 1), (OnLost::Fail, 0)] {
        let scratch = Scratch::new();
        let effects = std::path::PathBuf::from(scratch.file("effects"));
        let policy = Policy { on_lost, ..Policy::conversation() };
        let whole = appender::runner(scratch.file("elsewhere").into(), "write", Stops::Never, Arc::new(MemoryJournal::new()), policy.clone());
        let whole = whole.start("mortal", "append a line").unwrap().result().await.unwrap();
        let log = whole.run.ledger().log();
        let started = log.iter().position(|r| matches!(r.event, Event::ToolStarted { .. })).expect("written ahead") + 1;
        let journal = Arc::new(SqliteJournal::open(scratch.file("run.db")).unwrap());
        journal.append(Batch::new(&"mortal".into(), 0, &log[..started])).await.unwrap();
        let runner = appender::runner(effects.clone(), "write", Stops::Never, journal, policy);
        let result = runner.resume("mortal", vec![], None).await.unwrap().result().await.unwrap();
        assert!(result.decision.finalized, "{:?}", result.decision);
        assert_eq!(std::fs::read_to_string(&effects).unwrap_or_default().lines().count(), times);
    }
}
