//! How a server is reached.

use crate::http;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program of this machine that speaks on its input and output.
    Program(Program),
    /// An address that speaks streamable HTTP.
    Url(Address),
}

/// A program. It is given this environment and no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it stands; the folder of this process where it is left out.
    pub folder: Option<PathBuf>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// Variables of this process that it is given as well, such as one that holds a key. `PATH` always is.
    pub keep_env: Vec<String>,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Such as `https://host/mcp`.
    pub url: String,
    /// The variable of the environment that holds a bearer token.
    pub token_env: Option<String>,
}

impl Program {
    /// A program with these arguments.
    pub fn new(command: &[&str]) -> Self {
        Self { command: command.iter().map(|w| (*w).to_owned()).collect(), ..Self::default() }
    }

    /// Starts it. It dies with the connection.
    pub(super) fn start(&self) -> io::Result<TokioChildProcess> {
        let Some((program, args)) = self.command.split_first() else {
            return Err(io::Error::other("no program is named in `command`"));
        };
        let mut command = tokio::process::Command::new(program);
        let kept = self.keep_env.iter().map(String::as_str).chain(["PATH"]).filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)));
        command.args(args).env_clear().envs(kept).envs(&self.env).kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        // What it logs is not for whoever reads our output.
        let (transport, _) = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn()?;
        Ok(transport)
    }
}

impl Address {
    /// Connects to it, with the token from the environment.
    pub(super) fn connect(&self) -> io::Result<StreamableHttpClientTransport<reqwest::Client>> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str());
        if let Some(name) = &self.token_env {
            let token = std::env::var(name).map_err(|_| io::Error::other(format!("the environment variable `{name}` holds no token")))?;
            config = config.auth_header(token);
        }
        // A token goes to the address that was named, and to no other that it leads to.
        let client = http::client().redirect(reqwest::redirect::Policy::none()).build().map_err(io::Error::other)?;
        Ok(StreamableHttpClientTransport::with_client(client, config))
    }
}
