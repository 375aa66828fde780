//! Tools of three MCP servers that were not written for this.

use crate::server::installed;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{
    Agent, CancelWhen, Effect, Event, ModelReply, ModelRequest, NodeId, Outcome, Policy, Reason, RunResult, Runner, RunnerBuilder, Single, Status,
    Streamed, Tool, ToolError, ToolRequest,
};
use countersign_connect::mcp::launch::Address;
use countersign_connect::mcp::server::Patience;
use countersign_connect::mcp::{Launch, McpError, Program, Server, Term, Terms};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn node(program: &str, args: &[&str]) -> Launch {
    let script = installed(&format!("npm/node_modules/@modelcontextprotocol/{program}/dist/index.js"));
    let words = ["node".to_owned(), script.display().to_string()].into_iter().chain(args.iter().map(|a| (*a).to_owned()));
    Launch::Program(Program { command: words.collect(), ..Program::default() })
}

async fn connect(name: &str, launch: &Launch) -> Server {
    Server::connect(name, launch, Patience::default()).await.unwrap_or_else(|e| panic!("{e}"))
}

/// Everything that is needed to run without anybody's word.
fn trusted(tools: &[&str]) -> Terms {
    let term = Term { effect: Some(Effect::Read), idempotent: true, trusted: true, evidence: true, digest: None };
    Terms(tools.iter().map(|t| ((*t).to_owned(), term.clone())).collect())
}

fn named(server: &Server, terms: &Terms, name: &str) -> Arc<dyn Tool> {
    let tools = server.tools(terms).expect("they can be offered");
    tools.into_iter().find(|t| &*t.spec().name == name).unwrap_or_else(|| panic!("there is no `{name}`"))
}

async fn call(tool: &Arc<dyn Tool>, args: Value) -> Result<String, ToolError> {
    let request = ToolRequest::alone(NodeId(1), args.to_string());
    tool.run(request).await.map(|said| said.text.to_string())
}

/// A run that calls one tool and answers.
fn runner(tool: Arc<dyn Tool>, args: Value, policy: Policy) -> Runner {
    let name = tool.spec().name.to_string();
    let model = ScriptedModel(move |request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call(&name, args.to_string()),
        _ => ModelReply::text("That is what became of it."),
    });
    let builder: RunnerBuilder = Runner::builder(Single::default(), model).agent(Agent::new("main", "").tool(tool.spec())).shared_tool(tool);
    builder.policy(policy).build().expect("it fits together")
}

fn settled(result: &RunResult) -> Option<(Outcome, String)> {
    let settled = |event: &Event| match event {
        Event::ToolSettled { outcome, text, .. } => Some((*outcome, text.to_string())),
        _ => None,
    };
    result.run.ledger().log().iter().find_map(|r| settled(&r.event))
}

#[tokio::test]
async fn tools_are_listed_and_called() {
    let server = connect("everything", &node("server-everything", &["stdio"])).await;
    let echo = named(&server, &Terms::default(), "everything__echo");
    assert_eq!(call(&echo, json!({"message": "hello"})).await.as_deref(), Ok("Echo: hello"));
    let sum = named(&server, &Terms::default(), "everything__get-sum");
    assert!(call(&sum, json!({"a": 2, "b": 3})).await.is_ok_and(|text| text.contains('5')));
    let image = call(&named(&server, &Terms::default(), "everything__get-tiny-image"), json!({})).await.expect("there is one");
    assert!(image.contains("[image, image/png, "), "{image}");
    assert!(matches!(call(&echo, json!([1])).await, Err(ToolError::Arguments(_))));
    assert!(matches!(call(&echo, json!({"message": 1})).await, Err(ToolError::Failed(_))));
}

#[tokio::test]
async fn a_foreign_tool_is_strict_until_it_is_loosened() {
    let server = connect("everything", &node("server-everything", &["stdio"])).await;
    let strict = named(&server, &Terms::default(), "everything__echo").spec().declared();
    assert_eq!((strict.effect, strict.idempotent, strict.approval, strict.evidence), (Effect::Write, false, true, false));
    let loose = named(&server, &trusted(&["echo"]), "everything__echo").spec().declared();
    assert_eq!((loose.effect, loose.idempotent, loose.approval, loose.evidence), (Effect::Read, true, false, true));
    let result = runner(named(&server, &Terms::default(), "everything__echo"), json!({"message": "hello"}), Policy::default());
    let result = result.run("say hello").await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::AwaitingApproval, Reason::AwaitingApproval), "{}", result.log());
    let result = runner(named(&server, &trusted(&["echo"]), "everything__echo"), json!({"message": "hello"}), Policy::execution());
    let result = result.run("say hello").await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Completed, Reason::Verified), "{}", result.log());
}

/// What was said of a tool holds for the definition for which it was said.
#[tokio::test]
async fn a_changed_definition_needs_a_new_word() {
    let server = connect("everything", &node("server-everything", &["stdio"])).await;
    let digest = server.definitions().iter().find(|d| d.name == "echo").expect("it has one").digest.clone();
    let mut terms = trusted(&["echo"]);
    terms.0.get_mut("echo").expect("it is there").digest = Some(digest);
    assert!(server.outdated(&terms).is_empty());
    assert!(!named(&server, &terms, "everything__echo").spec().declared().approval);
    terms.0.get_mut("echo").expect("it is there").digest = Some("sha256:of-another-time".into());
    assert_eq!(server.outdated(&terms), ["echo"]);
    assert!(named(&server, &terms, "everything__echo").spec().declared().approval);
}

#[tokio::test]
async fn progress_keeps_a_call_alive_and_silence_ends_it() {
    let patience = Patience { silence: Duration::from_secs(3), whole: Duration::from_secs(60) };
    let server = Server::connect("everything", &node("server-everything", &["stdio"]), patience).await.expect("it is there");
    let long = named(&server, &Terms::default(), "everything__trigger-long-running-operation");
    // Twice as long as anybody waits in silence, with a sign of progress every half second.
    let said = call(&long, json!({"duration": 6, "steps": 12})).await;
    assert!(said.as_ref().is_ok_and(|text| text.contains("6")), "{said:?}");
    let said = call(&long, json!({"duration": 20, "steps": 1})).await;
    assert_eq!(said, Err(ToolError::TimedOut(patience.silence)));
    // Whoever gave up is still served.
    let echo = named(&server, &Terms::default(), "everything__echo");
    assert_eq!(call(&echo, json!({"message": "still here"})).await.as_deref(), Ok("Echo: still here"));
}

#[tokio::test]
async fn a_cancelled_run_gives_its_call_up_and_the_server_lives_on() {
    let server = connect("everything", &node("server-everything", &["stdio"])).await;
    let tool = named(&server, &trusted(&["trigger-long-running-operation"]), "everything__trigger-long-running-operation");
    let run = runner(tool, json!({"duration": 60, "steps": 60}), Policy::default()).start("cancelled", "wait").expect("it starts");
    let mut events = run.events(0);
    let mut shown = Vec::new();
    while let Some(Ok(next)) = events.next().await {
        // It is under way, as it says itself.
        if let Streamed::Progress { text, .. } = next {
            shown.push(text);
            run.cancel(CancelWhen::AtOnce);
        }
    }
    assert!(!shown.is_empty() && shown[0].contains(" of 60"), "{shown:?}");
    let result = run.result().await.expect("it comes to rest");
    assert_eq!((result.status(), settled(&result).map(|(outcome, _)| outcome)), (Status::Cancelled, Some(Outcome::Cancelled)));
    assert!(!result.log().contains(" of 60"), "signs of progress are shown and not recorded");
    let echo = named(&server, &Terms::default(), "everything__echo");
    assert_eq!(call(&echo, json!({"message": "still here"})).await.as_deref(), Ok("Echo: still here"));
}

/// A server that dies under a call that may not run twice: nobody guesses.
#[tokio::test]
async fn a_server_that_dies_loses_its_open_calls() {
    // The word behind tells it from those of other tests, which live on.
    let server = connect("everything", &node("server-everything", &["stdio", "mortal"])).await;
    let term = Term { trusted: true, ..Term::default() };
    let terms = Terms(BTreeMap::from([("trigger-long-running-operation".to_owned(), term)]));
    let tool = named(&server, &terms, "everything__trigger-long-running-operation");
    let run = runner(tool.clone(), json!({"duration": 60, "steps": 60}), Policy::default()).start("lost", "wait").expect("it starts");
    let mut events = run.events(0);
    while let Some(Ok(next)) = events.next().await {
        if matches!(&next, Streamed::Event(record) if matches!(record.event, Event::ToolStarted { .. })) {
            kill_the_mortal();
        }
    }
    let result = run.result().await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Blocked, Reason::UnknownOutcome), "{}", result.log());
    assert!(matches!(settled(&result), Some((Outcome::Lost, why)) if why.contains("`everything` died under the call")), "{}", result.log());
    // A call that was never sent has only failed.
    assert!(matches!(call(&tool, json!({"duration": 1, "steps": 1})).await, Err(ToolError::Failed(why)) if why.contains("is gone")));
}

/// Kills the child of this very process that was started to die, and no other.
fn kill_the_mortal() {
    let listed = std::process::Command::new("ps").args(["-o", "pid=,ppid=,args="]).arg("--ppid").arg(std::process::id().to_string()).output();
    let listed = String::from_utf8_lossy(&listed.expect("ps can be run").stdout).into_owned();
    let mut killed = 0;
    for line in listed.lines().filter(|l| l.ends_with("stdio mortal")) {
        let pid = line.split_whitespace().next().expect("a line begins with its number");
        assert!(std::process::Command::new("kill").args(["-9", pid]).status().expect("kill can be run").success());
        killed += 1;
    }
    assert!(killed > 0, "no such child: {listed}");
}

#[tokio::test]
async fn a_child_is_given_its_environment_and_no_more() {
    let Launch::Program(mut program) = node("server-everything", &["stdio"]) else { panic!("it is a program") };
    program.env = BTreeMap::from([("GIVEN".to_owned(), "by name".to_owned())]);
    program.keep_env = vec!["COUNTERSIGN_SERVICES".to_owned()];
    let server = connect("everything", &Launch::Program(program)).await;
    let said = call(&named(&server, &Terms::default(), "everything__get-env"), json!({})).await.expect("it tells");
    let env: BTreeMap<String, Value> = serde_json::from_str(&said).expect("it is JSON");
    let names: Vec<&str> = env.keys().map(String::as_str).collect();
    assert_eq!(names, ["COUNTERSIGN_SERVICES", "GIVEN", "PATH"]);
}

#[tokio::test]
async fn the_same_over_streamable_http() {
    let script = installed("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port is free").port();
    let mut command = std::process::Command::new("sh");
    // It says on its error output that it listens.
    command.args(["-c", "exec node \"$0\" streamableHttp 2>&1"]).arg(script).env("PORT", port.to_string());
    let running = crate::server::Server::start(command, "listening on port");
    assert!(running.url.contains(&port.to_string()), "{}", running.url);
    let launch = Launch::Url(Address { url: format!("http://127.0.0.1:{port}/mcp"), token_env: None });
    let server = connect("everything", &launch).await;
    let echo = named(&server, &Terms::default(), "everything__echo");
    assert_eq!(call(&echo, json!({"message": "hello"})).await.as_deref(), Ok("Echo: hello"));
    drop(running);
    let said = call(&echo, json!({"message": "hello"})).await;
    assert!(said.is_err(), "{said:?}");
}

#[tokio::test]
async fn files_are_read_within_what_the_server_allows() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("a.txt"), "seen").expect("a file can be written");
    let root = folder.path().canonicalize().expect("it is there").display().to_string();
    let server = connect("files", &node("server-filesystem", &[&root])).await;
    let read = named(&server, &trusted(&["read_text_file"]), "files__read_text_file");
    assert!(call(&read, json!({"path": format!("{root}/a.txt")})).await.is_ok_and(|text| text.contains("seen")));
    // What the server calls an error is a failed run.
    let result = runner(read, json!({"path": "/etc/hostname"}), Policy::default()).run("read").await.expect("it comes to rest");
    assert!(matches!(settled(&result), Some((Outcome::Failed, why)) if why.contains("denied")), "{}", result.log());
    // Where the server itself says that a tool destroys, that is believed.
    assert_eq!(named(&server, &Terms::default(), "files__write_file").spec().declared().effect, Effect::Destructive);
}

#[tokio::test]
async fn a_repository_is_looked_at() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    git(folder.path(), &["init", "--quiet"]);
    std::fs::write(folder.path().join("new.txt"), "new").expect("a file can be written");
    let python = installed("venv/bin/python").display().to_string();
    let path = folder.path().display().to_string();
    let launch = Launch::Program(Program::new(&[&python, "-m", "mcp_server_git", "--repository", &path]));
    let server = connect("git", &launch).await;
    let status = named(&server, &trusted(&["git_status"]), "git__git_status");
    let said = call(&status, json!({"repo_path": path})).await;
    assert!(said.as_ref().is_ok_and(|text| text.contains("new.txt")), "{said:?}");
}

fn git(folder: &Path, args: &[&str]) {
    assert!(std::process::Command::new("git").args(args).current_dir(folder).status().expect("git can be run").success());
}

#[tokio::test]
async fn a_server_that_cannot_be_used_says_why() {
    let gone = Launch::Program(Program::new(&["no-such-program-anywhere"]));
    assert!(matches!(Server::connect("gone", &gone, Patience::default()).await, Err(McpError::Reach { .. })));
    assert!(matches!(Server::connect("a b", &gone, Patience::default()).await, Err(McpError::Name(_))));
    let mute = Launch::Program(Program::new(&["sleep", "600"]));
    let patience = Patience { whole: Duration::from_millis(200), ..Patience::default() };
    let why = Server::connect("mute", &mute, patience).await.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(why.contains("did not answer within 200ms"), "{why}");
}
