//! The file's tables, and how an older file comes to have them.

use super::fault::Place;
use crate::journal::JournalError;
use crate::journal::chain::Chain;
use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::{M, Migrations};
use std::time::Duration;

/// The schema that this version writes. It stands in the file's `user_version`.
pub const SCHEMA: u32 = STEPS.len() as u32;

/// How long a writer waits for another process.
const BUSY: Duration = Duration::from_secs(10);

/// One step for each schema. A step that was released is never changed; a new schema is a new step.
const STEPS: &[M<'static>] = &[M::up(LOGS), M::up(MESSAGES), M::up(PLACES), M::up(CONVERSATIONS), M::up(OWNERS), M::up(QUEUES)];

/// Logs, and a line for each run: how it stood at its last ruling or the first event after one, and how far its log
/// went by then. Events stand in the order in which they came, so that a file grows at its end
/// however many runs write to it.
const LOGS: &str = "
    CREATE TABLE runs (
        no INTEGER PRIMARY KEY,
        run TEXT NOT NULL UNIQUE,
        conversation TEXT,
        message TEXT,
        mode TEXT NOT NULL,
        title TEXT NOT NULL,
        status TEXT NOT NULL,
        reason TEXT,
        started_ms INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        head BLOB NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started_ms);
    CREATE INDEX runs_by_status ON runs (status, started_ms);
    CREATE TABLE events (run INTEGER NOT NULL, seq INTEGER NOT NULL, link BLOB NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE UNIQUE INDEX events_by_run ON events (run, seq);
    CREATE TABLE outputs (run TEXT NOT NULL, call INTEGER NOT NULL, whole TEXT NOT NULL, PRIMARY KEY (run, call)) STRICT;
    CREATE TABLE seal (link BLOB NOT NULL, events INTEGER NOT NULL) STRICT;
";

/// What each run's message holds, and an index for runs of one mode. Runs that ended before it show none: an answer
/// comes from a final and from nothing else.
const MESSAGES: &str = "
    CREATE TABLE messages (
        run INTEGER PRIMARY KEY,
        content TEXT,
        candidate TEXT,
        finalized INTEGER NOT NULL,
        status TEXT,
        reason TEXT
    ) STRICT;
    CREATE INDEX runs_by_mode ON runs (mode, started_ms);
";

/// Events by run, entered a few hundred at a time; see [`super::places`]. Numbers that a `VACUUM` keeps, as the entries
/// name them.
const PLACES: &str = "
    CREATE TABLE numbered (no INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, link BLOB NOT NULL, body TEXT NOT NULL) STRICT;
    INSERT INTO numbered SELECT rowid, run, seq, link, body FROM events ORDER BY rowid;
    DROP TABLE events;
    ALTER TABLE numbered RENAME TO events;
    CREATE TABLE places (run INTEGER NOT NULL, seq INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;
    INSERT INTO places SELECT run, seq, no FROM events ORDER BY run, seq;
    ALTER TABLE seal ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
    UPDATE seal SET placed = (SELECT coalesce(max(no), 0) FROM events);
";

/// An index for the runs of one conversation. Runs that belong to none have no place in it.
const CONVERSATIONS: &str = "CREATE INDEX runs_by_conversation ON runs (conversation, started_ms) WHERE conversation IS NOT NULL;";

/// To whom a run belongs, and who began it. Runs from before it belong to nobody.
const OWNERS: &str = "
    ALTER TABLE runs ADD COLUMN owner TEXT;
    ALTER TABLE runs ADD COLUMN profile TEXT;
    CREATE INDEX runs_by_owner ON runs (owner, started_ms);
";

/// Tasks that were accepted and have not begun.
const QUEUES: &str = "CREATE TABLE queues (name TEXT NOT NULL UNIQUE, body TEXT NOT NULL, open INTEGER NOT NULL) STRICT;";

/// How often a file is tried that another process is making at the same time.
const TRIES: u32 = 50;

/// Opens a file to write to it, brings it up to date, and checks that the key is its own. Another process may be making
/// the same file: then it is tried again, until one of the two finds that there is nothing left to do.
pub(super) fn open(place: &Place, chain: &Chain, bytes_max: Option<u64>) -> Result<Connection, JournalError> {
    let mut tries = 0;
    loop {
        match try_open(place, chain, bytes_max) {
            Err(JournalError::Busy { .. } | JournalError::Store(_)) if tries < TRIES => {
                tries += 1;
                std::thread::sleep(BUSY / (TRIES * 10));
            }
            done => return done,
        }
    }
}

fn try_open(place: &Place, chain: &Chain, bytes_max: Option<u64>) -> Result<Connection, JournalError> {
    let fault = |e: rusqlite::Error| place.fault(&e);
    let mut connection = Connection::open(&place.0).map_err(fault)?;
    connection.busy_timeout(BUSY).map_err(fault)?;
    let found = version(&connection, place)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(fault)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(fault)?;
    if found < SCHEMA {
        Migrations::from_slice(STEPS).to_latest(&mut connection).map_err(|e| match e {
            rusqlite_migration::Error::RusqliteError { err, .. } => place.fault(&err),
            other => JournalError::Unreadable { place: place.name(), why: other.to_string() },
        })?;
    }
    limit(&connection, bytes_max).map_err(fault)?;
    let own = chain.start("");
    connection.execute("INSERT INTO seal (link, events) SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM seal)", [own]).map_err(fault)?;
    check_key(&connection, place, chain)?;
    Ok(connection)
}

/// Opens a file to look at it: nothing is made or changed.
pub(super) fn look(place: &Place, chain: &Chain) -> Result<Connection, JournalError> {
    let connection = reader(place)?;
    let found = version(&connection, place)?;
    match found {
        0 => Err(JournalError::Unreadable { place: place.name(), why: "there is no journal in it".into() }),
        SCHEMA => check_key(&connection, place, chain).map(|()| connection),
        _ => Err(JournalError::Older { place: place.name(), found, known: SCHEMA }),
    }
}

/// The file's schema: 0 where it is empty. What is no journal, or a newer one, is refused.
fn version(connection: &Connection, place: &Place) -> Result<u32, JournalError> {
    let fault = |e: rusqlite::Error| place.fault(&e);
    // In one look: somebody may be making the file.
    let both = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version";
    let (found, tables): (u32, u32) = connection.query_row(both, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fault)?;
    match found {
        0 if tables > 0 => Err(JournalError::Unreadable { place: place.name(), why: "it is a database of something else".into() }),
        _ if found > SCHEMA => Err(JournalError::Newer { place: place.name(), found, known: SCHEMA }),
        _ => Ok(found),
    }
}

/// Opens a file to read from it.
pub(super) fn reader(place: &Place) -> Result<Connection, JournalError> {
    let fault = |e: rusqlite::Error| place.fault(&e);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.0, flags).map_err(fault)?;
    connection.busy_timeout(BUSY).map_err(fault)?;
    Ok(connection)
}

/// Opens a file that is up to date to write to it beside its writer.
pub(super) fn second(place: &Place) -> Result<Connection, JournalError> {
    let fault = |e: rusqlite::Error| place.fault(&e);
    let connection = Connection::open(&place.0).map_err(fault)?;
    connection.busy_timeout(BUSY).map_err(fault)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(fault)?;
    Ok(connection)
}

fn limit(connection: &Connection, bytes_max: Option<u64>) -> Result<(), rusqlite::Error> {
    let Some(bytes) = bytes_max else { return Ok(()) };
    let page: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(bytes / page.max(1)).unwrap_or(i64::MAX);
    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
}

/// A file remembers what its chain makes of nothing: another key makes something else of it.
fn check_key(connection: &Connection, place: &Place, chain: &Chain) -> Result<(), JournalError> {
    let said: Vec<u8> = connection.query_row("SELECT link FROM seal", [], |row| row.get(0)).map_err(|e| place.fault(&e))?;
    if said == chain.start("") { Ok(()) } else { Err(JournalError::Key { place: place.name() }) }
}
