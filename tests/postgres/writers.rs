//! Many writers and readers: what goes into one commit, and who is told of it.

use crate::promises::{Place, ran, renamed, runner, whole};
use crate::server::Schema;
use countersign::journal::tail::Tail;
use countersign::*;
use futures_util::future::join_all;
use futures_util::stream::poll_fn;
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use tokio_postgres::{AsyncMessage, NoTls};

#[tokio::test]
async fn appends_that_wait_go_into_one_commit() {
    let schema = Schema::new().await;
    let journal = schema.open().await;
    let log = whole("a").await.run.ledger().log().to_vec();
    let runs: Vec<_> = (0..64).map(|n| (Str::from(format!("run-{n}")), renamed(&log, &format!("run-{n}")))).collect();
    let done = join_all(runs.iter().map(|(run, log)| journal.append(Batch::new(run, 0, log)))).await;
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    let count = format!("SELECT count(DISTINCT xmin::text), count(*) FROM {}.runs", schema.name);
    let row = schema.admin.query_one(&count, &[]).await.unwrap();
    let (commits, kept): (i64, i64) = (row.get(0), row.get(1));
    assert_eq!(kept, 64);
    assert!(commits <= 2, "{commits} commits");
}

#[tokio::test]
async fn a_tail_elsewhere_sees_every_event_of_every_run_although_its_connections_are_killed() {
    let schema = Schema::new().await;
    let (here, elsewhere) = (schema.open().await, schema.open().await);
    let tails = (0..8).map(|n| {
        let mut tail = Tail::new(elsewhere.clone(), format!("run-{n}"), 0);
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(record) = tail.next().await {
                seen.push(record.unwrap());
            }
            seen
        })
    });
    let tails: Vec<_> = tails.collect();
    let runs = (0..8).map(async |n| {
        schema.kill_connections().await;
        ran(&here, &format!("run-{n}")).await
    });
    let runs = join_all(runs).await;
    for (tail, run) in tails.into_iter().zip(runs) {
        assert_eq!(tail.await.unwrap(), run.run.ledger().log());
    }
}

/// Without a timer: whoever has looked, and waits, is told.
#[tokio::test]
async fn whoever_listens_is_told_of_a_commit_and_of_nothing_that_failed() {
    let schema = Schema::new().await;
    let journal = schema.open().await;
    let (client, mut wire) = tokio_postgres::connect(&schema.dsn, NoTls).await.unwrap();
    let mut news = Box::pin(poll_fn(move |context| wire.poll_message(context)));
    let log = whole("a").await.run.ledger().log().to_vec();
    let listen = format!("LISTEN {}", schema.name);
    tokio::select! { done = client.batch_execute(&listen) => done.unwrap(), _ = news.next() => panic!("nothing was written") };
    journal.append(Batch::new(&"a".into(), 0, &log[..2])).await.unwrap();
    let told = news.next().await.unwrap().unwrap();
    assert!(matches!(told, AsyncMessage::Notification(note) if note.channel() == schema.name && note.payload().len() == 8));
    journal.append(Batch::new(&"a".into(), 0, &log[..2])).await.unwrap_err();
    // Whatever was told before this answer would be there by now.
    tokio::select! { done = client.batch_execute("SELECT 1") => done.unwrap(), _ = news.next() => panic!("nothing was written") };
    assert!(news.next().now_or_never().is_none());
}

#[tokio::test]
async fn two_pools_that_drive_the_same_runs_come_to_one_end_each() {
    let schema = Schema::new().await;
    let (one, two) = (schema.open().await, schema.open().await);
    let start = async |journal: &Arc<dyn Journal>, run: String| runner(journal).start(&run, "Look, please").unwrap().result().await;
    for n in 0..8 {
        let run = format!("run-{n}");
        let (first, second) = tokio::join!(start(&one, run.clone()), start(&two, run.clone()));
        let (won, lost) = if first.is_ok() { (first, second) } else { (second, first) };
        assert_eq!(won.unwrap().reason(), Reason::Verified);
        assert!(matches!(lost.err(), Some(DriveError::Journal(JournalError::Stale { .. }))));
        let log = journal::read_all(&*one, &run).await.unwrap();
        assert_eq!(log.iter().filter(|r| matches!(r.event, Event::RunStarted(_))).count(), 1);
    }
    assert_eq!(schema.journal().await.verify().await.unwrap(), []);
}
