//! The load client: a connection for each stream, and the numbers of the events that came.

use super::child::TOKEN;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpStream;

/// Speaks to one server.
pub(super) struct Client {
    pub(super) addr: SocketAddr,
}

impl Client {
    async fn connect(&self) -> Option<SendRequest<Full<Bytes>>> {
        let (sender, connection) = handshake(TokioIo::new(TcpStream::connect(self.addr).await.ok()?)).await.ok()?;
        tokio::spawn(connection);
        Some(sender)
    }

    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Option<Response<Incoming>> {
        let request = Request::builder().method(method).uri(path).header("host", self.addr.to_string());
        let request = request.header("authorization", format!("Bearer {TOKEN}")).header("content-type", "application/json");
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        self.connect().await?.send_request(request.body(Full::new(body.into())).ok()?).await.ok()
    }

    async fn json(&self, method: &str, path: &str, body: Option<Value>) -> Option<Value> {
        let body = self.send(method, path, body).await?.into_body().collect().await.ok()?;
        serde_json::from_slice(&body.to_bytes()).ok()
    }

    /// Starts a run.
    pub(super) async fn start(&self, profile: &str) -> Option<String> {
        let run = self.json("POST", "/api/runs", Some(json!({ "task": "Look at all of it.", "profile": profile }))).await?;
        Some(run.get("run")?.as_str()?.to_owned())
    }

    /// Waits until a run has ended or is parked.
    pub(super) async fn rest(&self, run: &str) -> Option<()> {
        self.send("GET", &format!("/api/runs/{run}/stream?until=rest"), None).await?.into_body().collect().await.ok().map(drop)
    }

    /// Grants what a run waits for.
    pub(super) async fn grant(&self, run: &str) -> Option<()> {
        let card = self.json("GET", &format!("/api/runs/{run}"), None).await?;
        let approval = card.pointer("/waiting/approvals/0/approval")?;
        self.json("POST", &format!("/api/runs/{run}/approvals/{approval}"), Some(json!({ "granted": true }))).await.map(drop)
    }

    /// The numbers of every event of a run that has ended.
    pub(super) async fn ids(&self, run: &str) -> Option<Vec<u32>> {
        Reader::open(self, run, Arc::default()).await?.read().await
    }
}

/// One stream.
pub(super) struct Reader {
    body: Incoming,
    ids: Vec<u32>,
    waiting: Arc<AtomicUsize>,
}

impl Reader {
    pub(super) async fn open(client: &Client, run: &str, waiting: Arc<AtomicUsize>) -> Option<Self> {
        let response = client.send("GET", &format!("/api/runs/{run}/stream"), None).await?;
        Some(Self { body: response.into_body(), ids: Vec::new(), waiting })
    }

    /// To its end. Says so once the run waits for a person.
    pub(super) async fn read(mut self) -> Option<Vec<u32>> {
        let mut rest = String::new();
        while let Some(frame) = self.body.frame().await {
            let Ok(data) = frame.ok()?.into_data() else { continue };
            rest.push_str(std::str::from_utf8(&data).ok()?);
            while let Some((line, after)) = rest.split_once('\n') {
                if let Some(id) = line.strip_prefix("id: ") {
                    self.ids.push(id.parse().ok()?);
                }
                if line == "event: approval_requested" {
                    self.waiting.fetch_add(1, Ordering::SeqCst);
                }
                rest = after.to_owned();
            }
        }
        self.ids.is_sorted_by(|a, b| a < b).then_some(self.ids)
    }
}
