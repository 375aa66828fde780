//! The stop hook in the programs that it was made for: Claude Code and Codex themselves, with a model by script. Each
//! agent says that it is done, is held up once where it is not, and then says how it is.

use crate::aimock::Mock;
use crate::server::installed;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

const DONE: &str = "Done: the greeting is mended.";
const HONEST: &str = "It could not be done: there is no such file.";

/// A program with our hook in its settings.
struct Host {
    folder: tempfile::TempDir,
    mock: Mock,
}

impl Host {
    /// Installs the hook as a user would, in a project of its own.
    fn new(name: &str, fixtures: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for part in ["home", "state", "project/.git"] {
            std::fs::create_dir_all(folder.path().join(part)).expect("a folder can be made");
        }
        let host = Self { folder, mock: Mock::play(fixtures) };
        let install = host
            .command(std::env::var("COUNTERSIGN_PROGRAM").expect("`.ci/services` names the program"))
            .args(["hook", "install", "--for", name])
            .output();
        assert!(install.is_ok_and(|done| done.status.success()), "the hook can be installed");
        host
    }

    /// A program that runs in the project and knows no other home.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let at = |part: &str| self.folder.path().join(part);
        let mut command = Command::new(program);
        command.current_dir(at("project")).env("HOME", at("home")).env("XDG_STATE_HOME", at("state")).stdin(Stdio::null());
        command
    }

    fn project(&self, file: &str) -> String {
        self.folder.path().join("project").join(file).display().to_string()
    }

    /// What Claude Code prints, a JSON value a line.
    fn claude_code(&self, task: &str) -> Vec<Value> {
        let mut claude = self.command(installed("npm/node_modules/.bin/claude"));
        claude.args(["-p", task, "--permission-mode", "acceptEdits", "--allowedTools", "Bash(sleep:*)"]);
        claude.args(["--output-format", "stream-json", "--verbose"]);
        claude.env("ANTHROPIC_BASE_URL", self.mock.url("")).env("ANTHROPIC_API_KEY", "none").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        printed(&mut claude)
    }

    /// What Codex prints. It asks people to trust a hook before it runs it; nobody is there to ask.
    fn codex(&self, task: &str) -> Vec<Value> {
        let home = self.folder.path().join("home/.codex");
        std::fs::create_dir_all(&home).expect("a folder can be made");
        let provider = format!("{{ name = \"mock\", base_url = \"{}\", wire_api = \"responses\", env_key = \"KEY\" }}", self.mock.url("/v1"));
        let project = self.project("");
        let settings = format!(
            "model_provider = \"mock\"\n[model_providers]\nmock = {provider}\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            project.trim_end_matches('/')
        );
        std::fs::write(home.join("config.toml"), settings).expect("settings can be written");
        let mut codex = self.command(installed("npm/node_modules/.bin/codex"));
        codex.args(["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "--json", "-s", "workspace-write", task]).env("KEY", "none");
        printed(&mut codex)
    }
}

fn printed(program: &mut Command) -> Vec<Value> {
    let done = program.output().expect("the program can be started");
    // Shown where the test fails.
    println!("{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Everything that the agent said, in order.
fn said(lines: &[Value]) -> Vec<&str> {
    let claude = |line: &Value| line["type"] == "assistant";
    let codex = |line: &Value| line["type"] == "item.completed" && line["item"]["type"] == "agent_message";
    let parts = lines.iter().filter(|line| claude(line)).flat_map(|line| line["message"]["content"].as_array().into_iter().flatten());
    let texts = parts.filter_map(|part| part["text"].as_str());
    texts.chain(lines.iter().filter(|line| codex(line)).filter_map(|line| line["item"]["text"].as_str())).collect()
}

/// A model that calls a tool, says that it is done, and says how it is once it is told that it is not.
fn hasty(tool: &str, arguments: &Value) -> Value {
    json!([
        {"match": {"userMessage": "This is not final yet"}, "response": {"content": HONEST}},
        {"match": {"userMessage": "greeting", "hasToolResult": false}, "response": {"toolCalls": [{"name": tool, "arguments": arguments}]}},
        {"match": {"userMessage": "greeting", "hasToolResult": true}, "response": {"content": DONE}},
        {"match": {}, "response": {"content": "Good morning."}},
    ])
}

#[test]
fn claude_code_goes_on_after_a_change_that_failed() {
    let host = Host::new("claude-code", &hasty("Edit", &json!({"file_path": "/no/such/file", "old_string": "a", "new_string": "b"})));
    let lines = host.claude_code("Mend the greeting.");
    assert_eq!(said(&lines), [DONE, HONEST], "{lines:#?}");
    let told = serde_json::to_string(&lines).expect("it is JSON");
    assert!(told.contains("last_work_ok"), "{told}");
    // What was made in order is let through without a word.
    assert_eq!(said(&host.claude_code("Say good morning.")), ["Good morning."]);
}

#[test]
fn claude_code_is_held_up_once_by_a_shell_that_it_never_looked_at() {
    let host = Host::new("claude-code", &hasty("Bash", &json!({"command": "sleep 60", "description": "wait", "run_in_background": true})));
    let lines = host.claude_code("Mend the greeting.");
    assert_eq!(said(&lines), [DONE, HONEST], "{lines:#?}");
    assert!(serde_json::to_string(&lines).expect("it is JSON").contains("background_done"));
}

#[test]
fn codex_goes_on_after_a_call_of_nothing_and_beside_a_command_that_still_runs() {
    for (tool, arguments, check) in
        [("mend", json!({"what": "greeting"}), "last_work_ok"), ("exec_command", json!({"cmd": "sleep 60", "yield_time_ms": 300}), "background_done")]
    {
        let host = Host::new("codex", &hasty(tool, &arguments));
        let lines = host.codex("Mend the greeting.");
        assert_eq!(said(&lines), [DONE, HONEST], "{check}: {lines:#?}");
        let written = sessions(&host.folder.path().join("home/.codex/sessions"));
        assert!(written.contains(check), "{written}");
        assert_eq!(said(&host.codex("Say good morning.")), ["Good morning."]);
    }
}

/// All that stands below a folder.
fn sessions(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| if entry.path().is_dir() { sessions(&entry.path()) } else { std::fs::read_to_string(entry.path()).unwrap_or_default() })
        .collect()
}
