//! `countersign serve` as a process: it prints a token, and what is under way when it is ended or killed goes on at its
//! next start.

use crate::held::{ANSWER, Held};
use countersign_cli::init::STARTER;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The program, once it listens.
pub struct Serving {
    child: Child,
    at: String,
    token: String,
}

impl Serving {
    pub fn start(folder: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_serves"));
        command.current_dir(folder).args(["--addr", "127.0.0.1:0", "--data", "data", "--drain", "0s"]).envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output can be read")).lines();
        let mut after = |mark: &str| {
            let line = lines.next().expect("it says something").expect("it is text");
            line.strip_prefix(mark).unwrap_or_else(|| panic!("`{line}` does not begin with `{mark}`")).to_owned()
        };
        let (at, token) = (after("listening at http://"), after("token: "));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, at, token }
    }

    /// Asks, and reads all of the answer.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> String {
        let mut stream = TcpStream::connect(&self.at).expect("it listens");
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n", self.at, self.token);
        let kind = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all((head + &kind).as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    pub fn json(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.ask(method, path, body);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        // In chunks, where its length was not known.
        let body = if head.contains("chunked") { body.split("\r\n").filter(|part| part.starts_with(['{', '['])).collect() } else { body.to_owned() };
        serde_json::from_str(&body).unwrap_or_else(|why| panic!("{why}: {answer}"))
    }

    pub fn end(mut self, signal: &str) -> ExitStatus {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("there is `kill`").success());
        self.child.wait().expect("it ends")
    }
}

fn ended_in_the_middle(signal: &str) -> Vec<Value> {
    let (folder, model) = (tempfile::tempdir().expect("a folder"), Held::start());
    let file = STARTER.replace("http://127.0.0.1:11434/v1", &model.url);
    std::fs::write(folder.path().join("countersign.toml"), file).expect("it can be written");
    let first = Serving::start(folder.path(), &[]);
    let run = first.json("POST", "/api/runs", Some(&json!({ "task": "What is in the folder?" })))["run"].as_str().expect("a name").to_owned();
    model.asked.recv().expect("it gets so far");
    let ended = first.end(signal);
    assert_eq!(ended.success(), signal != "KILL", "{ended}");
    model.release();
    let second = Serving::start(folder.path(), &[]);
    second.ask("GET", &format!("/api/runs/{run}/stream?until=rest"), None);
    let card = second.json("GET", &format!("/api/runs/{run}"), None);
    assert_eq!((&card["status"], &card["message"]["content"]), (&json!("completed"), &json!(ANSWER)), "{card:#}");
    let events = second.json("GET", &format!("/api/runs/{run}/events?limit=1000"), None);
    assert!(second.end("TERM").success());
    events["events"].as_array().expect("a list").clone()
}

fn count(events: &[Value], name: &str) -> usize {
    events.iter().filter(|event| event["event"] == name).count()
}

#[test]
fn a_run_goes_on_after_its_server_was_told_to_end() {
    for signal in ["TERM", "INT"] {
        let events = ended_in_the_middle(signal);
        let counted = ["stopped", "resumed", "crashed", "tool_settled"].map(|name| count(&events, name));
        assert_eq!(counted, [1, 1, 0, 1], "{signal}: {events:#?}");
    }
}

#[test]
fn a_run_goes_on_after_its_server_was_killed() {
    let events = ended_in_the_middle("KILL");
    let counted = ["stopped", "resumed", "crashed", "tool_settled"].map(|name| count(&events, name));
    assert_eq!(counted, [0, 1, 1, 1], "{events:#?}");
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let (folder, model) = (tempfile::tempdir().expect("a folder"), Held::start());
    std::fs::write(folder.path().join("countersign.toml"), STARTER.replace("http://127.0.0.1:11434/v1", &model.url)).expect("it can be written");
    let first = Serving::start(folder.path(), &[]);
    let mut second = Command::new(env!("CARGO_BIN_EXE_serves"));
    let refused = second.current_dir(folder.path()).args(["--addr", "127.0.0.1:0", "--data", "data"]).output().expect("it can be run");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("another server works with"), "{said}");
    first.end("TERM");
}
