//! Two servers on one database. Each shows and steers every run; a run is driven by one of them at a time.

use crate::http::Client;
use crate::proxy::Proxy;
use crate::server::Schema;
use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use countersign_connect::postgres::{PostgresJournal, PostgresOptions};
use countersign_server::{Server, Token};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

const ANN: &str = "ann-0123456789abcdef";

/// Looks, as long as nobody lets it go; pays where it is told to; and says what it was told meanwhile.
fn runner(hold: &Arc<Semaphore>) -> Runner {
    let hold = hold.clone();
    let look = FnTool::new("look", "x", Declared { idempotent: true, ..Declared::run(Effect::Read) }, move |_: Value| {
        let hold = hold.clone();
        async move {
            hold.acquire().await.map_err(|why| ToolError::Failed(why.to_string()))?.forget();
            Ok::<_, ToolError>("looked".to_owned())
        }
    });
    let pay = FnTool::plain("pay", "x", Declared { approval: true, ..Declared::run(Effect::Write) }, |_: Value| Ok("paid".to_owned()));
    let agent = Agent::new("main", "").tool(look.spec()).tool(pay.spec());
    let model = ScriptedModel(|r: &ModelRequest| {
        let told = r.transcript.iter().filter_map(|e| match &e.record.event {
            Event::InputArrived { text, .. } => Some(text.to_string()),
            _ => None,
        });
        let told: Vec<String> = told.collect();
        let task = match &r.transcript[0].record.event {
            Event::ActivationStarted { prompt, .. } => prompt.to_string(),
            _ => String::new(),
        };
        match (&*task, replies(&r.transcript)) {
            ("look", 0) => ModelReply::call("look", "1"),
            ("pay", 0) => ModelReply::call("pay", "1"),
            ("lazy", 0..3) => ModelReply::text(format!("I am sure ({}).", replies(&r.transcript))),
            ("lazy", 3) => ModelReply::call("pay", "1"),
            _ => ModelReply::text(format!("done; told: {}", told.join(", "))),
        }
    });
    Runner::builder(Single::default(), model).agent(agent).tool(look).tool(pay).policy(Policy::execution()).build().unwrap()
}

/// A server on a schema, and how it is ended.
struct One {
    client: Client,
    journal: Arc<PostgresJournal>,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl One {
    async fn on(dsn: &str, options: PostgresOptions, hold: &Arc<Semaphore>) -> Self {
        let journal = Arc::new(PostgresJournal::open_with(dsn, options).await.unwrap());
        let server = Server::new(journal.clone()).token(Token::new(Some("ann"), ANN).unwrap()).profile("default", &runner(hold));
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(bound.addr(), ANN);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(bound.serve(async { drop(stopped.await) }));
        Self { client, journal, stop, task }
    }

    async fn start(&self, task: &str) -> String {
        let run = self.client.post("/api/runs", &json!({ "task": task })).await;
        assert_eq!(run.status, 201, "{}", run.text());
        run.json()["run"].as_str().unwrap().to_owned()
    }

    async fn say(&self, run: &str, what: &str, body: &Value) {
        let said = self.client.post(&format!("/api/runs/{run}/{what}"), body).await;
        assert_eq!(said.status, 202, "{}", said.text());
    }

    async fn rest(&self, run: &str) -> Value {
        self.client.stream(&format!("/api/runs/{run}/stream?until=rest"), &[]).await.all().await;
        self.client.get(&format!("/api/runs/{run}")).await.json()
    }

    /// Until the run's log has an event of this kind.
    async fn until(&self, run: &str, is: impl Fn(&Event) -> bool) {
        let mut tail = journal::tail::Tail::new(self.journal.clone(), run, 0);
        while !is(&tail.next().await.unwrap().unwrap().event) {}
    }

    async fn log(&self, run: &str) -> Vec<Arc<Record>> {
        journal::read_all(&*self.journal, run).await.unwrap()
    }

    async fn leave(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

fn count(log: &[Arc<Record>], is: impl Fn(&Event) -> bool) -> usize {
    log.iter().filter(|record| is(&record.event)).count()
}

fn taken_up(log: &[Arc<Record>]) -> usize {
    count(log, |event| matches!(event, Event::Resumed { .. } | Event::Crashed))
}

#[tokio::test]
async fn a_run_is_shown_and_steered_by_a_server_that_does_not_drive_it() {
    let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(0)));
    let (a, b) = (One::on(&schema.dsn, schema.options(), &hold).await, One::on(&schema.dsn, schema.options(), &hold).await);
    let run = a.start("look").await;
    let mut stream = b.client.stream(&format!("/api/runs/{run}/stream"), &[]).await;
    let mut frames = stream.until("tool_call").await;
    b.say(&run, "messages", &json!({ "text": "and quickly" })).await;
    a.until(&run, |event| matches!(event, Event::InputArrived { .. } | Event::InputQueued { .. })).await;
    b.say(&run, "messages", &json!({ "text": "and what else?", "followUp": true })).await;
    a.until(&run, |event| matches!(event, Event::InputQueued { text } if text.contains("else"))).await;
    // Nobody but the first server drives it, and the other knows.
    assert_eq!(b.journal.peers().unwrap().left_behind(10).await.unwrap(), []);
    assert!(!b.journal.peers().unwrap().claim(&run).await.unwrap());
    hold.add_permits(1);
    frames.extend(stream.all().await);
    let last = frames.iter().rev().find(|frame| frame.event == "response").unwrap();
    assert_eq!(last.data["content"], "done; told: and quickly, and what else?", "{frames:#?}");
    let ids: Vec<u32> = frames.iter().filter_map(|frame| frame.id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    assert_eq!(taken_up(&b.log(&run).await), 0);
    a.leave().await;
    b.leave().await;
}

#[tokio::test]
async fn a_cancellation_reaches_the_server_that_drives() {
    let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(0)));
    let (a, b) = (One::on(&schema.dsn, schema.options(), &hold).await, One::on(&schema.dsn, schema.options(), &hold).await);
    let run = a.start("look").await;
    b.until(&run, |event| matches!(event, Event::ModelReplied { .. })).await;
    b.say(&run, "cancel", &json!({ "when": "now" })).await;
    assert_eq!(b.rest(&run).await["status"], "cancelled");
    assert_eq!(taken_up(&b.log(&run).await), 0);
    a.leave().await;
    b.leave().await;
}

#[tokio::test]
async fn a_parked_run_is_taken_up_by_whoever_is_asked() {
    let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(0)));
    let (a, b) = (One::on(&schema.dsn, schema.options(), &hold).await, One::on(&schema.dsn, schema.options(), &hold).await);
    let run = a.start("lazy").await;
    assert_eq!(a.rest(&run).await["status"], "blocked");
    let mut stream = a.client.stream(&format!("/api/runs/{run}/stream"), &[]).await;
    let go_on = b.client.send("POST", &format!("/api/runs/{run}/continue"), &[], None).await;
    assert_eq!(go_on.status, 202, "{}", go_on.text());
    stream.until("approval_requested").await;
    let card = b.rest(&run).await;
    let approval = format!("approvals/{}", card["waiting"]["approvals"][0]["approval"]);
    a.say(&run, &approval, &json!({ "granted": true })).await;
    assert_eq!(b.rest(&run).await["message"]["content"], "done; told: ");
    assert_eq!(stream.until("response").await.last().unwrap().data["finalized"], true);
    assert_eq!(taken_up(&b.log(&run).await), 2);
    a.leave().await;
    b.leave().await;
}

/// Both are asked at the same moment, and say the opposite. One of them is heard, whoever that is.
#[tokio::test]
async fn of_two_who_settle_an_approval_at_the_same_time_one_does() {
    let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(0)));
    let (a, b) = (One::on(&schema.dsn, schema.options(), &hold).await, One::on(&schema.dsn, schema.options(), &hold).await);
    for _ in 0..8 {
        let run = a.start("pay").await;
        let card = a.rest(&run).await;
        let path = format!("/api/runs/{run}/approvals/{}", card["waiting"]["approvals"][0]["approval"]);
        let (grant, deny) = (json!({ "granted": true }), json!({ "granted": false, "why": "no" }));
        let (one, two) = tokio::join!(a.client.post(&path, &grant), b.client.post(&path, &deny));
        // Whoever comes late may be told so.
        assert!([one.status, two.status].contains(&202), "{} {}", one.text(), two.text());
        let status = loop {
            let status = b.rest(&run).await["status"].clone();
            // It may have been looked at before it was taken up.
            if status != "awaiting_approval" && status != "in_progress" {
                break status;
            }
        };
        let log = b.log(&run).await;
        let settled = |granted: bool| count(&log, |event| matches!(event, Event::ApprovalSettled { granted: said, .. } if *said == granted));
        assert_eq!(settled(true) + settled(false), 1);
        assert_eq!(status, if settled(true) == 1 { "completed" } else { "blocked" });
        assert_eq!(count(&log, |event| matches!(event, Event::Crashed)), 0);
    }
    a.leave().await;
    b.leave().await;
}

/// The first server is gone with its runtime and its connections, inside a tool. What was posted to it is not lost.
#[test]
fn what_a_server_that_is_gone_has_left_behind_is_taken_up() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (gone, here) = (runtime(), runtime());
    here.block_on(async {
        let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(0)));
        let (dsn, options) = (schema.dsn.clone(), schema.options());
        let first = hold.clone();
        let a = gone.spawn(async move { One::on(&dsn, options, &first).await }).await.unwrap();
        let run = a.start("look").await;
        let b = One::on(&schema.dsn, schema.options(), &hold).await;
        b.until(&run, |event| matches!(event, Event::ModelReplied { .. })).await;
        gone.shutdown_background();
        b.say(&run, "messages", &json!({ "text": "still there?" })).await;
        b.until(&run, |event| matches!(event, Event::InputArrived { .. })).await;
        hold.add_permits(1);
        assert_eq!(b.rest(&run).await["message"]["content"], "done; told: still there?");
        let log = b.log(&run).await;
        assert_eq!(count(&log, |event| matches!(event, Event::Crashed)), 1);
        b.leave().await;
    });
}

#[tokio::test]
async fn a_database_that_is_away_is_said_to_be_and_nothing_of_it_is_told() {
    let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(1)));
    let proxy = Proxy::to(&schema.dsn).await;
    let options = PostgresOptions { patience: Duration::from_millis(300), ..schema.options() };
    let one = One::on(&schema.by(proxy.address), options, &hold).await;
    let run = one.start("look").await;
    one.rest(&run).await;
    proxy.close();
    schema.kill_connections().await;
    for path in [format!("/api/runs/{run}"), "/api/runs".to_owned()] {
        let away = one.client.get(&path).await;
        assert_eq!((away.status, &*away.problem()), (503, "the journal cannot be reached at the moment; try again"));
    }
    let begun = one.client.post("/api/runs", &json!({ "task": "look" })).await;
    assert_eq!(begun.status, 503, "{}", begun.text());
    one.leave().await;
}

/// The first server is gone with half of its batch: the second goes on with the rest.
#[test]
fn a_batch_goes_on_elsewhere() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (gone, here) = (runtime(), runtime());
    here.block_on(async {
        let (schema, hold) = (Schema::new().await, Arc::new(Semaphore::new(0)));
        let (dsn, options) = (schema.dsn.clone(), schema.options());
        let first = hold.clone();
        let a = gone.spawn(async move { One::on(&dsn, options, &first).await }).await.unwrap();
        let b = One::on(&schema.dsn, schema.options(), &hold).await;
        let tasks = json!({ "tasks": [{ "task": "look" }, { "task": "look" }, { "task": "look" }], "concurrency": 1 });
        let batch = a.client.post("/api/batches", &tasks).await.json()["batch"].as_str().unwrap().to_owned();
        b.until(&format!("{batch}-1"), |event| matches!(event, Event::ModelReplied { .. })).await;
        let path = format!("/api/batches/{batch}");
        assert_eq!(b.client.get(&path).await.json()["tasks"][1], json!({}), "it is known everywhere");
        gone.shutdown_background();
        // More than are needed: the first server may take one with it.
        hold.add_permits(30);
        for n in 1..=3 {
            let run = format!("{batch}-{n}");
            b.until(&run, |event| matches!(event, Event::Decided { decision, .. } if decision.finalized)).await;
        }
        let standing = b.client.get(&path).await.json();
        assert_eq!(standing["settled"], true, "{standing:#}");
        b.leave().await;
    });
}
