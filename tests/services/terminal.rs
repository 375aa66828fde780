//! `countersign run` with a foreign server behind it.

use crate::aimock::Mock;
use countersign_cli::config::Config;
use countersign_cli::init::STARTER;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ANSWER: &str = "There is one file, and it says hello.";

fn said(turns: &[Value]) -> Value {
    let turn = |(at, response): (usize, &Value)| json!({"match": {"systemMessage": "folder", "turnIndex": at}, "response": response});
    turns.iter().enumerate().map(turn).collect()
}

fn looks() -> Value {
    said(&[json!({"toolCalls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}), json!({"content": ANSWER})])
}

/// A folder with a file to read.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("a.txt"), "hello").expect("a file can be written");
    folder
}

fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_program"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program(folder, args).output().expect("it can be run");
    (status.code(), String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned())
}

/// A whole file, the parts of the starter that name an address put right.
fn file(folder: &Path, mock: &Mock) {
    let text = STARTER.replace("http://127.0.0.1:11434/v1", &mock.url("/v1"));
    std::fs::write(folder.join("countersign.toml"), text).expect("a file can be written");
}

#[test]
fn a_task_is_carried_out_by_the_file_that_init_writes() {
    let (folder, mock) = (folder(), Mock::play(&looks()));
    file(folder.path(), &mock);
    let (status, out, err) = run(folder.path(), &["what is in the folder?"]);
    assert_eq!((status, out.trim()), (Some(0), ANSWER), "{err}");
    for line in ["main begins", "calls read_file {\"path\":\"a.txt\"}", "result: hello", "final: verified"] {
        assert!(err.contains(line), "{line}: {err}");
    }
}

#[test]
fn an_address_is_enough() {
    let (folder, mock) = (folder(), Mock::play(&looks()));
    let (status, out, err) = run(folder.path(), &["what is in the folder?", "--at", &mock.url("/v1"), "--model", "any"]);
    assert_eq!((status, out.trim()), (Some(0), ANSWER), "{err}");
}

#[test]
fn events_are_one_json_object_a_line() {
    let (folder, mock) = (folder(), Mock::play(&looks()));
    file(folder.path(), &mock);
    let (status, out, err) = run(folder.path(), &["what is in the folder?", "--json"]);
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!((status, err.as_str()), (Some(0), ""));
    let numbers: Vec<u64> = events.iter().filter_map(|e| e["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(events.last().map(|e| &e["decision"]["completionReason"]), Some(&json!("verified")));
}

#[test]
fn what_is_not_final_says_why_and_is_no_answer() {
    let guess = json!({"content": "There is surely nothing."});
    let (folder, mock) = (folder(), Mock::play(&said(&[guess.clone(), guess.clone(), guess.clone(), guess])));
    file(folder.path(), &mock);
    let (status, out, err) = run(folder.path(), &["what is in the folder?"]);
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(err.contains("not final") && err.contains("evidence is required") && !err.contains("surely nothing"), "{err}");
    let (status, out, err) = run(folder.path(), &["what?", "--at", "http://127.0.0.1:1/v1", "--model", "any"]);
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(err.contains("the model failed: the connection failed"), "{err}");
}

#[test]
fn a_conversation_is_carried_on() {
    let script = json!([
        {"match": {"userMessage": "what"}, "response": {"content": ANSWER}},
        {"match": {"userMessage": "twice"}, "response": {"content": "It says hello still."}},
    ]);
    let (folder, mock) = (folder(), Mock::play(&script));
    let text = STARTER.replace("http://127.0.0.1:11434/v1", &mock.url("/v1")).replace("require_execution_evidence = true", "");
    std::fs::write(folder.path().join("countersign.toml"), text).expect("a file can be written");
    let talk = ["--conversation", "files", "--journal", "runs.db"];
    let (status, out, err) = run(folder.path(), &[&["what does it say?"], &talk[..]].concat());
    assert_eq!((status, out.trim()), (Some(0), ANSWER), "{err}");
    assert!(err.contains("conversation `files` begins"), "{err}");
    let (status, out, err) = run(folder.path(), &[&["say it twice"], &talk[..]].concat());
    assert_eq!((status, out.trim()), (Some(0), "It says hello still."), "{err}");
    assert!(err.contains("conversation `files` goes on after 1 messages"), "{err}");
    let (status, _, err) = run(folder.path(), &["say it", "--conversation", "files"]);
    assert_eq!(status, Some(2));
    assert!(err.contains("--journal"), "{err}");
}

#[test]
fn guards_of_the_file_look_at_the_answer() {
    let says = |text: &str| json!({"content": text});
    let (folder, mock) = (folder(), Mock::play(&said(&[says("It says hello."), says("It says hello.\nSources: a.txt"), says(ANSWER)])));
    let guards = "[[guards]]\nname = \"sources\"\nrequire = [\"(?m)^Sources:\"]\nnudge = \"Name your sources.\"\nmax_nudges = 1\n";
    let review = "[[guards]]\nname = \"review\"\ncommand = [\"sh\", \"-c\", \"grep -q hello && echo '\\\"accept\\\"'\"]\n";
    let text = STARTER.replace("http://127.0.0.1:11434/v1", &mock.url("/v1")).replace("require_execution_evidence = true", "");
    std::fs::write(folder.path().join("countersign.toml"), format!("{text}\n{guards}{review}")).expect("a file can be written");
    let (status, out, err) = run(folder.path(), &["what does it say?"]);
    assert_eq!((status, out.trim()), (Some(0), "It says hello.\nSources: a.txt"), "{err}");
    assert!(err.contains("asks for a second look: Name your sources.") && err.contains("final: not_required"), "{err}");
}

#[test]
fn an_image_comes_with_the_task() {
    let mock = Mock::play(&json!([{"match": {"userMessage": "what"}, "response": {"content": "One point."}}]));
    let folder = folder();
    let wire = crate::wire::Wire::before(&mock.url(""));
    let text = STARTER.replace("http://127.0.0.1:11434", &wire.url).replace("require_execution_evidence = true", "");
    std::fs::write(folder.path().join("countersign.toml"), text).expect("a file can be written");
    std::fs::write(folder.path().join("point.png"), crate::images::GIF).expect("a file can be written");
    let (status, out, err) = run(folder.path(), &["what is it?", "--image", "point.png"]);
    assert_eq!((status, out.trim()), (Some(0), "One point."), "{err}");
    let shown = wire.requests()[0].to_string();
    assert!(shown.contains("data:image/gif;base64,R0lGODlhAQAB"), "a file is what it holds, whatever its name: {shown}");
    for (file, wanted) in [("a.txt", "`a.txt`: this is no PNG, JPEG, GIF or WebP"), ("gone.png", "`gone.png`: No such file")] {
        let (status, out, err) = run(folder.path(), &["what is it?", "--image", file]);
        assert_eq!((status, out.as_str()), (Some(2), ""));
        assert!(err.contains(wanted), "{err}");
    }
}

/// On a terminal of its own, which `script` makes: a tree, and a person who grants.
#[test]
fn a_person_at_the_terminal_sees_a_tree_and_grants() {
    let look = json!({"toolCalls": [{"name": "odd__look", "arguments": {}}]});
    let (folder, mock) = (folder(), Mock::play(&said(&[look, json!({"content": "It stands open."})])));
    let text = STARTER.replace("http://127.0.0.1:11434/v1", &mock.url("/v1")).replace("\"search_files\"]", "\"odd__look\"]");
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("odd.py");
    let mcp = format!("\n[mcp.odd]\ncommand = [\"python3\", {server:?}]\n[mcp.odd.tools.look]\nevidence = true\n");
    std::fs::write(folder.path().join("countersign.toml"), text + &mcp).expect("a file can be written");
    let mut command = Command::new("script");
    let inner = format!("{} 'is it open?'", env!("CARGO_BIN_EXE_program"));
    command.args(["-qec", &inner, "/dev/null"]).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("`script` can be run");
    let mut screen = child.stdout.take().expect("it can be read");
    let mut shown = until(&mut screen, "[y/N] ");
    assert!(shown.contains("`odd__look` wants to run with {}") && !shown.contains("completed"), "{shown}");
    child.stdin.as_mut().expect("it can be written to").write_all(b"y\n").expect("it can be written to");
    shown += &until(&mut screen, "It stands open.");
    assert!(child.wait().expect("it ends").success(), "{shown}");
    for seen in ["* main, 1 turns", "waits for approval odd__look", "\u{1b}[", "completed odd__look", "final: verified"] {
        assert!(shown.contains(seen), "{seen}: {shown}");
    }
}

/// What a screen shows up to this.
fn until(screen: &mut impl Read, wanted: &str) -> String {
    let mut shown = String::new();
    let mut byte = [0];
    while !shown.ends_with(wanted) {
        assert_eq!(screen.read(&mut byte).expect("it can be read"), 1, "`{wanted}` never came: {shown}");
        // Good enough for what is looked for, which is ASCII.
        shown.push(char::from(byte[0]));
    }
    shown
}

/// Pressed once: what is under way comes in first. Pressed twice: at once.
#[test]
fn ctrl_c_cancels_and_twice_at_once() {
    let slow = json!([{"match": {"userMessage": "folder"}, "response": {"content": "late"}, "chaos": {"latencyMs": 30_000}}]);
    let (folder, mock) = (folder(), Mock::play(&slow));
    file(folder.path(), &mock);
    let mut child = program(folder.path(), &["what is in the folder?"]).spawn().expect("it can be run");
    let mut lines = BufReader::new(child.stderr.take().expect("it can be read")).lines().map_while(Result::ok);
    let press = || assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run").success());
    assert!(lines.by_ref().any(|line| line.contains("main begins")));
    press();
    assert!(lines.by_ref().any(|line| line.contains("cancelling once what is under way is in")));
    press();
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("cancelling at once")) && rest.iter().any(|line| line.contains("user_cancelled")), "{rest:?}");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}

#[test]
fn the_starter_can_be_read_with_every_line_in_use() {
    Config::read("countersign.toml", STARTER).unwrap_or_else(|e| panic!("{e}"));
    // Lines that are settings, and not prose, are taken into use.
    let setting = |line: &str| match line.trim_start().strip_prefix("# ") {
        Some(rest)
            if ["[", "\"", "]", " "].iter().any(|b| rest.starts_with(b)) || rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) =>
        {
            rest.to_owned()
        }
        _ => line.to_owned(),
    };
    let whole: String = STARTER.lines().map(|line| setting(line) + "\n").collect();
    let config = Config::read("countersign.toml", &whole).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((config.agents.len(), config.tools.commands.len(), config.mcp.len(), config.guards.len()), (2, 2, 1, 2), "{whole}");
}

#[tokio::test]
async fn a_bad_file_says_what_is_wrong_and_where() {
    let model = "[models.main]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    let agent = "[[agents]]\nname = \"main\"\n";
    for (text, wanted) in [
        (format!("{model}{agent}tool = []\n"), "f.toml:6:1"),
        (format!("mode = \"solo\"\n{model}{agent}"), "f.toml:1:8"),
        (format!("{model}{agent}turns = \"many\"\n"), "f.toml:6:9"),
        (format!("{model}{agent}tools = [\"read_file\"]\n"), "there is no tool `read_file`"),
        (format!("{model}{agent}model = \"gpt\"\n"), "no model is called `gpt`; there are: `main`"),
        (format!("{model}{agent}agents = [\"helper\"]\n"), "no agent is called `helper`"),
        (format!("{model}{agent}[tools]\nfolder = \".\"\ncommands = [[\"ls\", \"{{any}}\"]]\n"), "`{any}` is no place"),
        (format!("{model}{agent}[tools]\ncommands = [[\"ls\"]]\n"), "commands are run in a folder"),
        (format!("{model}{agent}[mcp.x]\n"), "has either a `command` or a `url`"),
        (format!("{model}{agent}key_env = 1\n[policy]\nretry = 1\n"), "f.toml:6:1"),
        (format!("{model}{agent}[[guards]]\nname = \"g\"\n"), "f.toml:7:8"),
        (format!("{model}{agent}[[guards]]\nname = \"g\"\nrequire = [\"a\", \"(\"]\n"), "`(` is no pattern: unclosed group\n --> f.toml:8:17"),
        (
            format!("{model}{agent}[[guards]]\nname = \"g\"\ncommand = [\"no-such-program\"]\n"),
            "there is no program `no-such-program`\n --> f.toml:8:11",
        ),
        (format!("{model}{agent}[[guards]]\nname = \"g\"\ncommand = []\n"), "name a program"),
        (format!("{model}{agent}[[guards]]\nname = \"g\"\nforbid = [\"a\"]\ntimeout_ms = 1\n"), "are for a guard with a `command`"),
        (format!("{model}{agent}[[guards]]\nname = \"g\"\ncommand = [\"sh\"]\nnudge = \"a\"\n"), "f.toml:9:9"),
        (format!("{model}{agent}{0}{0}", "[[guards]]\nname = \"g\"\nforbid = [\"a\"]\n"), "two guards are called `g`; rename one\n  --> f.toml:10:8"),
        (format!("{model}{agent}[[guards]]\nname = \"g\"\nrequires = [\"a\"]\n"), "f.toml:8:1"),
        (format!("models = {{}}\n{agent}"), "no model is there"),
        (model.to_owned(), "missing field `agents`"),
        (format!("[models.main]\nmodel = \"m\"\nkey_env = \"COUNTERSIGN_NO_SUCH_KEY\"\n{agent}"), "model `main`"),
        (format!("{model}{agent}[policy]\nrequire_execution_evidence = true\n"), "no agent has a tool whose result counts as evidence"),
    ] {
        let why = Config::assemble("f.toml", &text, None).await.err().unwrap_or_else(|| panic!("this is taken:\n{text}"));
        assert!(format!("{why:#}").contains(wanted), "{wanted}: {why:#}");
    }
    let text = format!("{model}{agent}tools = [\"list_files\", \"fly\"]\n[tools]\nfolder = \".\"\n");
    let why = Config::assemble("f.toml", &text, None).await.err().expect("it is refused").to_string();
    let shown = "there is no tool `fly`; there are: `list_files`, `read_file`, `search_files`\n -->f.toml:6:24\n  |\n6 | tools = [\"list_files\", \"fly\"]\n  |                        ^^^^^";
    assert_eq!(why, shown.replace("-->", "--> "), "{why}");
}
