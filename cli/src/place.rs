//! Where runs are kept: a file, or a Postgres database that several machines share.

use countersign::{Journal, JournalError, SqliteJournal};
use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// Where runs are kept. What it shows of itself has no password.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// A database, by its DSN.
    Postgres(Dsn),
}

/// What names a database, and may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Dsn(String);

impl FromStr for Place {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let database = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        Ok(if database { Self::Postgres(Dsn(text.to_owned())) } else { Self::File(text.into()) })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(dsn) => dsn.fmt(f),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, rest) = self.0.split_once("://").unwrap_or_default();
        // Parameters may hold a password as well.
        let rest = rest.split('?').next().unwrap_or_default();
        let (user, host) = rest.rsplit_once('@').map_or(("", rest), |(who, host)| (who.split(':').next().unwrap_or_default(), host));
        let at = if user.is_empty() { "" } else { "@" };
        write!(f, "postgres://{user}{at}{host}")
    }
}

impl Place {
    /// Opens it to write to it, and makes it where there is none. Needs an async runtime, to which a database then belongs.
    pub async fn open(&self) -> Result<Arc<dyn Journal>, PlaceError> {
        match self {
            Self::File(path) => Ok(Arc::new(SqliteJournal::open(path)?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(dsn) => Ok(Arc::new(countersign_connect::postgres::PostgresJournal::open(&dsn.0).await?)),
            #[cfg(not(feature = "postgres"))]
            Self::Postgres(dsn) => Err(PlaceError::NotBuilt(dsn.to_string())),
        }
    }
}

impl Dsn {
    /// Opens it to look at it, with the key of its hash chain.
    #[cfg(feature = "postgres")]
    pub(crate) async fn look(&self, key: Option<Vec<u8>>) -> Result<countersign_connect::postgres::PostgresJournal, PlaceError> {
        use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
        Ok(PostgresJournal::look(&self.0, PostgresOptions { key, ..PostgresOptions::default() }).await?)
    }
}

/// A place that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// It speaks no Postgres.
    #[error("`{0}` cannot be opened: this program was built without the feature `postgres`; build it with `--features postgres`")]
    NotBuilt(String),
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (text, shown) in [
            ("postgres://ann:se@cret@db.example:5432/runs?password=secret", "postgres://ann@db.example:5432/runs"),
            ("postgresql://ann:secret@db/runs", "postgres://ann@db/runs"),
            ("postgres://db/runs", "postgres://db/runs"),
            ("postgres://:secret@db/runs", "postgres://db/runs"),
        ] {
            let Ok(place) = text.parse::<Place>();
            assert_eq!((place.to_string(), format!("{place:?}")), (shown.to_owned(), shown.to_owned()));
        }
        let Ok(file) = "runs/postgres.db".parse::<Place>();
        assert_eq!(file, Place::File("runs/postgres.db".into()));
    }
}
