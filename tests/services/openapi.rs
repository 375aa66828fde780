//! `/openapi.json` is true of the server: schemathesis, which was not written for this, asks for everything that it
//! says and for much that it forbids, and compares each response with it.

use crate::server::installed;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Declared, Effect, FnTool, MemoryJournal, ModelReply, ModelRequest, Policy, Runner, Single, Tool, ToolSpec};
use countersign_server::pace::{Rate, Rates};
use countersign_server::state::Bounds;
use countersign_server::{Server, Token};
use std::path::Path;
use std::sync::Arc;
use tokio::process::Command;
use tokio::sync::oneshot;

const TOKEN: &str = "schemathesis-0123456789";

/// Runs that end, that are blocked, and that wait for a person.
fn runner(profile: &str) -> Runner {
    let declared = Declared { approval: true, ..Declared::run(Effect::Write) };
    let pay = FnTool::plain("pay", "Pays a bill.", declared, |bill: u32| Ok(format!("bill {bill} is paid")));
    let main = Agent::new("main", "").tool(pay.spec()).tool(ToolSpec::ask_user());
    let (pays, asks) = (profile == "pays", profile == "asks");
    let model = ScriptedModel(move |request: &ModelRequest| match replies(&request.transcript) {
        0 if pays => ModelReply::call("pay", "17"),
        0 if asks => ModelReply::call("ask_user", r#"{"question":"Which shop?"}"#),
        _ => ModelReply::text("It is done."),
    });
    let policy = if profile == "blocked" { Policy::execution() } else { Policy::conversation() };
    Runner::builder(Single::default(), model).agent(main).tool(pay).policy(policy).build().expect("it fits together")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_is_as_it_is_described() {
    let often = Rate::new(1_000_000, 1_000_000);
    let rates = Rates { requests: often, starts: often, strangers: often };
    let server = Server::new(Arc::new(MemoryJournal::new())).token(Token::new(Some("st"), TOKEN).expect("it is long enough"));
    let server = server.bounds(Bounds { rates, runs: 100_000, ..Bounds::default() });
    let server = ["done", "pays", "asks", "blocked"].into_iter().fold(server, |server, name| server.profile(name, &runner(name)));
    let bound = server.bind("127.0.0.1:0").await.expect("it listens");
    let at = format!("http://{}/openapi.json", bound.addr());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve(async { drop(stopped.await) }));
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/schemathesis.toml");
    let folder = tempfile::tempdir().expect("a folder for what it writes");
    let mut program = Command::new(installed("venv/bin/schemathesis"));
    program.arg("--config-file").arg(config.canonicalize().expect("it is in the repository")).args(["run", &at, "--seed", "7", "-n", "20"]);
    program.args(["-H", &format!("Authorization: Bearer {TOKEN}"), "--request-timeout", "20", "--no-color"]);
    let output = program.current_dir(folder.path()).output().await.expect("it can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    // Nothing passed because nothing was asked.
    assert!(said.contains("Operations:       21 selected"), "{said}");
    stop.send(()).expect("it is still there");
    serving.await.expect("it leaves well");
}
