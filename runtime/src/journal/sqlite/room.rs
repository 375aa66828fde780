//! Room at the end of the write-ahead log.
//!
//! Where a commit makes a file longer, the disk has to keep the new length as well, and that takes as long again as
//! the bytes of the commit. So the log is made longer ahead of the commits, some dozen of them at a time. What it is made
//! longer by is zeros, which SQLite takes for the end of the log.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How much room is made at a time.
const STEP_BYTES: usize = 256 << 10;

/// The log begins anew once it has a thousand pages, so it needs no room beyond that.
const LOG_BYTES_MAX: u64 = 4 << 20;

/// Keeps room in one file's log.
pub(super) struct Room {
    log: PathBuf,
    open: Option<File>,
    /// Where the log ends since room was made last.
    end: u64,
}

impl Room {
    /// For the log of a database.
    pub(super) fn new(database: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Self { log: log.into(), open: None, end: 0 }
    }

    /// Makes room where there is none left. Only within a writing transaction that has written nothing yet, as nobody
    /// else writes to the log then. Where there can be no room, commits take longer and nothing else changes.
    pub(super) fn keep(&mut self) {
        let _ = self.try_keep();
    }

    fn try_keep(&mut self) -> io::Result<()> {
        let log = match &mut self.open {
            Some(log) => log,
            closed => closed.insert(File::options().write(true).open(&self.log)?),
        };
        let end = log.seek(SeekFrom::End(0))?;
        if end != self.end && end < LOG_BYTES_MAX {
            log.write_all(&vec![0; STEP_BYTES])?;
            self.end = end + STEP_BYTES as u64;
        }
        Ok(())
    }
}
