//! Runs over HTTP, over loopback: what is on the wire, how streams go on, what people can do, and who may do it.

mod access;
mod batches;
mod chat;
mod entry;
mod exits;
mod http;
mod metrics;
mod page;
mod park;
mod restart;
mod steer;
mod stream;
mod wire;

use countersign::{Agent, Journal, MemoryJournal, ModelReply, ModelRequest, Policy, Runner, Single, Tool, ToolSpec};
use countersign_examples::suite::cast::{Script, call, hang, look, looker, pay, say, stage, told, turn};
use countersign_server::{Server, Token};
use http::Client;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const ANN: &str = "ann-0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef";

/// A server under test, and how to end it.
struct Served {
    client: Client,
    journal: Arc<dyn Journal>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Two people, and a profile for each script of [`runner`].
fn server(journal: Arc<dyn Journal>) -> Server {
    let names = ["looks", "pays", "stubborn", "asks", "hangs", "lies", "repeats", "fails", "team"];
    let tokens = [("ann", ANN), ("bob", BOB)].map(|(name, secret)| Token::new(Some(name), secret).unwrap());
    let server = tokens.into_iter().fold(Server::new(journal), Server::token);
    names.into_iter().fold(server, |server, name| server.profile(name, &runner(name)))
}

async fn serve(server: Server, journal: Arc<dyn Journal>) -> Served {
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let client = Client::new(bound.addr(), ANN);
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(bound.serve(async { drop(stopped.await) }));
    Served { client, journal, stop, task }
}

async fn served() -> Served {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    serve(server(journal.clone()), journal).await
}

impl Served {
    /// Starts a run, and says what it is called.
    async fn start(&self, profile: &str) -> String {
        let run = self.client.post("/api/runs", &json!({ "task": "See to it.", "profile": profile })).await;
        assert_eq!(run.status, 201, "{}", run.text());
        run.json()["run"].as_str().unwrap().to_owned()
    }

    /// Waits until a run has ended or is parked, and says how it stands.
    async fn rest(&self, run: &str) -> Value {
        self.client.stream(&format!("/api/runs/{run}/stream?until=rest"), &[]).await.all().await;
        self.client.get(&format!("/api/runs/{run}")).await.json()
    }

    async fn stop(self) -> Arc<dyn Journal> {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
        self.journal
    }
}

/// One who works as a script says.
fn runner(name: &str) -> Runner {
    let script: Script = match name {
        "looks" => looks,
        "pays" => pays,
        "asks" => asks,
        "hangs" => |_| call("hang", "it"),
        "repeats" => |_| call("look", "the same"),
        "fails" => |_| call("fall", "it"),
        "team" => team,
        "lies" => |r| if told(r) < 2 { say("It is done.") } else { looks_then_says(r) },
        _ => |_| say("Believe me."),
    };
    let main = looker("main").tool(pay().spec()).tool(hang().spec()).tool(ToolSpec::ask_user());
    let main = main.tool(countersign_examples::suite::cast::fall().spec());
    if name == "team" {
        let desk = Agent::new("supervisor", "").tool(ToolSpec::transfer("database")).tool(ToolSpec::conclude());
        let team = stage(countersign::Supervisor::default(), script).agent(desk).agent(looker("database"));
        return team.policy(Policy::execution()).build().unwrap();
    }
    stage(Single::default(), script).agent(main).policy(Policy::execution()).build().unwrap()
}

/// Answers at once, is told, looks, and answers from what it saw.
fn looks(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => say("It is as it always was."),
        _ => looks_then_says(r),
    }
}

fn looks_then_says(r: &ModelRequest) -> ModelReply {
    let looked = r.transcript.iter().any(|e| matches!(e.record.event, countersign::Event::ToolSettled { .. }));
    if looked { say("I looked, and it is as expected.") } else { call(&look().spec().name, "it") }
}

fn pays(r: &ModelRequest) -> ModelReply {
    if turn(r) == 0 { call("pay", "bill 17") } else { say("Bill 17 is paid.") }
}

fn asks(r: &ModelRequest) -> ModelReply {
    match turn(r) {
        0 => ModelReply::call("ask_user", r#"{"question":"Which shop?"}"#),
        1 => call("look", "High Street"),
        _ => say("The shop in the High Street is as expected."),
    }
}

fn team(r: &ModelRequest) -> ModelReply {
    use countersign_examples::suite::cast::{conclude, hand_over};
    match (&*r.agent.name, turn(r)) {
        ("supervisor", 0) => hand_over(&[("transfer_to_database", "slow queries?")]),
        ("supervisor", _) => conclude(r, "It is not the database."),
        (_, 0) => call("look", "database"),
        _ => say("The database is fine."),
    }
}
