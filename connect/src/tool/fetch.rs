//! Fetching a page over HTTP. Private addresses are refused, wherever a name or a redirect leads.

mod address;

pub use address::{Address, NetsError};

use crate::http;
use crate::said::said;
use address::{PublicOnly, is_literal_refused};
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, Tool, ToolError};
use reqwest::{Client, Url, redirect};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// How often a page may lead to another.
const REDIRECTS_MAX: usize = 5;

/// Fetches pages.
#[derive(Clone, Debug)]
pub struct Fetch {
    client: Client,
    allowed: Arc<Address>,
    bytes_max: usize,
    time_max: Duration,
}

/// What to fetch.
#[derive(Deserialize, JsonSchema)]
struct FetchArgs {
    /// The whole address, such as `https://example.org/page`.
    url: String,
}

/// A client that cannot be made, for a reason in words.
#[derive(Debug, thiserror::Error)]
#[error("no HTTP client can be made: {0}")]
pub struct FetchError(String);

impl Fetch {
    /// Fetches from public addresses, and from private ones that are in `allowed`. A page is given `time_max`
    /// from its first byte sent to its last received; more than `bytes_max` bytes are cut.
    pub fn new(allowed: Address, time_max: Duration, bytes_max: usize) -> Result<Self, FetchError> {
        let allowed = Arc::new(allowed);
        let seen = allowed.clone();
        let redirects = redirect::Policy::custom(move |attempt| match refusal(attempt.url(), &seen) {
            Some(why) => attempt.error(why),
            None if attempt.previous().len() > REDIRECTS_MAX => attempt.error("it leads on too often"),
            None => attempt.follow(),
        });
        // No proxy: it would connect to addresses in our place, and look at none of them.
        let client = http::client().no_proxy().redirect(redirects).timeout(time_max).dns_resolver(PublicOnly(allowed.clone())).build();
        let client = client.map_err(|e| FetchError(said(&e)))?;
        Ok(Self { client, allowed, bytes_max, time_max })
    }

    /// `fetch_url`: gets one page as text.
    pub fn tool(&self) -> impl Tool + use<> {
        let fetch = self.clone();
        let run = move |args: FetchArgs| {
            let fetch = fetch.clone();
            async move { fetch.get(&args.url).await }
        };
        let tool: FnTool<Run> = FnTool::new("fetch_url", "Get a page over HTTP, as text.", Declared::run(Effect::Read), run);
        tool.timeout(self.time_max)
    }

    /// Gets one page. A status other than success is a failure that shows the beginning of what came.
    pub async fn get(&self, url: &str) -> Result<String, ToolError> {
        let wanted = Url::parse(url).map_err(|e| ToolError::failed(format!("`{url}` is no address: {e}")))?;
        if let Some(why) = refusal(&wanted, &self.allowed) {
            return Err(ToolError::failed(format!("`{url}` is not fetched: {why}")));
        }
        let failed = |e: reqwest::Error| ToolError::failed(format!("`{url}` cannot be fetched: {}", said(&e)));
        let mut response = self.client.get(wanted).send().await.map_err(failed)?;
        let status = response.status();
        let mut bytes = Vec::new();
        let mut cut = false;
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            let room = self.bytes_max.saturating_sub(bytes.len());
            bytes.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
            if chunk.len() > room {
                cut = true;
                break;
            }
        }
        let note = if cut { format!("\n[cut: more than {} bytes]", self.bytes_max) } else { String::new() };
        let text = String::from_utf8_lossy(&bytes).into_owned() + &note;
        if status.is_success() { Ok(text) } else { Err(ToolError::failed(format!("`{url}` says {status}\n{text}"))) }
    }
}

/// Why an address is not fetched, as far as it can be told without asking for the name.
fn refusal(url: &Url, allowed: &Address) -> Option<String> {
    match url.scheme() {
        "http" | "https" if !url.username().is_empty() || url.password().is_some() => Some("it carries a name or a password".into()),
        "http" | "https" => is_literal_refused(url, allowed),
        other => Some(format!("`{other}` is not HTTP")),
    }
}
