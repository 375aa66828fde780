//! What a server is made of, and how it takes connections, and lets them go.

use crate::access::{Token, Tokens};
use crate::api;
use crate::problem::Problem;
use crate::redact::Redactor;
use crate::runs::{Profiles, Runs};
use crate::state::{AppState, Bounds};
use axum::Router;
use countersign::{Journal, Runner};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::ServiceExt;

/// How long it may take to write down that runs are parked.
const PARK: Duration = Duration::from_secs(5);

/// A server that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody would carry tasks out.
    #[error("there is no runner to carry tasks out; add one with `profile`")]
    NoProfile,
    /// Two runners share a name.
    #[error("two profiles are called `{0}`; rename one")]
    DuplicateProfile(String),
    /// Anybody could come in.
    #[error("there is no token; add one with `token`")]
    NoToken,
    /// It could be reached from elsewhere, and nobody has said by whom.
    #[error("`{0}` can be reached from elsewhere: give a token of your own (`--token-file`), or listen at a loopback address")]
    Public(String),
    /// The address cannot be listened at.
    #[error("`{addr}` cannot be listened at: {why}")]
    Bind {
        /// The address.
        addr: String,
        /// What the system says.
        why: std::io::Error,
    },
    /// Runs that were left behind could not be looked for.
    #[error(transparent)]
    Recover(#[from] Problem),
}

/// What a server is made of.
pub struct Server {
    journal: Arc<dyn Journal>,
    profiles: Profiles,
    tokens: Tokens,
    hosts: Vec<String>,
    bounds: Bounds,
    redactor: Redactor,
}

impl Server {
    /// Begins with the journal of every run.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self {
            journal,
            profiles: Profiles::default(),
            tokens: Tokens::default(),
            hosts: Vec::new(),
            bounds: Bounds::default(),
            redactor: Redactor::default(),
        }
    }

    /// Adds a runner under a name. The first is asked where a task names nobody.
    #[must_use]
    pub fn profile(mut self, name: &str, runner: &Runner) -> Self {
        self.profiles.add(name, runner.on(self.journal.clone()));
        self
    }

    /// Adds a token that opens the door.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.tokens.add(token);
        self
    }

    /// Adds a name under which the server may be asked, beside `localhost` and addresses.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        self.hosts.push(name.to_owned());
        self
    }

    /// Sets how much is taken at a time.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets what is struck out of everything that leaves, instead of what looks like a secret to us alone.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Listens, and takes up the runs whose process died under them. Nothing is answered until [`Bound::serve`].
    pub async fn bind(self, addr: &str) -> Result<Bound, ServeError> {
        let mut names: Vec<&str> = self.profiles.names().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find_map(|pair| if let [a, b] = pair { (a == b).then_some(*a) } else { None }) {
            return Err(ServeError::DuplicateProfile(twice.to_owned()));
        }
        if names.is_empty() {
            return Err(ServeError::NoProfile);
        }
        if self.tokens.is_empty() {
            return Err(ServeError::NoToken);
        }
        let failed = |why| ServeError::Bind { addr: addr.to_owned(), why };
        let listener = TcpListener::bind(addr).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        if !local.ip().is_loopback() && !self.tokens.are_given() {
            return Err(ServeError::Public(addr.to_owned()));
        }
        let runs = Runs::new(self.journal, self.profiles, self.redactor, &self.bounds);
        let state = AppState::new(runs, self.tokens, self.hosts, self.bounds);
        let recovered = state.runs().recover().await?;
        state.batches().recover(state.runs()).await?;
        Ok(Bound { listener, local, state, recovered })
    }
}

/// A server that listens.
pub struct Bound {
    listener: TcpListener,
    local: SocketAddr,
    state: AppState,
    recovered: usize,
}

impl Bound {
    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.local
    }

    /// What its routes share.
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// How many runs were taken up again.
    pub fn recovered(&self) -> usize {
        self.recovered
    }

    /// Answers until `shutdown` is there. Then streams end, nothing new begins, and runs have a while to end or to wait
    /// for people; what is not done by then is parked, and goes on when this server is back, or at another.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { listener, state, .. } = self;
        let (router, bounds) = (api::router(state.clone()), state.bounds().clone());
        let seats = Arc::new(Semaphore::new(bounds.connections));
        tokio::pin!(shutdown);
        loop {
            let seat = tokio::select! {
                () = &mut shutdown => break,
                seat = seats.clone().acquire_owned() => seat,
            };
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                accepted = listener.accept() => accepted,
            };
            match (accepted, seat) {
                (Ok((stream, from)), Ok(seat)) => {
                    drop(tokio::spawn(converse(stream, from.ip(), router.clone(), bounds.clone(), state.leaving(), seat)))
                }
                // Out of file descriptors, as often as not: they come back.
                (Err(why), _) => {
                    tracing::warn!(%why, "a connection was not taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                (_, Err(_)) => break,
            }
        }
        drop(listener);
        state.leave();
        let drained = tokio::time::timeout(bounds.drain, state.runs().drain()).await;
        if drained.is_err() {
            tracing::info!(runs = state.runs().at_work(), "runs are under way still: they are parked, and go on when the server is back");
            if tokio::time::timeout(PARK, state.runs().park()).await.is_err() {
                tracing::warn!(runs = state.runs().at_work(), "runs could not be parked; they are taken up as after a crash");
            }
        }
        // Responses that are on their way.
        let all = u32::try_from(bounds.connections).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(Duration::from_secs(1), seats.acquire_many(all)).await;
    }
}

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// One connection, until it ends or the server leaves.
async fn converse(stream: TcpStream, from: IpAddr, router: Router, bounds: Bounds, mut leaving: watch::Receiver<bool>, seat: OwnedSemaphorePermit) {
    // Frames are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.header_patience).max_buf_size(bounds.header_bytes);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Peer(from));
        router.clone().oneshot(request)
    });
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let mut asked = false;
    loop {
        tokio::select! {
            done = &mut connection => {
                if let Err(why) = done {
                    tracing::debug!(%why, "a connection ended badly");
                }
                break;
            }
            _ = leaving.changed(), if !asked => {
                asked = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
    drop(seat);
}
