//! The servers that `.ci/postgres` has started, and a schema in one of them for each test.

use crate::promises::Place;
use async_trait::async_trait;
use countersign::{Journal, JournalError};
use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_postgres::{Client, NoTls};

fn given(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("`{name}` is not set: run `.ci/postgres`"))
}

/// The server that nobody disturbs.
pub fn dsn() -> String {
    given("COUNTERSIGN_POSTGRES")
}

/// A connection of somebody who may do everything.
pub async fn admin(dsn: &str) -> Client {
    let (client, wire) = tokio_postgres::connect(dsn, NoTls).await.unwrap();
    tokio::spawn(wire);
    client
}

/// A schema of one test's own, gone with the server.
pub struct Schema {
    pub dsn: String,
    pub name: String,
    pub admin: Client,
}

impl Schema {
    pub async fn new() -> Self {
        Self::on(dsn()).await
    }

    /// On the server that is killed and started again by a test.
    pub async fn shaky() -> Self {
        Self::on(given("COUNTERSIGN_POSTGRES_SHAKY")).await
    }

    async fn on(dsn: String) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let admin = admin(&dsn).await;
        // By this name its own connections are known among those of others.
        Self { admin, dsn: format!("{dsn}?application_name={name}"), name }
    }

    /// Another address of the same.
    pub fn by(&self, address: std::net::SocketAddr) -> String {
        let (head, tail) = (self.dsn.split_once('@').unwrap().0, self.dsn.rsplit_once('/').unwrap().1);
        format!("{head}@{address}/{tail}")
    }

    /// Kills every connection that a journal of this test has, at a moment within the next milliseconds.
    pub async fn kill_connections(&self) {
        self.admin.batch_execute("SELECT pg_sleep(random() * 0.02)").await.unwrap();
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
        self.admin.query(kill, &[&self.name]).await.unwrap();
    }

    pub fn options(&self) -> PostgresOptions {
        PostgresOptions { schema: self.name.clone(), ..PostgresOptions::default() }
    }

    pub async fn journal(&self) -> PostgresJournal {
        PostgresJournal::open_with(&self.dsn, self.options()).await.unwrap()
    }

    pub async fn look(&self) -> Result<PostgresJournal, JournalError> {
        PostgresJournal::look(&self.dsn, self.options()).await
    }

    /// Does something to the tables, as nobody should.
    pub async fn sql(&self, statement: &str) {
        let statement = format!("SET search_path = {}; {statement}", self.name);
        self.admin.batch_execute(&statement).await.unwrap();
    }

    /// How errors name it.
    pub fn place(&self) -> String {
        let (dsn, _) = self.dsn.split_once('?').unwrap();
        format!("{}#{}", dsn.replace(":secret", ""), self.name)
    }
}

#[async_trait]
impl Place for Schema {
    async fn open(&self) -> Arc<dyn Journal> {
        Arc::new(self.journal().await)
    }
}

/// Kills the shaky server, as a lost machine would, and starts it again.
pub async fn restart() {
    let command = given("COUNTERSIGN_POSTGRES_RESTART");
    let status = tokio::task::spawn_blocking(move || std::process::Command::new("sh").args(["-c", &command]).status());
    assert!(status.await.unwrap().unwrap().success());
}
