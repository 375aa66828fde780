//! A model that answers the first question with a call, and holds the second until it is let go.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

/// What it answers in the end.
pub const ANSWER: &str = "There is one file.";

/// A server of chat completions.
pub struct Held {
    /// Where it is.
    pub url: String,
    /// Told of each question that is held.
    pub asked: Receiver<()>,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl Held {
    /// Listens.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("it listens");
        let url = format!("http://{}/v1", listener.local_addr().expect("it has an address"));
        let (tell, asked) = channel();
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let held = gate.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (held, tell) = (held.clone(), tell.clone());
                std::thread::spawn(move || answer(&stream, &held, &tell));
            }
        });
        Self { url, asked, gate }
    }

    /// Holds nothing any more.
    pub fn release(&self) {
        *self.gate.0.lock().expect("nobody panicked") = true;
        self.gate.1.notify_all();
    }
}

/// One question. Whoever asked may be gone by the time that it is answered.
fn answer(stream: &TcpStream, gate: &(Mutex<bool>, Condvar), tell: &Sender<()>) {
    let body = question(stream);
    let (delta, finish) = if body.contains(r#""role":"tool""#) {
        let _ = tell.send(());
        let mut open = gate.0.lock().expect("nobody panicked");
        while !*open {
            open = gate.1.wait(open).expect("nobody panicked");
        }
        (format!(r#""content":"{ANSWER}""#), "stop")
    } else {
        let call = r#"{"index":0,"id":"c1","type":"function","function":{"name":"list_files","arguments":"{}"}}"#;
        (format!(r#""tool_calls":[{call}]"#), "tool_calls")
    };
    let chunk = |delta: &str, finish: &str| {
        format!(
            r#"data: {{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{{"index":0,"delta":{{{delta}}},"finish_reason":{finish}}}]}}"#
        )
    };
    let chunks = [chunk(&format!(r#""role":"assistant",{delta}"#), "null"), chunk("", &format!("\"{finish}\"")), "data: [DONE]".to_owned()];
    let said = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{}\n\n", chunks.join("\n\n"));
    let mut stream = stream;
    let _ = stream.write_all(said.as_bytes());
}

/// The body of a request, as text.
fn question(stream: &TcpStream) -> String {
    String::from_utf8_lossy(&body(stream).1).replace(": ", ":")
}

/// The head and the body of a request.
pub fn body(stream: &TcpStream) -> (String, Vec<u8>) {
    let mut lines = BufReader::new(stream);
    let (mut length, mut line, mut head) = (0, String::new(), String::new());
    while lines.read_line(&mut line).is_ok_and(|read| read > 2) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length is a number");
        }
        head += &line;
        line.clear();
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body).expect("the body comes whole");
    (head, body)
}
