//! `countersign serve`: runs over HTTP, by the same file as `countersign run`.

use crate::GOOD;
use crate::config::Config;
use crate::place::Place;
use anyhow::Context;
use clap::Args;
use countersign_server::state::Bounds;
use countersign_server::{Redactor, Server, Token};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Where, and with what.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Where it listens. An address that can be reached from elsewhere needs `--token-file`.
    #[arg(long, default_value = "127.0.0.1:8470", value_name = "HOST:PORT")]
    pub addr: String,
    /// The folder in which runs are kept.
    #[arg(long, default_value = "countersign-data", value_name = "DIR")]
    pub data: PathBuf,
    /// Keeps runs elsewhere: in a file, or in a database that several servers share, as `postgres://...`. A password is
    /// better kept in the variable.
    #[arg(long, env = "COUNTERSIGN_JOURNAL", hide_env_values = true, value_name = "FILE|DSN")]
    pub journal: Option<Place>,
    /// The file that says who works with what; `countersign init` writes one.
    #[arg(long, default_value = "countersign.toml", value_name = "FILE")]
    pub config: PathBuf,
    /// Tokens that open the door, one a line: `SECRET`, or `NAME SECRET`. Runs belong to the name, so that they stay whose
    /// they are when the secret is changed. Without it a token is made, and printed.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A name under which the server is asked, beside `localhost` and addresses. May be given again.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// How long runs may go on once the server is told to end. What is not done by then goes on at the next start.
    #[arg(long, value_parser = humantime::parse_duration, default_value = "10s", value_name = "TIME")]
    pub drain: Duration,
    /// Sends spans to this OpenTelemetry collector, or to where the variables `OTEL_EXPORTER_OTLP_*` say.
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
}

/// Serves until it is told to end, by SIGTERM or Ctrl-C.
pub fn run(args: &ServeArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let listening = runtime.block_on(async { listen(args) })?;
    let done = runtime.block_on(serve(args, out));
    listening.end();
    // A tool that cannot be interrupted holds nobody up.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// Whoever hears what the server says of itself.
struct Listening {
    #[cfg(feature = "otlp")]
    spans: Option<countersign_connect::otlp::Spans>,
}

impl Listening {
    fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(Err(why)) = self.spans.map(countersign_connect::otlp::Spans::close) {
            tracing::warn!(%why, "spans were left");
        }
    }
}

/// What it says goes to the error output, and spans to a collector, where there is one.
fn listen(args: &ServeArgs) -> anyhow::Result<Listening> {
    let said = tracing_subscriber::fmt::layer().with_writer(Struck::default()).with_ansi(false).with_filter(LevelFilter::INFO);
    let all = tracing_subscriber::registry().with(said);
    #[cfg(feature = "otlp")]
    {
        let spans = countersign_connect::otlp::Spans::open(args.otlp.as_deref())?;
        all.with(spans.as_ref().map(countersign_connect::otlp::Spans::layer)).init();
        Ok(Listening { spans })
    }
    #[cfg(not(feature = "otlp"))]
    {
        let _ = args;
        all.init();
        Ok(Listening {})
    }
}

async fn serve(args: &ServeArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let name = args.config.display().to_string();
    let text = std::fs::read_to_string(&args.config).with_context(|| format!("`{name}` cannot be read; `countersign init` writes one"))?;
    let place = place(args)?;
    // Held until the end.
    let _alone = alone(&place)?;
    let journal = place.open().await?;
    let assembled = Config::assemble(&name, &text, Some(journal.clone())).await?;
    let (tokens, made) = tokens(args)?;
    let server = Server::new(journal).profile("default", &assembled.runner).bounds(Bounds { drain: args.drain, ..Bounds::default() });
    let server = args.host.iter().fold(server, |server, host| server.host(host));
    let server = tokens.into_iter().fold(server, Server::token).bind(&args.addr).await?;
    let end = told_to_end()?;
    writeln!(out, "listening at http://{}", server.addr())?;
    if let Some(secret) = made {
        writeln!(out, "token: {secret}")?;
    }
    if server.recovered() > 0 {
        writeln!(out, "{} runs that were under way go on", server.recovered())?;
    }
    out.flush()?;
    server.serve(end).await;
    Ok(GOOD)
}

/// Where runs are kept.
fn place(args: &ServeArgs) -> anyhow::Result<Place> {
    if let Some(place) = &args.journal {
        return Ok(place.clone());
    }
    std::fs::create_dir_all(&args.data).with_context(|| format!("the folder `{}` cannot be made", args.data.display()))?;
    Ok(Place::File(args.data.join("runs.db")))
}

/// Sees to it that one server works with a file: two would take up each other's runs. A database knows its own servers.
fn alone(place: &Place) -> anyhow::Result<Option<File>> {
    let Place::File(path) = place else { return Ok(None) };
    let mut lock = path.clone().into_os_string();
    lock.push(".serve");
    let file = File::create(&lock).with_context(|| format!("`{}` cannot be made", lock.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            anyhow::bail!("another server works with `{place}`; end it, or let both share a database (`--journal postgres://...`)")
        }
        Err(TryLockError::Error(why)) => Err(why).with_context(|| format!("`{}` cannot be locked", lock.display())),
    }
}

/// The operator's tokens; or one that is made here, with its secret.
fn tokens(args: &ServeArgs) -> anyhow::Result<(Vec<Token>, Option<String>)> {
    let Some(file) = &args.token_file else {
        // One name for every secret that is made: runs stay their owner's after a restart.
        let (secret, token) = Token::generate("local")?;
        return Ok((vec![token], Some(secret)));
    };
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("`{name}` cannot be read"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let read = |(at, line): (usize, &str)| Token::read(line).with_context(|| format!("`{name}`, line {}", at + 1));
    let tokens = lines.map(read).collect::<anyhow::Result<Vec<_>>>()?;
    anyhow::ensure!(!tokens.is_empty(), "`{name}` has no token; write one a line, or leave `--token-file` out to have one made");
    Ok((tokens, None))
}

/// SIGTERM or Ctrl-C. Listened for from now on, so that none is missed by the time that it is waited for.
#[cfg(unix)]
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminated, mut interrupted) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// The error output, without secrets.
#[derive(Clone, Default)]
struct Struck(Redactor);

impl MakeWriter<'_> for Struck {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for Struck {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        // A line comes in one piece.
        std::io::stderr().write_all(self.0.strike(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}
