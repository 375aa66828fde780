//! A client that says exactly what it is told to say: no redirects, no cookies, no headers of its own.

use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, BodyStream, Full};
use hyper::body::Incoming;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::net::SocketAddr;

/// Speaks to one server, as one person.
#[derive(Clone)]
pub struct Client {
    pub addr: SocketAddr,
    token: String,
}

/// A whole response.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// What a problem says, after a look at its form.
    pub fn problem(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{}", self.text());
        assert_eq!(self.json()["status"], self.status);
        self.json()["detail"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub fn new(addr: SocketAddr, token: &str) -> Self {
        Self { addr, token: token.to_owned() }
    }

    /// The same server, as somebody else.
    pub fn as_(&self, token: &str) -> Self {
        Self::new(self.addr, token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], Some(body.to_string())).await
    }

    /// With a token, unless a header stands in its place.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<String>) -> Answer {
        let response = self.open(method, path, headers, body).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub async fn stream(&self, path: &str, headers: &[(&str, &str)]) -> Stream {
        let response = self.open("GET", path, headers, None).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { body: BodyStream::new(response.into_body()), text: String::new(), raw: Vec::new() }
    }

    async fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<String>) -> Response<Incoming> {
        let stream = tokio::net::TcpStream::connect(self.addr).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        let own = [("host", self.addr.to_string()), ("authorization", format!("Bearer {}", self.token))];
        for (name, value) in own.iter().filter(|(name, _)| !headers.iter().any(|(other, _)| other == name)) {
            request = request.header(*name, value);
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        sender.send_request(request.body(Full::new(Bytes::from(body.unwrap_or_default()))).unwrap()).await.unwrap()
    }
}

/// One frame of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub event: String,
    pub id: Option<u32>,
    pub data: Value,
}

/// A stream of frames as they come.
pub struct Stream {
    body: BodyStream<Incoming>,
    text: String,
    /// Everything that came.
    pub raw: Vec<u8>,
}

impl Stream {
    /// The next frame; comments are passed over.
    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let (frame, rest) = (read(frame), rest.to_owned());
                self.text = rest;
                match frame {
                    Some(frame) => return Some(frame),
                    None => continue,
                }
            }
            let data = self.body.next().await?.unwrap().into_data().unwrap();
            self.raw.extend_from_slice(&data);
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// Every frame to the end.
    pub async fn all(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }

    /// Frames up to and with the first of this name.
    pub async fn until(&mut self, name: &str) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            let found = frame.event == name;
            frames.push(frame);
            if found {
                return frames;
            }
        }
        panic!("the stream ended without `{name}`: {frames:#?}")
    }
}

fn read(text: &str) -> Option<Frame> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = serde_json::from_str(field("data")?).unwrap();
    Some(Frame { event: field("event")?.to_owned(), id: field("id").map(|id| id.parse().unwrap()), data })
}
