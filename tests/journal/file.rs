//! What a journal in a file promises: schemas, keys, integrity, full disks, other processes.

use super::promises::{ran, renamed, runner};
use crate::scratch::Scratch;
use countersign::journal::projection::RunQuery;
use countersign::journal::sqlite::{SCHEMA, SqliteOptions};
use countersign::*;
use std::sync::Arc;

/// A file with one whole run in it, closed.
async fn file(key: Option<&[u8]>) -> (Scratch, String, RunResult) {
    let scratch = Scratch::new();
    let path = scratch.file("runs.db");
    let options = SqliteOptions { key: key.map(<[u8]>::to_vec), ..SqliteOptions::default() };
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open_with(&path, options).unwrap());
    let result = ran(&journal, "a").await;
    (scratch, path, result)
}

fn sql(path: &str, statement: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(statement).unwrap();
}

/// Puts a file back to how the first version made it.
const FIRST_SCHEMA: &str = "
    DROP TABLE queues; DROP TABLE messages; DROP INDEX runs_by_mode; DROP INDEX runs_by_conversation; DROP TABLE places; ALTER TABLE seal DROP COLUMN placed;
    DROP INDEX runs_by_owner; ALTER TABLE runs DROP COLUMN owner; ALTER TABLE runs DROP COLUMN profile;
    CREATE TABLE old (run INTEGER NOT NULL, seq INTEGER NOT NULL, link BLOB NOT NULL, body TEXT NOT NULL) STRICT;
    INSERT INTO old SELECT run, seq, link, body FROM events; DROP TABLE events; ALTER TABLE old RENAME TO events;
    CREATE UNIQUE INDEX events_by_run ON events (run, seq);
    PRAGMA user_version = 1;";

#[tokio::test]
async fn an_old_schema_opens_and_a_newer_one_is_refused() {
    let (_scratch, path, result) = file(None).await;
    sql(&path, FIRST_SCHEMA);
    let journal = SqliteJournal::open(&path).unwrap();
    assert_eq!(journal::read_all(&journal, "a").await.unwrap(), result.run.ledger().log());
    assert_eq!(journal.message("a").await.unwrap().unwrap().content, None);
    drop(journal);
    sql(&path, "PRAGMA user_version = 99;");
    let newer = SqliteJournal::open(&path).err().unwrap();
    assert_eq!(newer, JournalError::Newer { place: path, found: 99, known: SCHEMA });
}

/// More events than may stand outside the index by run, a hundred runs at a time: read while some do, by this process
/// and by another, and after the file was closed.
#[tokio::test]
async fn a_run_is_read_wherever_its_events_stand_among_those_of_others() {
    const RUNS: usize = 150;
    let (_scratch, path, result) = file(None).await;
    let journal = Arc::new(SqliteJournal::open(&path).unwrap());
    let logs: Vec<_> = (0..RUNS).map(|n| (Str::from(format!("run-{n}")), renamed(result.run.ledger().log(), &format!("run-{n}")))).collect();
    for at in 0..result.run.ledger().log().len() {
        let mut appends = tokio::task::JoinSet::new();
        for (run, log) in logs.clone() {
            let journal = journal.clone();
            appends.spawn(async move { journal.append(Batch::new(&run, at as u32, &log[at..=at])).await });
        }
        assert!(appends.join_all().await.iter().all(Result::is_ok));
        let written = &logs[at % RUNS];
        assert_eq!(journal::read_all(&*journal, &written.0).await.unwrap(), written.1[..=at]);
        assert_eq!(journal.summary(&written.0).await.unwrap().unwrap().seq, at as u32 + 1);
    }
    let whole = async |journal: SqliteJournal| {
        assert_eq!(journal.verify().await.unwrap(), []);
        for (run, log) in logs.iter().step_by(40) {
            for after in 0..=log.len() {
                assert_eq!(journal.read(run, after as u32, 3).await.unwrap(), log[after..(after + 3).min(log.len())]);
            }
        }
        let listed = journal.list(&RunQuery { most: RUNS + 9, ..RunQuery::default() }).await.unwrap();
        assert_eq!(listed.len(), RUNS + 1);
        assert!(listed.iter().all(|run| run.seq as usize == result.run.ledger().log().len()));
    };
    let look = || SqliteJournal::look(&path, SqliteOptions::default()).unwrap();
    whole(look()).await;
    drop(journal);
    whole(look()).await;
    whole(SqliteJournal::open(&path).unwrap()).await;
}

/// Two processes write to one run in turns, and each reads all of it, from wherever: what a follower gets from memory
/// has no gap where the other has written.
#[tokio::test]
async fn a_follower_misses_nothing_that_another_process_writes() {
    let (_scratch, path, result) = file(None).await;
    let log = renamed(result.run.ledger().log(), "b");
    let processes = [SqliteJournal::open(&path).unwrap(), SqliteJournal::open(&path).unwrap()];
    for (at, writer) in [0, 0, 1, 0, 1, 1, 0].into_iter().enumerate() {
        processes[writer].append(Batch::new(&"b".into(), at as u32, &log[at..=at])).await.unwrap();
        for reader in &processes {
            for after in 0..=at + 1 {
                let mut read = Vec::new();
                while let next = reader.read("b", (after + read.len()) as u32, 3).await.unwrap()
                    && !next.is_empty()
                {
                    read.extend(next);
                }
                assert_eq!(read, log[after..=at]);
            }
        }
    }
}

#[tokio::test]
async fn what_is_no_journal_is_refused_by_name() {
    let scratch = Scratch::new();
    let path = scratch.file("notes.txt");
    std::fs::write(&path, "these are notes, and long enough to be taken for a file of pages".repeat(100)).unwrap();
    assert!(matches!(SqliteJournal::open(&path), Err(JournalError::Unreadable { place, .. }) if place == path));
    assert!(matches!(SqliteJournal::open(scratch.file("no/such/folder/runs.db")), Err(JournalError::Unreadable { .. })));
}

#[tokio::test]
async fn tampering_is_found_at_its_event_and_what_is_before_stays_readable() {
    let harm: &[(&str, u32, &str)] = &[
        ("UPDATE events SET body = replace(body, 'look', 'loot') WHERE seq = 4", 4, "it is not what was written"),
        ("UPDATE events SET body = substr(body, 1, 20) WHERE seq = 5", 5, "it is not what was written"),
        ("DELETE FROM events WHERE seq = 3", 3, "it is missing"),
        ("DELETE FROM events WHERE seq > 4", 5, "it is missing"),
        ("UPDATE events SET seq = seq + 100 WHERE seq > 6", 7, "it is missing"),
        ("UPDATE events SET seq = 99 WHERE seq = 2", 2, "it is missing"),
        ("UPDATE events SET link = zeroblob(16) WHERE seq = 6", 6, "it is not what was written"),
        ("UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE seq = 5", 5, ""),
        ("UPDATE runs SET run = 'b'", 1, "it is not what was written"),
    ];
    for (statement, at, what) in harm {
        let (_scratch, path, result) = file(None).await;
        sql(&path, statement);
        let journal = SqliteJournal::open(&path).unwrap();
        let run = if statement.contains("'b'") { "b" } else { "a" };
        let whole = journal.read(run, 0, 1000).await;
        let damage = if *at == 1 { whole.unwrap_err() } else { journal.read(run, at - 1, 1000).await.unwrap_err() };
        assert!(matches!(&damage, JournalError::Damaged { seq, why, .. } if seq == at && why.contains(what)), "{statement}: {damage}");
        if *at > 1 {
            assert_eq!(journal.read(run, 0, 1000).await.unwrap(), result.run.ledger().log()[..*at as usize - 1], "{statement}");
        }
        let found = journal.verify().await.unwrap();
        assert_eq!(found.last(), Some(&damage), "{statement}");
        assert_eq!(found.len(), 1 + usize::from(statement.starts_with("DELETE")), "{statement}: {found:?}");
    }
}

#[tokio::test]
async fn a_key_keeps_a_forger_out() {
    let (_scratch, path, _) = file(Some(b"a key of ours")).await;
    let open = |key: Option<&[u8]>| SqliteJournal::open_with(&path, SqliteOptions { key: key.map(<[u8]>::to_vec), ..SqliteOptions::default() });
    assert!(matches!(open(None), Err(JournalError::Key { .. })));
    assert!(matches!(open(Some(b"a guess")), Err(JournalError::Key { .. })));
    // Whoever knows how a chain is made, and not the key, cannot make one.
    let (before, text): (Vec<u8>, String) = {
        let db = rusqlite::Connection::open(&path).unwrap();
        let before = db.query_row("SELECT link FROM events WHERE seq = 3", [], |r| r.get(0)).unwrap();
        (before, db.query_row("SELECT replace(body, 'look', 'loot') FROM events WHERE seq = 4", [], |r| r.get(0)).unwrap())
    };
    let forged = journal::chain::Chain::plain().link(&before.try_into().unwrap(), &text);
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("UPDATE events SET body = ?1, link = ?2 WHERE seq = 4", rusqlite::params![text, forged])
        .unwrap();
    let found = open(Some(b"a key of ours")).unwrap().verify().await.unwrap();
    assert!(matches!(found.as_slice(), [JournalError::Damaged { seq: 4, .. }]), "{found:?}");
}

#[tokio::test]
async fn a_full_disk_parks_the_run_and_a_resume_goes_on_without_loss() {
    let (scratch, path, _) = file(None).await;
    let size = std::fs::metadata(&path).unwrap().len();
    let full = SqliteJournal::open_with(&path, SqliteOptions { bytes_max: Some(size), ..SqliteOptions::default() }).unwrap();
    let full: Arc<dyn Journal> = Arc::new(full);
    let mut stopped = None;
    for n in 0..100 {
        let run = format!("b-{n}");
        match runner(&full).start(&run, "look ".repeat(200)).unwrap().result().await {
            Ok(_) => {}
            Err(why) => {
                stopped = Some((run, why));
                break;
            }
        }
    }
    let (run, why) = stopped.expect("the file is full at some time");
    assert!(matches!(&why, DriveError::Journal(JournalError::Full { place }) if *place == path), "{why}");
    // What was acknowledged is whole, and the run goes on from it once there is room.
    assert_eq!(journal::read_all(&*full, "a").await.unwrap().len() as u32, full.summary("a").await.unwrap().unwrap().seq);
    drop(full);
    let roomy: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&path).unwrap());
    let result = match roomy.summary(&run).await.unwrap() {
        Some(_) => runner(&roomy).resume(&run, vec![], None).await.unwrap().result().await.unwrap(),
        None => ran(&roomy, &run).await,
    };
    assert_eq!(result.reason(), Reason::Verified);
    drop(scratch);
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_a_clear_error() {
    let (_scratch, path, _) = file(None).await;
    let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&path).unwrap());
    // What a file system that turned read-only does to a connection.
    sql(&path, "CREATE TRIGGER no_more BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'nothing may be written'); END;");
    let why = runner(&journal).start("b", "look").unwrap().result().await.err().unwrap();
    assert!(
        matches!(&why, DriveError::Journal(JournalError::Store(text)) if text.contains("nothing may be written") && text.contains(&path)),
        "{why}"
    );
    assert!(journal.summary("b").await.unwrap().is_none(), "all of a batch, or nothing");
    assert_eq!(journal::read_all(&*journal, "a").await.unwrap().len() as u32, journal.summary("a").await.unwrap().unwrap().seq);
}

#[tokio::test]
async fn a_torn_file_is_an_error_and_never_another_story() {
    let (scratch, path, result) = file(None).await;
    let whole = std::fs::read(&path).unwrap();
    let log = result.run.ledger().log();
    for page in 0..whole.len() / 4096 {
        let torn = scratch.file("torn.db");
        let mut bytes = whole.clone();
        bytes[page * 4096 + 200..page * 4096 + 1800].fill(0xA5);
        std::fs::write(&torn, &bytes).unwrap();
        let Ok(journal) = SqliteJournal::open(&torn) else { continue };
        match journal::read_all(&journal, "a").await {
            Ok(read) => assert!(log.starts_with(&read), "page {page}"),
            Err(why) => assert!(!why.to_string().is_empty(), "page {page}"),
        }
    }
}

#[tokio::test]
async fn the_end_of_a_run_under_way_is_missed_although_its_beginning_is_whole() {
    let (_scratch, path, result) = file(None).await;
    let journal = SqliteJournal::open(&path).unwrap();
    let log = renamed(&result.run.ledger().log()[..5], "b");
    journal.append(Batch::new(&"b".into(), 0, &log)).await.unwrap();
    sql(&path, "DELETE FROM events WHERE run = 2 AND seq > 3");
    assert_eq!(journal.read("b", 0, 100).await.unwrap().len(), 3);
    let found = journal.verify().await.unwrap();
    assert!(matches!(found.as_slice(), [JournalError::Count { has, written, .. }] if has + 2 == *written), "{found:?}");
}

#[tokio::test]
async fn a_line_or_a_message_that_says_something_else_than_its_log_is_found() {
    for (statement, what) in [
        ("UPDATE messages SET content = 'something nicer'", "message"),
        ("UPDATE messages SET finalized = 0", "message"),
        ("UPDATE runs SET status = 'failed'", "line"),
        ("UPDATE runs SET title = 'another task'", "line"),
    ] {
        let (_scratch, path, _) = file(None).await;
        sql(&path, statement);
        let found = SqliteJournal::open(&path).unwrap().verify().await.unwrap();
        assert!(matches!(found.as_slice(), [JournalError::Damaged { why, .. }] if why.contains(what)), "{statement}: {found:?}");
    }
}

#[tokio::test]
async fn looking_at_a_file_changes_nothing_in_it() {
    let (scratch, path, result) = file(None).await;
    let look = |path: &str| SqliteJournal::look(path, SqliteOptions::default());
    let journal = look(&path).unwrap();
    let log = result.run.ledger().log();
    assert_eq!(journal::read_all(&journal, "a").await.unwrap(), log);
    let late = renamed(log, "b");
    assert!(matches!(journal.append(Batch::new(&"b".into(), 0, &late)).await, Err(JournalError::ReadOnly { .. })));
    drop(journal);
    let other = scratch.file("other.db");
    sql(&other, "CREATE TABLE notes (text TEXT)");
    let before = std::fs::read(&other).unwrap();
    for opened in [look(&other), SqliteJournal::open(&other)] {
        assert!(matches!(opened, Err(JournalError::Unreadable { why, .. }) if why.contains("something else")));
    }
    assert_eq!(std::fs::read(&other).unwrap(), before);
    std::fs::write(scratch.file("empty.db"), "").unwrap();
    assert!(matches!(look(&scratch.file("empty.db")), Err(JournalError::Unreadable { .. })));
    sql(&path, FIRST_SCHEMA);
    assert!(matches!(look(&path), Err(JournalError::Older { found: 1, .. })));
}

#[test]
fn a_new_file_is_made_once_by_however_many_open_it() {
    let scratch = Scratch::new();
    let path = scratch.file("new.db");
    let opened: Vec<Option<JournalError>> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| SqliteJournal::open(&path).err())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(opened, [const { None }; 8]);
}
