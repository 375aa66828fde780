//! Where a run's events are among everybody's.
//!
//! Events stand in the order in which they came, so a commit writes to the end of the file however many runs it is
//! for. An index by run would take that away again: each run has its own place in it, and a commit for 64 runs
//! would write 64 of its pages. So the newest events are not in the index. They are entered a few hundred at a
//! time, by when each page gets several; until then whoever looks for them goes through them.

use rusqlite::{Connection, OptionalExtension, params};

/// How many events may stand outside the index.
const TAIL_MAX: usize = 1024;

/// A run's events after a number, in order: those in the index, then those that are not there yet.
pub(super) const WALK: &str = "
    SELECT places.seq AS at, events.seq, link, body FROM places JOIN events USING (no)
    WHERE places.run = ?1 AND places.seq > ?2
    UNION ALL
    SELECT seq, seq, link, body FROM events
    WHERE no > (SELECT placed FROM seal) AND run = ?1 AND seq > ?2
    ORDER BY at LIMIT ?3";

/// Before a query over `runs`: `newest` has each run's newest event, where that is not in the index.
pub(super) const TAIL: &str = "
    WITH tail AS MATERIALIZED (SELECT run, max(no) AS no FROM events WHERE no > (SELECT placed FROM seal) GROUP BY run)";

/// After `FROM runs`: joins each run's newest event.
pub(super) const NEWEST: &str = "
    LEFT JOIN tail ON tail.run = runs.no
    LEFT JOIN events ON events.no =
        coalesce(tail.no, (SELECT places.no FROM places WHERE places.run = runs.no ORDER BY places.seq DESC LIMIT 1))";

/// The link of one event.
const LINK: &str = "
    SELECT link FROM events WHERE seq = ?2 AND no = coalesce(
        (SELECT no FROM places WHERE run = ?1 AND seq = ?2),
        (SELECT no FROM events WHERE no > (SELECT placed FROM seal) AND run = ?1 AND seq = ?2))";

/// The link of a run's event, where there is such an event.
pub(super) fn link<T: rusqlite::types::FromSql>(connection: &Connection, run: i64, seq: u32) -> Result<Option<T>, rusqlite::Error> {
    connection.prepare_cached(LINK)?.query_row(params![run, seq], |row| row.get(0)).optional()
}

/// How many events stand outside the index.
pub(super) fn outside(connection: &Connection) -> Result<usize, rusqlite::Error> {
    connection.query_row("SELECT count(*) FROM events WHERE no > (SELECT placed FROM seal)", [], |row| row.get(0))
}

/// Enters what stands outside, where that has become too much. Within the transaction of the caller.
pub(super) fn enter(connection: &Connection, outside: &mut usize) -> Result<(), rusqlite::Error> {
    if *outside < TAIL_MAX {
        return Ok(());
    }
    enter_all(connection)?;
    *outside = 0;
    Ok(())
}

/// Enters all that stands outside. An event that was given another's number from outside is left out, so that it stops
/// its own run's readers and nobody's writers.
pub(super) fn enter_all(connection: &Connection) -> Result<(), rusqlite::Error> {
    let entries = "INSERT OR IGNORE INTO places SELECT run, seq, no FROM events WHERE no > (SELECT placed FROM seal) ORDER BY run, seq";
    connection.prepare_cached(entries)?.execute([])?;
    connection.prepare_cached("UPDATE seal SET placed = (SELECT coalesce(max(no), 0) FROM events)")?.execute([])?;
    Ok(())
}
