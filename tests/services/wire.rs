//! What really went over the wire: a server keeps of a request what it understands.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Stands before a server, hands everything on, and keeps what it was sent.
pub struct Wire {
    /// Where it stands.
    pub url: String,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Wire {
    /// Before the server at this address.
    pub fn before(url: &str) -> Self {
        let to = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = sent.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, kept) = (TcpStream::connect(&to).expect("it is there"), kept.clone());
                let (from, back) = (client.try_clone().expect("it can be cloned"), server.try_clone().expect("it can be cloned"));
                std::thread::spawn(move || pass(from, server, |bytes| kept.lock().unwrap().extend_from_slice(bytes)));
                std::thread::spawn(move || pass(back, client, |_| {}));
            }
        });
        Self { url, sent }
    }

    /// The JSON of each request, in order.
    pub fn requests(&self) -> Vec<Value> {
        let sent = String::from_utf8_lossy(&self.sent.lock().unwrap()).into_owned();
        let body =
            |request: &str| request.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::Deserializer::from_str(body).into_iter().next()?.ok());
        sent.split("POST ").filter_map(body).collect()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, seen: impl Fn(&[u8])) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        seen(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    // Whoever is done sending says so.
    let _ = to.shutdown(std::net::Shutdown::Write);
}
