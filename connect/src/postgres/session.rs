//! Connections, and the statements that are prepared on each.

use super::ears::Ears;
use super::place::{Place, Trouble};
use super::{append, peers, queues, read};
use countersign::JournalError;
use futures_util::future::try_join_all;
use futures_util::stream::poll_fn;
use futures_util::{StreamExt, pin_mut};
use rustls_platform_verifier::ConfigVerifierExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a connection is tried for, where the DSN does not say.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How long a connection may be silent before the system asks whether the other end is still there.
const SILENT_MAX: Duration = Duration::from_secs(15);

/// The shortest and the longest pause before a lost connection is tried again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Said to every new connection. Waiting for another's lock ends; a commit is on the disk before it is acknowledged,
/// and on what stands by where the server says so.
const GREETING: &str = "
    SET lock_timeout = '10s';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

/// How connections to one journal are made.
pub(super) struct Door {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    /// The database, for errors.
    pub(super) place: Place,
    /// The schema in it. A name that needs no quotes.
    pub(super) schema: String,
    /// How long a lost connection is tried again.
    pub(super) patience: Duration,
}

impl Door {
    pub(super) fn new(dsn: &str, schema: &str, patience: Duration) -> Result<Self, JournalError> {
        // Neither the DSN nor what the parser says of it is told on: a password may be in either.
        let form = "it is no DSN; one reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and its `sslmode` is `disable`, `prefer` or `require`";
        let unread = |why: &str| JournalError::Unreachable { place: "postgres".into(), why: why.into() };
        let mut config: Config = dsn.parse().map_err(|_| unread(form))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(unread("its DSN names no host"));
        }
        let plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_');
        if schema.is_empty() || schema.len() > 40 || !schema.chars().all(plain) || schema.starts_with("pg_") {
            return Err(unread(&format!("`{schema}` is no name for a schema: up to 40 of `a` to `z`, `0` to `9` and `_`")));
        }
        let place = Place::of(&config, schema);
        let tls = encrypted(&mut config).map_err(|e| place.unreachable(e.to_string()))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_MAX);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENT_MAX).keepalives_idle(SILENT_MAX);
        }
        if config.get_application_name().is_none() {
            config.application_name("countersign");
        }
        Ok(Self { config, tls, place, schema: schema.into(), patience })
    }

    /// A new connection. `ears` hear what the server tells it. The task ends with the connection, which ends with the
    /// client.
    pub(super) async fn connect(&self, ears: Option<Arc<Ears>>) -> Result<(Client, JoinHandle<()>), Trouble> {
        let trouble = |e: tokio_postgres::Error| self.place.trouble(&e);
        let (client, wire) = match &self.tls {
            None => {
                let (client, wire) = self.config.connect(NoTls).await.map_err(trouble)?;
                (client, tokio::spawn(carry(wire, ears)))
            }
            Some(tls) => {
                let (client, wire) = self.config.connect(tls.clone()).await.map_err(trouble)?;
                (client, tokio::spawn(carry(wire, ears)))
            }
        };
        let home = format!("SET search_path = \"{}\";{GREETING}", self.schema);
        client.batch_execute(&home).await.map_err(trouble)?;
        Ok((client, wire))
    }
}

/// TLS only where it is asked for. Then the certificate has to be one that this machine trusts.
fn encrypted(config: &mut Config) -> Result<Option<MakeRustlsConnect>, rustls::Error> {
    if config.get_ssl_mode() != SslMode::Require {
        config.ssl_mode(SslMode::Disable);
        return Ok(None);
    }
    // Whoever installed another provider first is right to have it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    rustls::ClientConfig::with_platform_verifier().map(|tls| Some(MakeRustlsConnect::new(tls)))
}

/// Carries what is asked and answered, until either end is gone.
async fn carry<S, T>(mut wire: Connection<S, T>, ears: Option<Arc<Ears>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let messages = poll_fn(|context| wire.poll_message(context));
    pin_mut!(messages);
    while let Some(Ok(message)) = messages.next().await {
        if let (AsyncMessage::Notification(news), Some(ears)) = (message, &ears) {
            ears.hear(news.payload());
        }
    }
}

/// What is asked of the server again and again.
#[derive(Clone, Copy)]
pub(super) enum Query {
    /// Adds records of many runs.
    Append,
    /// Where runs stand.
    Stand,
    /// A run's records.
    Log,
    /// A run's line.
    Line,
    /// Lines that fit.
    List,
    /// A run's message.
    Message,
    /// A whole output.
    Kept,
    /// Takes a run.
    Claim,
    /// Gives a run back.
    Release,
    /// Runs that nobody alive has.
    Left,
    /// Says something to a run of another process.
    Post,
    /// What others have said.
    Take,
    /// What was handed out.
    Drop,
    /// Keeps a queue.
    Keep,
    /// What a queue says.
    Queue,
    /// Takes queues of processes that are gone.
    Inherit,
    /// A queue is worked off.
    Done,
}

impl Query {
    const ALL: [(Self, &'static str); 17] = [
        (Self::Append, append::APPEND),
        (Self::Stand, append::STAND),
        (Self::Log, read::LOG),
        (Self::Line, read::LINE),
        (Self::List, read::LIST),
        (Self::Message, read::MESSAGE),
        (Self::Kept, read::KEPT),
        (Self::Claim, peers::CLAIM),
        (Self::Release, peers::RELEASE),
        (Self::Left, peers::LEFT),
        (Self::Post, peers::POST),
        (Self::Take, peers::TAKE),
        (Self::Drop, peers::DROP),
        (Self::Keep, queues::KEEP),
        (Self::Queue, queues::QUEUE),
        (Self::Inherit, queues::INHERIT),
        (Self::Done, queues::DONE),
    ];
}

/// One connection, with its statements.
struct Session {
    client: Client,
    // INVARIANT: in the order of `Query::ALL`, which is that of its variants.
    prepared: Vec<Statement>,
}

/// A connection that is made when it is needed, and made again when it is lost.
pub(super) struct Line {
    pub(super) door: Arc<Door>,
    session: Mutex<Option<Arc<Session>>>,
}

impl Line {
    pub(super) fn new(door: Arc<Door>) -> Self {
        Self { door, session: Mutex::new(None) }
    }

    async fn session(&self) -> Result<Arc<Session>, Trouble> {
        let mut held = self.session.lock().await;
        if let Some(session) = held.as_ref().filter(|session| !session.client.is_closed()) {
            return Ok(session.clone());
        }
        *held = None;
        let (client, _) = self.door.connect(None).await?;
        let prepare = Query::ALL.iter().map(|(_, sql)| client.prepare(sql));
        let prepared = try_join_all(prepare).await.map_err(|e| self.door.place.trouble(&e))?;
        Ok(held.insert(Arc::new(Session { client, prepared })).clone())
    }

    /// Asks once. Where the connection is lost meanwhile, nobody can tell whether the server has done it.
    pub(super) async fn try_ask(&self, query: Query, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Trouble> {
        let session = self.session().await?;
        let statement = session.prepared.get(query as usize).ok_or_else(|| Trouble::Refused(JournalError::Store("a statement is missing".into())))?;
        session.client.query(statement, values).await.map_err(|e| self.door.place.trouble(&e))
    }

    /// Asks for what changes nothing, again and again until there is an answer or patience is at its end.
    pub(super) async fn ask(&self, query: Query, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, JournalError> {
        let mut patience = Patience::new(self.door.patience);
        loop {
            let asked = tokio::time::timeout_at(patience.until, self.try_ask(query, values)).await;
            match asked {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(Trouble::Refused(why))) => return Err(why),
                Ok(Err(Trouble::Lost(why))) if !patience.pause().await => return Err(why),
                Ok(Err(Trouble::Lost(_))) => {}
                Err(_) => return Err(self.silent().await),
            }
        }
    }

    /// Gives the connection up on which there was no answer, and says so.
    pub(super) async fn silent(&self) -> JournalError {
        *self.session.lock().await = None;
        self.door.place.unreachable(format!("it has not answered for {} s", self.door.patience.as_secs_f32()))
    }
}

/// How long something is tried again.
pub(super) struct Patience {
    pub(super) until: Instant,
    pause: Pause,
}

impl Patience {
    pub(super) fn new(patience: Duration) -> Self {
        Self { until: Instant::now() + patience, pause: Pause::default() }
    }

    /// Waits a little. False where there is no time left.
    pub(super) async fn pause(&mut self) -> bool {
        let goes_on = Instant::now() + self.pause.0 < self.until;
        if goes_on {
            self.pause.wait().await;
        }
        goes_on
    }
}

/// Pauses that grow, and are not the same for everybody.
pub(super) struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(PAUSES.0)
    }
}

impl Pause {
    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.0.mul_f32(0.5 + fastrand::f32() / 2.0)).await;
        self.0 = (self.0 * 2).min(PAUSES.1);
    }
}
