//! Connections and servers that are gone in the middle of an append, and processes in the middle of a run: nothing that
//! was acknowledged is lost, and nothing is there twice.

use crate::promises::{Place, ran, renamed, runner, whole};
use crate::proxy::Proxy;
use crate::server::{Schema, restart};
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
use futures_util::future::join_all;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn two_hundred_appends_survive_killed_connections() {
    let schema = Schema::new().await;
    let journal = schema.open().await;
    let log = whole("a").await.run.ledger().log().to_vec();
    let runs: Vec<_> = (0..200 / log.len() + 1).map(|n| (Str::from(format!("run-{n}")), renamed(&log, &format!("run-{n}")))).collect();
    let write = async |(lane, (run, log)): (usize, &(Str, Vec<Arc<Record>>))| {
        for (at, record) in log.iter().enumerate() {
            let append = journal.append(Batch::new(run, at as u32, std::slice::from_ref(record)));
            // Every few appends, at some moment of it, whatever it and the others are doing then.
            if (at + lane) % 5 == 0 {
                let (kept, ()) = tokio::join!(append, schema.kill_connections());
                kept.unwrap();
            } else {
                append.await.unwrap();
            }
        }
    };
    join_all(runs.iter().enumerate().map(write)).await;
    for (run, log) in &runs {
        assert_eq!(journal::read_all(&*journal, run).await.unwrap(), *log);
    }
    assert_eq!(schema.journal().await.verify().await.unwrap(), []);
}

/// The hard case: the server has done it, and its answer is lost. Every event of a run, in turn.
#[tokio::test]
async fn an_append_whose_answer_is_lost_is_found_to_be_kept() {
    let schema = Schema::new().await;
    let proxy = Proxy::to(&schema.dsn).await;
    let journal = PostgresJournal::open_with(&schema.by(proxy.address), schema.options()).await.unwrap();
    let (log, run) = (whole("a").await.run.ledger().log().to_vec(), Str::from("a"));
    // The first makes the connection.
    journal.append(Batch::new(&run, 0, &log[..1])).await.unwrap();
    for at in 1..log.len() {
        proxy.cut();
        journal.append(Batch::new(&run, at as u32, &log[at..=at])).await.unwrap();
        assert!(proxy.has_cut());
    }
    assert_eq!(journal::read_all(&journal, "a").await.unwrap(), log);
    // Somebody else has written by the time that anybody looks: then the run is his.
    let other = Str::from("b");
    let log = renamed(&log, "b");
    journal.append(Batch::new(&other, 0, &log[..2])).await.unwrap();
    schema.journal().await.append(Batch::new(&other, 2, &log[2..3])).await.unwrap();
    proxy.cut();
    let stale = journal.append(Batch::new(&other, 2, &log[2..3])).await;
    assert_eq!(stale, Err(JournalError::Stale { run: other, expected: 2, at: 3 }));
}

#[tokio::test]
async fn a_run_goes_on_when_its_server_is_killed_and_comes_back() {
    let schema = Schema::shaky().await;
    let journal: Arc<dyn Journal> = schema.open().await;
    let look = FnTool::new("look", "x", Declared::run(Effect::Read), |_: serde_json::Value| async {
        restart().await;
        Ok::<_, ToolError>("looked".to_owned())
    });
    let agent = Agent::new("main", "").tool(look.spec());
    let model = ScriptedModel(|r: &ModelRequest| if replies(&r.transcript) < 2 { ModelReply::call("look", "1") } else { ModelReply::text("seen") });
    let builder = Runner::builder(Single::default(), model).agent(agent).tool(look).policy(Policy::execution()).journal(journal.clone());
    let result = builder.build().unwrap().run("look twice").await.unwrap();
    assert_eq!(result.reason(), Reason::Verified);
    let run = &result.run.ledger().started().unwrap().run;
    assert_eq!(journal::read_all(&*journal, run).await.unwrap(), result.run.ledger().log());
    assert_eq!(journal.message(run).await.unwrap().unwrap().content.as_deref(), Some("seen"));
}

#[tokio::test]
async fn a_server_that_stays_away_stops_the_run_and_a_resume_elsewhere_ends_it() {
    let schema = Schema::new().await;
    let proxy = Proxy::to(&schema.dsn).await;
    let options = PostgresOptions { patience: Duration::from_secs(3), ..schema.options() };
    let journal: Arc<dyn Journal> = Arc::new(PostgresJournal::open_with(&schema.by(proxy.address), options).await.unwrap());
    let log = whole("a").await.run.ledger().log().to_vec();
    journal.append(Batch::new(&"a".into(), 0, &log[..2])).await.unwrap();
    proxy.close();
    schema.kill_connections().await;
    let why = runner(&journal).resume("a", vec![], None).await.err().unwrap();
    assert!(matches!(&why, DriveError::Journal(JournalError::Unreachable { place, .. }) if place.contains(&schema.name)), "{why}");
    let why = journal.append(Batch::new(&"a".into(), 2, &log[2..3])).await.unwrap_err();
    assert!(matches!(why, JournalError::Unreachable { .. }), "{why}");
    let elsewhere = schema.open().await;
    let result = runner(&elsewhere).resume("a", vec![], None).await.unwrap().result().await.unwrap();
    assert_eq!(result.reason(), Reason::Verified);
    assert_eq!(ran(&elsewhere, "b").await.reason(), Reason::Verified);
}

/// A process that is killed inside its tool, and taken up again by this one, which knows nothing else.
#[tokio::test]
async fn a_run_whose_process_was_killed_is_ended_by_another() {
    let schema = Schema::new().await;
    let mut child = Command::new(env!("CARGO_BIN_EXE_driven")).args([&schema.dsn, &schema.name]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(said, "here\n");
    let journal = schema.open().await;
    let before = journal.summary("driven").await.unwrap().unwrap();
    assert_eq!(before.status, Status::InProgress);
    let result = runner(&journal).resume("driven", vec![], None).await.unwrap().result().await.unwrap();
    assert_eq!(result.reason(), Reason::Verified);
    assert_eq!(journal::read_all(&*journal, "driven").await.unwrap(), result.run.ledger().log());
}
