//! What cannot be opened, read or written: each in words that say what to do, and none of them with a password.

use crate::promises::{Place, ran, renamed, runner, whole};
use crate::server::{Schema, admin, dsn};
use countersign::*;
use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
use std::sync::Arc;

async fn refusal(dsn: &str) -> JournalError {
    let why = PostgresJournal::open(dsn).await.err().unwrap();
    assert!(!why.to_string().contains("secret") && !format!("{why:?}").contains("secret"), "{why}");
    why
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named_without_the_password() {
    admin(&dsn()).await.batch_execute("CREATE ROLE guarded LOGIN PASSWORD 'secret'").await.unwrap();
    let good = dsn().replace("countersign:", "guarded:");
    let port = good.rsplit_once(':').unwrap().1.split_once('/').unwrap().0.to_owned();
    for (dsn, what) in [
        ("no dsn at all".to_owned(), "it is no DSN"),
        ("postgres://countersign:secret@host:99999999/x".to_owned(), "it is no DSN"),
        ("user=countersign password=secret word=secret".to_owned(), "it is no DSN"),
        (format!("{good}?sslmode=verify-full"), "`sslmode` is `disable`, `prefer` or `require`"),
        ("postgres://".to_owned(), "names no host"),
        (good.replace(":secret@", ":secretive@"), "password authentication failed for user"),
        (good.replace("/postgres", "/elsewhere"), "database \"elsewhere\" does not exist"),
        (good.replace(&port, "1"), "refused"),
        (format!("{good}?sslmode=require"), "server does not support TLS"),
    ] {
        let why = refusal(&dsn).await;
        assert!(matches!(why, JournalError::Unreachable { .. }) && why.to_string().contains(what), "{why}");
    }
    let why = refusal(&good.replace(":secret@", ":secretive@")).await;
    assert!(why.to_string().contains(&format!("`postgres://guarded@127.0.0.1:{port}/postgres#countersign` cannot be reached")), "{why}");
    for schema in ["", "Big", "pg_mine", "a; DROP"] {
        let options = PostgresOptions { schema: schema.into(), ..PostgresOptions::default() };
        assert!(matches!(PostgresJournal::open_with(&good, options).await, Err(JournalError::Unreachable { .. })), "{schema}");
    }
}

#[tokio::test]
async fn what_may_not_be_written_can_be_read() {
    let schema = Schema::new().await;
    let result = ran(&schema.open().await, "a").await;
    schema.admin.batch_execute(&format!("CREATE ROLE {} LOGIN PASSWORD 'secret'", schema.name)).await.unwrap();
    schema.sql(&format!("GRANT USAGE ON SCHEMA {0} TO {0}; GRANT SELECT ON ALL TABLES IN SCHEMA {0} TO {0}", schema.name)).await;
    let read_only = format!("{}&options=-c%20default_transaction_read_only%3Don", schema.dsn);
    for dsn in [read_only, schema.dsn.replace("countersign:", &format!("{}:", schema.name))] {
        let journal: Arc<dyn Journal> = Arc::new(PostgresJournal::open_with(&dsn, schema.options()).await.unwrap());
        assert_eq!(journal::read_all(&*journal, "a").await.unwrap(), result.run.ledger().log());
        let why = runner(&journal).start("b", "look").unwrap().result().await.err().unwrap();
        assert!(matches!(&why, DriveError::Journal(JournalError::ReadOnly { place, .. }) if place.ends_with(&schema.name)), "{why}");
        assert!(journal.summary("b").await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_full_disk_stops_the_run_and_a_resume_goes_on_without_loss() {
    let schema = Schema::new().await;
    let journal = schema.open().await;
    let log = whole("a").await.run.ledger().log().to_vec();
    journal.append(Batch::new(&"a".into(), 0, &log[..2])).await.unwrap();
    // What a server says whose disk is full.
    schema
        .sql("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$")
        .await;
    schema.sql("CREATE TRIGGER full_disk BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION full_disk()").await;
    let why = runner(&journal).resume("a", vec![], None).await.err().unwrap();
    assert!(matches!(&why, DriveError::Journal(JournalError::Full { place }) if *place == schema.place()), "{why}");
    assert_eq!(journal::read_all(&*journal, "a").await.unwrap(), log[..2]);
    schema.sql("DROP TRIGGER full_disk ON events").await;
    let result = runner(&journal).resume("a", vec![], None).await.unwrap().result().await.unwrap();
    assert_eq!(result.reason(), Reason::Verified);
}

/// What one append is refused for takes nobody else with it, although they went into one statement.
#[tokio::test]
async fn what_the_server_refuses_of_one_run_is_kept_of_the_others() {
    let schema = Schema::new().await;
    let journal = schema.open().await;
    schema.sql("ALTER TABLE runs ADD CONSTRAINT not_this_one CHECK (run <> 'run-5')").await;
    let log = whole("a").await.run.ledger().log().to_vec();
    let runs: Vec<_> = (0..10).map(|n| (Str::from(format!("run-{n}")), renamed(&log, &format!("run-{n}")))).collect();
    let done = futures_util::future::join_all(runs.iter().map(|(run, log)| journal.append(Batch::new(run, 0, log)))).await;
    for (n, end) in done.iter().enumerate() {
        assert_eq!(end.is_ok(), n != 5, "{n}: {end:?}");
    }
    assert!(matches!(&done[5], Err(JournalError::Store(why)) if why.contains("not_this_one")), "{done:?}");
}

#[tokio::test]
async fn what_is_no_journal_is_left_alone() {
    let schema = Schema::new().await;
    assert!(matches!(schema.look().await.err().unwrap(), JournalError::Unreadable { why, .. } if why.contains("no journal")));
    schema.admin.batch_execute(&format!("CREATE SCHEMA {0}; CREATE TABLE {0}.notes (text text)", schema.name)).await.unwrap();
    for opened in [schema.look().await, PostgresJournal::open_with(&schema.dsn, schema.options()).await] {
        assert!(matches!(opened.err().unwrap(), JournalError::Unreadable { why, .. } if why.contains("something else")));
    }
    let latin = format!("CREATE DATABASE {} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0", schema.name);
    schema.admin.batch_execute(&latin).await.unwrap();
    let why = refusal(&dsn().replace("/postgres", &format!("/{}", schema.name))).await;
    assert!(matches!(&why, JournalError::Unreadable { why, .. } if why.contains("UTF8")), "{why}");
}
