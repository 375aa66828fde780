//! The database, as errors name it, and what the server's errors mean to whoever has to do something about them.

use crate::said::said;
use countersign::JournalError;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error};

/// A database and a schema in it, without the password.
#[derive(Clone)]
pub(super) struct Place(String);

impl Place {
    pub(super) fn of(config: &Config, schema: &str) -> Self {
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            None => config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
        };
        let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
        let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
        let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
        Self(format!("postgres://{user}{host}{port}/{database}#{schema}"))
    }

    pub(super) fn name(&self) -> String {
        self.0.clone()
    }

    pub(super) fn unreachable(&self, why: impl Into<String>) -> JournalError {
        JournalError::Unreachable { place: self.name(), why: why.into() }
    }

    pub(super) fn unreadable(&self, why: impl Into<String>) -> JournalError {
        JournalError::Unreadable { place: self.name(), why: why.into() }
    }

    /// Says what an error means for this database.
    pub(super) fn trouble(&self, error: &Error) -> Trouble {
        let Some(said) = error.as_db_error() else { return Trouble::Lost(self.unreachable(said(error))) };
        let (place, why) = (self.name(), said.message().to_owned());
        let code = said.code();
        match code.code().as_bytes() {
            // Nothing was changed, and it may go well next time; or the connection is gone, and nobody can tell yet.
            [b'4', b'0', ..] | [b'0', b'8', ..] | b"57P01" | b"57P02" | b"57P03" | b"57P05" | b"53300" => Trouble::Lost(self.unreachable(why)),
            [b'2', b'8', ..] | b"3D000" => Trouble::Refused(self.unreachable(why)),
            b"53100" => Trouble::Refused(JournalError::Full { place }),
            b"55P03" => Trouble::Refused(JournalError::Busy { place }),
            _ if [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::INSUFFICIENT_PRIVILEGE].contains(code) => {
                Trouble::Refused(JournalError::ReadOnly { place, why })
            }
            _ if [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN, SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
                Trouble::Refused(self.unreadable(why))
            }
            _ => Trouble::Refused(JournalError::Store(format!("`{place}`: {why}"))),
        }
    }
}

/// What came of asking the server.
pub(super) enum Trouble {
    /// The connection is gone, or the server took nothing on: to be asked again, once it is known what became of it.
    Lost(JournalError),
    /// It will say the same again.
    Refused(JournalError),
}

impl From<Trouble> for JournalError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Lost(why) | Trouble::Refused(why) => why,
        }
    }
}
