//! What SQLite's errors mean to whoever has to do something about them.

use crate::journal::JournalError;
use rusqlite::ErrorCode;
use std::path::PathBuf;

/// The file, as errors name it.
#[derive(Clone)]
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn name(&self) -> String {
        self.0.display().to_string()
    }

    /// Says what an error of SQLite means for this file.
    pub(super) fn fault(&self, error: &rusqlite::Error) -> JournalError {
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => JournalError::Full { place: self.name() },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => JournalError::ReadOnly { place: self.name(), why },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::CannotOpen) => {
                JournalError::Unreadable { place: self.name(), why }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => JournalError::Busy { place: self.name() },
            _ => JournalError::Store(format!("`{}`: {why}", self.name())),
        }
    }
}
