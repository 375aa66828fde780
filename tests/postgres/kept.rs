//! Schemas of older and newer versions; what is forgotten, and what never is.

use crate::promises::{Place, ran, renamed, runner, whole};
use crate::server::Schema;
use countersign::journal::projection::RunQuery;
use countersign::testing::ScriptedModel;
use countersign::*;
use countersign_connect::postgres::{PostgresJournal, SCHEMA};
use futures_util::future::join_all;

/// Puts the tables back to how the first version made them.
const FIRST_SCHEMA: &str = "
    ALTER TABLE runs DROP COLUMN ended_ms, DROP COLUMN driver;
    DROP TABLE posts, queues;
    DROP VIEW living;
    UPDATE journal SET version = 1";

#[tokio::test]
async fn an_old_schema_opens_and_a_newer_one_is_refused() {
    let schema = Schema::new().await;
    let result = ran(&schema.open().await, "a").await;
    schema.sql(FIRST_SCHEMA).await;
    let older = schema.look().await.err().unwrap();
    assert_eq!(older, JournalError::Older { place: schema.place(), found: 1, known: SCHEMA });
    // By as many as come at the same time.
    let opened = join_all((0..4).map(|_| schema.journal())).await;
    assert_eq!(journal::read_all(&opened[0], "a").await.unwrap(), result.run.ledger().log());
    assert_eq!(opened[1].forget_before(u64::MAX).await.unwrap(), 1, "the end of an old run is known");
    schema.sql("UPDATE journal SET version = 99").await;
    let newer = JournalError::Newer { place: schema.place(), found: 99, known: SCHEMA };
    assert_eq!(PostgresJournal::open_with(&schema.dsn, schema.options()).await.err(), Some(newer.clone()));
    assert_eq!(schema.look().await.err(), Some(newer));
}

#[tokio::test]
async fn a_new_journal_is_made_once_by_however_many_open_it() {
    let schema = Schema::new().await;
    let opened = join_all((0..8).map(|_| PostgresJournal::open_with(&schema.dsn, schema.options()))).await;
    assert_eq!(opened.into_iter().filter_map(Result::err).collect::<Vec<_>>(), []);
}

#[tokio::test]
async fn looking_at_a_journal_changes_nothing_in_it() {
    let schema = Schema::new().await;
    let result = ran(&schema.open().await, "a").await;
    let journal = schema.look().await.unwrap();
    let log = result.run.ledger().log();
    assert_eq!(journal::read_all(&journal, "a").await.unwrap(), log);
    assert!(matches!(journal.append(Batch::new(&"b".into(), 0, &renamed(log, "b"))).await, Err(JournalError::ReadOnly { .. })));
    assert!(matches!(journal.forget_before(u64::MAX).await, Err(JournalError::ReadOnly { .. })));
}

#[tokio::test]
async fn what_ended_is_forgotten_and_what_waits_for_a_person_is_not() {
    let schema = Schema::new().await;
    let (journal, shared) = (schema.journal().await, schema.open().await);
    let ended = ran(&shared, "ended").await;
    // Blocked: somebody may grant it more. Under way: its process may be anywhere.
    let lazy = ScriptedModel(|_: &ModelRequest| ModelReply::text("surely"));
    let read = FnTool::plain("read", "x", Declared::run(Effect::Read), |_: serde_json::Value| Ok("x".to_owned()));
    let agent = Agent::new("main", "").tool(read.spec());
    let blocked = Runner::builder(Single::default(), lazy).agent(agent).tool(read).policy(Policy::execution()).journal(shared.clone());
    let blocked = blocked.build().unwrap().start("blocked", "t").unwrap().result().await.unwrap();
    assert_eq!(blocked.status(), Status::Blocked);
    shared.append(Batch::new(&"begun".into(), 0, &renamed(&whole("begun").await.run.ledger().log()[..3], "begun"))).await.unwrap();
    let kept = [(NodeId(3), Str::from("all of it"))];
    let late = renamed(ended.run.ledger().log(), "late");
    journal.append(Batch { outputs: &kept, ..Batch::new(&"late".into(), 0, &late) }).await.unwrap();

    let end = journal.summary("ended").await.unwrap().unwrap().changed_ms;
    assert_eq!(journal.forget_before(end).await.unwrap(), 0, "nothing ended before that");
    assert_eq!(journal.forget_before(end + 1).await.unwrap(), 2);
    let mut left: Vec<_> = journal.list(&RunQuery::default()).await.unwrap().into_iter().map(|run| run.run.to_string()).collect();
    left.sort();
    assert_eq!(left, ["begun", "blocked"]);
    assert!(journal.read("ended", 0, 10).await.unwrap().is_empty() && journal.message("ended").await.unwrap().is_none());
    assert!(journal.kept("late", NodeId(3)).await.unwrap().is_none());
    let rows =
        format!("SELECT (SELECT count(*) FROM {0}.events) + (SELECT count(*) FROM {0}.outputs) + (SELECT count(*) FROM {0}.messages)", schema.name);
    let rows: i64 = schema.admin.query_one(&rows, &[]).await.unwrap().get(0);
    assert_eq!(rows as usize, 3 + 1 + blocked.run.ledger().log().len(), "nothing is left of what was forgotten");

    // A writer that remembers it finds that it is gone, and a new run may have its name.
    let last = ended.run.ledger().seq();
    let stale = shared.append(Batch::new(&"ended".into(), last, &[])).await;
    assert_eq!(stale, Err(JournalError::Stale { run: "ended".into(), expected: last, at: 0 }));
    assert_eq!(ran(&shared, "ended").await.reason(), Reason::Verified);
    assert_eq!(runner(&shared).resume("begun", vec![], None).await.unwrap().result().await.unwrap().reason(), Reason::Verified);
    assert_eq!(journal.verify().await.unwrap(), []);
}
