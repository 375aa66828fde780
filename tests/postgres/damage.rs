//! What was changed from outside is found at its event, and a key keeps a forger out.

use crate::promises::{Place, ran};
use crate::server::Schema;
use countersign::*;
use countersign_connect::postgres::{PostgresJournal, PostgresOptions};

#[tokio::test]
async fn tampering_is_found_at_its_event_and_what_is_before_stays_readable() {
    let harm: &[(&str, u32, &str)] = &[
        ("UPDATE events SET body = replace(body, 'look', 'loot') WHERE seq = 4", 4, "it is not what was written"),
        ("UPDATE events SET body = left(body, 20) WHERE seq = 5", 5, "it is not what was written"),
        ("DELETE FROM events WHERE seq = 3", 3, "it is missing"),
        ("DELETE FROM events WHERE seq > 4", 5, "it is missing"),
        ("UPDATE events SET seq = seq + 100 WHERE seq > 6", 7, "it is missing"),
        ("UPDATE events SET seq = 99 WHERE seq = 2", 2, "it is missing"),
        ("UPDATE events SET link = '\\x00' WHERE seq = 6", 6, "it is not what was written"),
        ("UPDATE runs SET head = '\\x00'", 0, "the run's own line has another event there"),
        ("UPDATE runs SET run = 'b'", 1, "it is not what was written"),
    ];
    for (statement, at, what) in harm {
        let schema = Schema::new().await;
        let result = ran(&schema.open().await, "a").await;
        let log = result.run.ledger().log();
        let at = if *at == 0 { log.len() as u32 } else { *at };
        schema.sql(statement).await;
        let journal = schema.journal().await;
        let run = if statement.contains("'b'") { "b" } else { "a" };
        let whole = journal.read(run, 0, 1000).await;
        let damage = if at == 1 { whole.unwrap_err() } else { journal.read(run, at - 1, 1000).await.unwrap_err() };
        assert!(matches!(&damage, JournalError::Damaged { seq, why, .. } if *seq == at && why.contains(what)), "{statement}: {damage}");
        if at > 1 {
            assert_eq!(journal.read(run, 0, 1000).await.unwrap(), log[..at as usize - 1], "{statement}");
        }
        assert_eq!(journal.verify().await.unwrap(), [damage], "{statement}");
    }
}

#[tokio::test]
async fn a_line_or_a_message_that_says_something_else_than_its_log_is_found() {
    for (statement, what) in [
        ("UPDATE messages SET content = 'something nicer'", "message"),
        ("UPDATE messages SET finalized = false", "message"),
        ("UPDATE runs SET status = 'failed'", "line"),
        ("UPDATE runs SET title = 'another task'", "line"),
    ] {
        let schema = Schema::new().await;
        ran(&schema.open().await, "a").await;
        schema.sql(statement).await;
        let found = schema.journal().await.verify().await.unwrap();
        assert!(matches!(found.as_slice(), [JournalError::Damaged { why, .. }] if why.contains(what)), "{statement}: {found:?}");
    }
}

#[tokio::test]
async fn a_key_keeps_a_forger_out() {
    let schema = Schema::new().await;
    let open = async |key: Option<&[u8]>| {
        let options = PostgresOptions { key: key.map(<[u8]>::to_vec), ..schema.options() };
        PostgresJournal::open_with(&schema.dsn, options).await
    };
    let journal = std::sync::Arc::new(open(Some(b"a key of ours")).await.unwrap());
    ran(&(journal.clone() as std::sync::Arc<dyn Journal>), "a").await;
    assert!(matches!(open(None).await, Err(JournalError::Key { .. })));
    assert!(matches!(open(Some(b"a guess")).await, Err(JournalError::Key { .. })));
    assert!(matches!(open(Some(b"")).await, Err(JournalError::Unreadable { .. })));
    // Whoever knows how a chain is made, and not the key, cannot make one.
    let body =
        format!("SELECT replace(body, 'look', 'loot'), (SELECT link FROM {0}.events WHERE seq = 3) FROM {0}.events WHERE seq = 4", schema.name);
    let row = schema.admin.query_one(&body, &[]).await.unwrap();
    let (text, before): (String, Vec<u8>) = (row.get(0), row.get(1));
    let forged = journal::chain::Chain::plain().link(&before.try_into().unwrap(), &text);
    let forge = format!("UPDATE {}.events SET body = $1, link = $2 WHERE seq = 4", schema.name);
    schema.admin.execute(&forge, &[&text, &forged.as_slice()]).await.unwrap();
    let found = journal.verify().await.unwrap();
    assert!(matches!(found.as_slice(), [JournalError::Damaged { seq: 4, .. }]), "{found:?}");
}
