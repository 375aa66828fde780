//! A server with scripted agents, and a browser at it.

use crate::browser::{Browser, Setup};
use async_trait::async_trait;
use countersign::{
    Agent, Declared, Deltas, Effect, Event, FnTool, MemoryJournal, Model, ModelError, ModelReply, ModelRequest, Policy, Runner, Single, Supervisor,
    Tool, ToolError, ToolSpec,
};
use countersign_examples::suite::cast::{Script, call, conclude, hand_over, hang, look, looker, pay, say, told, turn};
use countersign_server::state::Bounds;
use countersign_server::{Server, Token};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const TOKEN: &str = "ann-0123456789abcdef";

/// A server, a browser at it, and what holds models back.
pub struct Stage {
    pub browser: Browser,
    /// Each permit lets a model that was told that something is missing reply once.
    pub go: Arc<Semaphore>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// A model that follows a script. Once it was told that something is missing, it replies when the test lets it.
struct Held {
    script: Script,
    go: Arc<Semaphore>,
}

#[async_trait]
impl Model for Held {
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError> {
        if told(&request) > 0 {
            self.go.acquire().await.unwrap().forget();
        }
        let reply = (self.script)(&request);
        deltas.send(&reply.text);
        Ok(reply)
    }

    fn name(&self) -> &str {
        "held"
    }
}

/// A server with every profile, and a browser that is signed in.
pub async fn stage(setup: Setup) -> Stage {
    let go = Arc::new(Semaphore::new(0));
    // What a test leaves under way is of no use afterwards.
    let bounds = Bounds { drain: Duration::ZERO, ..Bounds::default() };
    let server = Server::new(Arc::new(MemoryJournal::new())).bounds(bounds).token(Token::new(Some("ann"), TOKEN).unwrap());
    let profiles: [(&str, Script); 8] = [
        ("look", looks),
        ("pay", pays),
        ("stubborn", lies),
        ("ask", asks),
        ("hang", |_| call("hang", "it")),
        ("team", team),
        ("evil", evil),
        ("wire", wires),
    ];
    let server = profiles.into_iter().fold(server, |server, (name, script)| server.profile(name, &runner(name, script, &go)));
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", bound.addr());
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(bound.serve(async { drop(stopped.await) }));
    let browser = Browser::start(&base, setup).await;
    browser.open("/").await;
    browser.sign_in(TOKEN).await;
    Stage { browser, go, stop, task }
}

impl Stage {
    pub async fn end(self) {
        self.browser.close().await;
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

fn runner(name: &str, script: Script, go: &Arc<Semaphore>) -> Runner {
    let model = Held { script, go: go.clone() };
    if name == "team" {
        let desk = Agent::new("supervisor", "").tool(ToolSpec::transfer("database")).tool(ToolSpec::transfer("network")).tool(ToolSpec::conclude());
        let team = Runner::builder(Supervisor::default(), model).agent(desk).agent(looker("database")).agent(looker("network"));
        return team.tool(look()).policy(Policy::execution()).build().unwrap();
    }
    let main = looker("main").tool(pay().spec()).tool(hang().spec()).tool(wire().spec()).tool(ToolSpec::ask_user());
    Runner::builder(Single::default(), model)
        .agent(main)
        .tool(look())
        .tool(pay())
        .tool(hang())
        .tool(wire())
        .policy(Policy::execution())
        .build()
        .unwrap()
}

/// Sends something, and its line breaks: the first time, nobody can tell whether it arrived.
fn wire() -> impl Tool {
    let times = Arc::new(AtomicU32::new(0));
    FnTool::new("wire", "Sends money.", Declared::run(Effect::Write), move |amount: Wired| {
        let times = times.clone();
        async move {
            match times.fetch_add(1, Ordering::SeqCst) {
                0 => Err(ToolError::Lost("the line broke".to_owned())),
                _ => Ok(format!("{} sent", amount.amount)),
            }
        }
    })
}

/// How much is sent, and to whom.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wired {
    amount: String,
    #[allow(dead_code, reason = "it is shown")]
    to: String,
}

fn wires(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => ModelReply::call("wire", r#"{"amount":"300","to":"an-account-whose-number-is-long-and-has-no-spaces-DE0123456789-0123456789"}"#),
        _ => say("I have seen to it."),
    }
}

fn looked(r: &ModelRequest) -> bool {
    r.transcript.iter().any(|e| matches!(e.record.event, Event::ToolSettled { .. }))
}

/// Answers at once, is refused, looks, and answers from what it saw.
fn looks(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => say("It is as it always was."),
        _ if looked(r) => say("I looked, and the shop is **open**."),
        _ => call("look", "the shop"),
    }
}

fn pays(r: &ModelRequest) -> ModelReply {
    if turn(r) == 0 { call("pay", "bill 17") } else { say("I have seen to the bill.") }
}

/// Does nothing until it was told twice.
fn lies(r: &ModelRequest) -> ModelReply {
    if told(r) < 2 {
        say("Believe me, all is well.")
    } else if looked(r) {
        say("I looked after all.")
    } else {
        call("look", "the shop")
    }
}

fn asks(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => ModelReply::call("ask_user", r#"{"question":"Which shop?"}"#),
        1 => call("look", "High Street"),
        _ => say("The shop in the High Street is open."),
    }
}

fn team(r: &ModelRequest) -> ModelReply {
    match (&*r.agent.name, turn(r)) {
        ("supervisor", 0) => hand_over(&[("transfer_to_database", "Are there slow queries?"), ("transfer_to_network", "Are packets lost?")]),
        ("supervisor", _) => conclude(r, "Neither the database nor the network is at fault."),
        (name, 0) => call("look", name),
        (name, _) => say(&format!("The {name} is fine.")),
    }
}

/// What would run, if it were let.
pub const EVIL: &str = "<img src=x onerror=\"window.owned=1\"><script>window.owned=1</script>[x](javascript:window.owned=1)";

/// Has scripts in its mouth: in arguments, in a tool's name, in results, in the answer.
fn evil(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => say(EVIL),
        1 => call("look", EVIL),
        2 => call(EVIL, EVIL),
        3 => call("pay", EVIL),
        _ => say(&format!("**Done** {EVIL}")),
    }
}
