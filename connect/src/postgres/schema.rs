//! The journal's tables, and how an older schema comes to have them.

use super::place::Place;
use super::session::Door;
use countersign::JournalError;
use countersign::journal::chain::Chain;
use tokio_postgres::{Client, Error, Transaction};

/// The schema that this version writes. It stands in the table `journal`.
pub const SCHEMA: u32 = STEPS.len() as u32;

/// One step for each schema. A step that was released is never changed; a new schema is a new step.
const STEPS: &[&str] = &[LOGS, ENDS, PEERS];

/// Logs, a line for each run, and what its message holds. A run's row changes with each append and has room to do so in
/// its place, as no index is over what changes then.
const LOGS: &str = "
    CREATE TABLE runs (
        no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run text NOT NULL UNIQUE,
        conversation text,
        message text,
        owner text,
        profile text,
        mode text NOT NULL,
        title text NOT NULL,
        status text NOT NULL,
        reason text,
        started_ms bigint NOT NULL,
        changed_ms bigint NOT NULL,
        seq bigint NOT NULL,
        head bytea NOT NULL,
        token bigint NOT NULL
    ) WITH (fillfactor = 60);
    CREATE INDEX runs_by_start ON runs (started_ms);
    CREATE INDEX runs_by_status ON runs (status, started_ms);
    CREATE INDEX runs_by_mode ON runs (mode, started_ms);
    CREATE INDEX runs_by_owner ON runs (owner, started_ms) WHERE owner IS NOT NULL;
    CREATE INDEX runs_by_conversation ON runs (conversation, started_ms) WHERE conversation IS NOT NULL;
    CREATE TABLE events (run bigint NOT NULL, seq bigint NOT NULL, link bytea NOT NULL, body text NOT NULL, PRIMARY KEY (run, seq));
    CREATE TABLE outputs (run bigint NOT NULL, call bigint NOT NULL, whole text NOT NULL, PRIMARY KEY (run, call));
    CREATE TABLE messages (
        run bigint PRIMARY KEY,
        content text,
        candidate text,
        finalized boolean NOT NULL,
        status text,
        reason text
    );";

/// When a run ended for good, so that what is old can be found and forgotten.
const ENDS: &str = "
    ALTER TABLE runs ADD COLUMN ended_ms bigint;
    UPDATE runs SET ended_ms = changed_ms WHERE status IN ('completed', 'failed', 'cancelled');
    CREATE INDEX runs_by_end ON runs (ended_ms) WHERE ended_ms IS NOT NULL;";

/// Which process has a run that is under way, what is said to runs of others, tasks that have not begun, and who is alive.
/// No index is over who has a
/// run: it changes with appends. Runs under way from before it are nobody's.
const PEERS: &str = "
    ALTER TABLE runs ADD COLUMN driver bigint;
    CREATE TABLE posts (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run bigint NOT NULL,
        driver bigint NOT NULL,
        token bigint NOT NULL UNIQUE,
        body text NOT NULL
    );
    CREATE TABLE queues (name text PRIMARY KEY, driver bigint, body text NOT NULL);
    CREATE VIEW living AS SELECT classid::bigint << 32 | objid::bigint AS driver FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database());";

/// What there is: the encoding, whether the schema has tables, and whether one of them is a journal's.
const LOOK: &str = "
    SELECT current_setting('server_encoding'),
        EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace($1::text)),
        to_regclass($1 || '.journal') IS NOT NULL";

/// Opens a database to write to it, brings it up to date, and checks that the key is its own.
pub(super) async fn open(door: &Door, client: &mut Client, chain: &Chain) -> Result<(), JournalError> {
    if version(door, client).await?.is_none_or(|found| found < SCHEMA) {
        let fault = |e: Error| JournalError::from(door.place.trouble(&e));
        let transaction = client.transaction().await.map_err(fault)?;
        bring_up(&transaction, door, chain).await?;
        transaction.commit().await.map_err(fault)?;
    }
    check_key(&door.place, client, chain).await
}

/// Opens it to look at it: nothing is made or changed.
pub(super) async fn look(door: &Door, client: &Client, chain: &Chain) -> Result<(), JournalError> {
    match version(door, client).await? {
        None => Err(door.place.unreadable("there is no journal in it")),
        Some(SCHEMA) => check_key(&door.place, client, chain).await,
        Some(found) => Err(JournalError::Older { place: door.place.name(), found, known: SCHEMA }),
    }
}

/// The schema that is there. What is no journal, or a newer one, is refused.
async fn version(door: &Door, client: &Client) -> Result<Option<u32>, JournalError> {
    let (place, fault) = (&door.place, |e: Error| JournalError::from(door.place.trouble(&e)));
    let row = client.query_one(LOOK, &[&door.schema]).await.map_err(fault)?;
    let (encoding, tables, journal): (String, bool, bool) = (row.get(0), row.get(1), row.get(2));
    match (&*encoding, tables, journal) {
        ("UTF8", true, false) => Err(place.unreadable("the schema has tables of something else")),
        ("UTF8", false, false) => Ok(None),
        ("UTF8", _, true) => {
            let row = client.query_opt("SELECT version::bigint FROM journal", &[]).await.map_err(fault)?;
            let found = row.and_then(|row| u32::try_from(row.get::<_, i64>(0)).ok()).ok_or_else(|| place.unreadable("it says no version"))?;
            if found > SCHEMA { Err(JournalError::Newer { place: place.name(), found, known: SCHEMA }) } else { Ok(Some(found)) }
        }
        _ => Err(place.unreadable(format!("its encoding is `{encoding}`; make a database with UTF8"))),
    }
}

/// Takes the steps that are missing. One process at a time: whoever comes second finds that there are none left.
async fn bring_up(transaction: &Transaction<'_>, door: &Door, chain: &Chain) -> Result<(), JournalError> {
    let fault = |e: Error| JournalError::from(door.place.trouble(&e));
    let lock = "SELECT pg_advisory_xact_lock(hashtext('countersign'), hashtext($1))";
    transaction.execute(lock, &[&door.schema]).await.map_err(fault)?;
    let found = match version(door, transaction.client()).await? {
        Some(found) => found,
        None => {
            begin(transaction, &door.schema, chain).await.map_err(fault)?;
            0
        }
    };
    for step in STEPS.iter().skip(found as usize) {
        transaction.batch_execute(step).await.map_err(fault)?;
    }
    transaction.execute("UPDATE journal SET version = $1::bigint", &[&i64::from(SCHEMA)]).await.map_err(fault)?;
    Ok(())
}

/// The schema, where there is none, and the table that says what else is in it.
async fn begin(transaction: &Transaction<'_>, schema: &str, chain: &Chain) -> Result<(), Error> {
    let there = transaction.query_one("SELECT to_regnamespace($1::text) IS NOT NULL", &[&schema]).await?;
    if !there.try_get::<_, bool>(0)? {
        transaction.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")).await?;
    }
    transaction.batch_execute("CREATE TABLE journal (version integer NOT NULL, link bytea NOT NULL)").await?;
    transaction.execute("INSERT INTO journal (version, link) VALUES (0, $1)", &[&chain.start("").as_slice()]).await?;
    Ok(())
}

/// A journal remembers what its chain makes of nothing: another key makes something else of it.
async fn check_key(place: &Place, client: &Client, chain: &Chain) -> Result<(), JournalError> {
    let row = client.query_one("SELECT link FROM journal", &[]).await.map_err(|e| JournalError::from(place.trouble(&e)))?;
    if row.get::<_, &[u8]>(0) == chain.start("") { Ok(()) } else { Err(JournalError::Key { place: place.name() }) }
}
