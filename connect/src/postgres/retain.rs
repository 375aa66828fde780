//! What is looked at or forgotten as a whole, each on a connection of its own.

use super::append::number;
use super::session::Door;
use countersign::JournalError;
use tokio_postgres::Error;

/// Runs that are forgotten in one transaction: so many that it is soon done, and so few that nobody waits for it.
const FORGET_MAX: i64 = 200;

/// Forgets the runs that ended first, with all that belongs to them. One that somebody has hold of is left for later.
const FORGET: &str = "
    WITH gone AS (
        DELETE FROM runs WHERE no IN (
            SELECT no FROM runs WHERE ended_ms < $1::bigint ORDER BY ended_ms LIMIT $2::bigint FOR UPDATE SKIP LOCKED
        ) RETURNING no
    ), events_gone AS (
        DELETE FROM events USING gone WHERE events.run = gone.no
    ), outputs_gone AS (
        DELETE FROM outputs USING gone WHERE outputs.run = gone.no
    ), messages_gone AS (
        DELETE FROM messages USING gone WHERE messages.run = gone.no
    )
    SELECT count(*) FROM gone";

/// Forgets runs that ended before a moment. Returns how many they were.
pub(super) async fn forget_before(door: &Door, ms: u64) -> Result<u64, JournalError> {
    let fault = |e: Error| JournalError::from(door.place.trouble(&e));
    let (client, _) = door.connect(None).await?;
    let mut forgotten = 0;
    loop {
        let row = client.query_one(FORGET, &[&number(ms), &FORGET_MAX]).await.map_err(fault)?;
        match u64::try_from(row.get::<_, i64>(0)) {
            Ok(0) | Err(_) => return Ok(forgotten),
            Ok(some) => forgotten += some,
        }
    }
}
