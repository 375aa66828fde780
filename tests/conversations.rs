//! Several runs in one conversation: what a new one is told, of whom, and what is never told as an answer.

use crate::driver::{replay_equal, tool, turns};
use crate::journal::journals;
use countersign::live::Command;
use countersign::testing::ScriptedModel;
use countersign::transcript::{Message, earlier};
use countersign::*;
use std::sync::{Arc, Mutex};

/// Who was told what before its turn: agent, then messages as `user: …` and `agent: …`.
type Told = Arc<Mutex<Vec<(String, Vec<String>)>>>;

fn said(request: &ModelRequest) -> Vec<String> {
    let one = |message: Message<'_>| match message {
        Message::User(text) => format!("user: {text}"),
        Message::Assistant { text, .. } => format!("agent: {text}"),
        Message::Result { text, .. } => format!("result: {text}"),
    };
    request.history.iter().flat_map(|history| earlier(history)).map(one).collect()
}

/// A runner whose model notes what it is told, and answers by a script.
fn runner(journal: &Arc<dyn Journal>, policy: Policy, script: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> (Runner, Told) {
    let told = Told::default();
    let notes = told.clone();
    let model = ScriptedModel(move |request: &ModelRequest| {
        notes.lock().unwrap().push((request.agent.name.to_string(), said(request)));
        script(request)
    });
    let pay = tool("pay", Declared { approval: true, ..Declared::run(Effect::Write) });
    let agent = Agent::new("main", "").tool(pay.spec());
    let built = Runner::builder(Single::default(), model).agent(agent).tool(pay).policy(policy).journal(journal.clone()).build().unwrap();
    (built, told)
}

fn echoes(journal: &Arc<dyn Journal>, policy: Policy) -> (Runner, Told) {
    runner(journal, policy, |request| ModelReply::text(format!("on {}", transcript::question(&request.transcript))))
}

fn last(told: &Told) -> Vec<String> {
    told.lock().unwrap().last().unwrap().1.clone()
}

#[tokio::test]
async fn a_run_is_told_what_was_said_before_it_and_its_log_says_so() {
    for (journal, _scratch) in journals() {
        let (runner, told) = echoes(&journal, Policy::default());
        for task in ["one", "two", "three"] {
            assert_eq!(runner.converse("talk", task).await.unwrap().text(), Some(&*format!("on {task}")));
        }
        assert_eq!(last(&told), ["user: one", "agent: on one", "user: two", "agent: on two"]);
        assert_eq!(told.lock().unwrap()[0].1, Vec::<String>::new(), "a name that nobody has used begins a conversation");
        // Another conversation, and a run that belongs to none, know nothing of it.
        runner.converse("other", "four").await.unwrap();
        assert!(last(&told).is_empty());
        let alone = runner.run("five").await.unwrap();
        assert!(last(&told).is_empty() && alone.run.ledger().started().unwrap().history.is_none());
        let fourth = talk(&runner, "r4", "four").await;
        replay_equal(&fourth);
        assert_eq!(fourth.run.ledger().started().unwrap().history.as_ref().unwrap().exchanges.len(), 3);
        assert_eq!(fourth.decision.conversation_id.as_deref(), Some("talk"));
    }
}

/// A run of the conversation, to where it comes to rest.
async fn talk(runner: &Runner, run: &str, task: &str) -> RunResult {
    runner.start_in("talk", run, task).await.unwrap().result().await.unwrap()
}

/// What was refused, cut short or cancelled is told as a message without an answer: never its candidate.
#[tokio::test]
async fn only_a_final_is_told_as_an_answer() {
    for (journal, _scratch) in journals() {
        let (guesses, _) = runner(&journal, Policy::execution(), |_| ModelReply::text("a secret guess"));
        let blocked = talk(&guesses, "blocked", "guess").await;
        assert_eq!((blocked.status(), blocked.candidate_response.as_deref()), (Status::Blocked, Some("a secret guess")));
        let (filtered, _) = runner(&journal, Policy::default(), |_| ModelReply { finish: Finish::Refusal, ..ModelReply::text("half a secret") });
        assert_eq!(talk(&filtered, "failed", "fail").await.status(), Status::Failed);
        let (parks, _) = runner(&journal, Policy::default(), |r| if turns(r) == 0 { ModelReply::call("pay", "1") } else { ModelReply::text("paid") });
        let parked = talk(&parks, "parked", "pay").await;
        let (echoes, told) = echoes(&journal, Policy::default());
        echoes.converse("talk", "well?").await.unwrap();
        let before = ["user: guess\n\n[this got no answer: blocked]", "user: fail\n\n[this got no answer: failed]"];
        assert_eq!(last(&told), [before[0], before[1], "user: pay\n\n[this has no answer yet]"]);
        let cancel = parks.resume("parked", vec![Command::Cancel { by: "user".into(), when: CancelWhen::AtOnce }], None).await.unwrap();
        assert_eq!(cancel.result().await.unwrap().status(), Status::Cancelled);
        echoes.converse("talk", "well?").await.unwrap();
        assert_eq!(last(&told)[2], "user: pay\n\n[this got no answer: cancelled]");
        assert!(parked.final_response.is_none() && !told.lock().unwrap().iter().any(|(_, said)| said.concat().contains("secret")));
    }
}

/// A run goes on with what it was told when it began, whatever the conversation has come to since.
#[tokio::test]
async fn a_resumed_run_is_told_what_it_was_told() {
    for (journal, _scratch) in journals() {
        let script = |r: &ModelRequest| if turns(r) == 0 { ModelReply::call("pay", "1") } else { ModelReply::text("paid") };
        let (runner, told) = runner(&journal, Policy::default(), script);
        let first = talk(&runner, "first", "pay one").await;
        let second = talk(&runner, "second", "pay two").await;
        let grant = |result: &RunResult| {
            let approval = result.decision.pending_approvals[0].node;
            vec![Command::Approve { approval, granted: true, by: "ann".into(), why: "".into(), args: None }]
        };
        assert_eq!(runner.resume("first", grant(&first), None).await.unwrap().result().await.unwrap().text(), Some("paid"));
        let second = runner.resume("second", grant(&second), None).await.unwrap().result().await.unwrap();
        assert_eq!((second.text(), last(&told)), (Some("paid"), vec!["user: pay one\n\n[this has no answer yet]".to_owned()]));
        replay_equal(&second);
        // One that begins now is told both answers, in the order in which they were asked for.
        let third = talk(&runner, "third", "and?").await;
        assert_eq!(
            (third.status(), last(&told)),
            (Status::AwaitingApproval, ["user: pay one", "agent: paid", "user: pay two", "agent: paid"].map(str::to_owned).to_vec())
        );
    }
}

#[tokio::test]
async fn two_runs_of_one_conversation_do_not_wait_for_each_other() {
    for (journal, _scratch) in journals() {
        let (runner, told) = echoes(&journal, Policy::default());
        runner.converse("talk", "before").await.unwrap();
        let both = tokio::join!(runner.converse("talk", "left"), runner.converse("talk", "right"));
        assert_eq!((both.0.unwrap().text(), both.1.unwrap().text()), (Some("on left"), Some("on right")));
        runner.converse("talk", "after").await.unwrap();
        let mut all = last(&told);
        assert_eq!(all.drain(..2).collect::<Vec<_>>(), ["user: before", "agent: on before"]);
        all.sort();
        assert_eq!(all, ["agent: on left", "agent: on right", "user: left", "user: right"]);
    }
}

#[tokio::test]
async fn a_long_conversation_is_cut_at_its_limits_and_says_so() {
    let cut = "user: [what was said before this is left out]";
    let two = [cut, "user: message 3", "agent: on message 3", "user: message 4", "agent: on message 4"];
    for (journal, _scratch) in journals() {
        // An exchange is 21 bytes: what does not fit as a whole is left out.
        for (runs, bytes, wanted) in [(2, 64_000, &two[..]), (50, 62, &two[..]), (50, 20, &two[..1]), (0, 64_000, &two[..1])] {
            let name = format!("{runs} runs, {bytes} bytes");
            for at in 0..5 {
                echoes(&journal, Policy::default()).0.converse(&name, &format!("message {at}")).await.unwrap();
            }
            let limits = Limits { history_runs: runs, history_bytes: bytes, ..Limits::default() };
            let (runner, told) = echoes(&journal, Policy { limits, ..Policy::default() });
            runner.converse(&name, "and?").await.unwrap();
            assert_eq!(last(&told), wanted, "{name}");
        }
    }
}

/// Those who speak with the user are told, whoever carries out a part of the work is not.
#[tokio::test]
async fn agents_below_are_told_nothing_of_it() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    echoes(&journal, Policy::default()).0.converse("talk", "before").await.unwrap();
    let told = Told::default();
    let notes = told.clone();
    let model = ScriptedModel(move |r: &ModelRequest| {
        notes.lock().unwrap().push((r.agent.name.to_string(), said(r)));
        match &*r.agent.name {
            "planner" => ModelReply::call("plan", r#"{"steps": [{"id": "a", "text": "do it"}]}"#),
            "replanner" => ModelReply::call("verdict", r#"{"act": "respond", "answer": "It is done."}"#),
            "main" if turns(r) == 0 => ModelReply::call("ask_helper", r#"{"task": "help"}"#),
            _ => ModelReply::text("It is done."),
        }
    });
    let model = Arc::new(model);
    let planned = Runner::builder(PlanExecute, Shared(model.clone())).agent(PlanExecute::planner("")).agent(PlanExecute::replanner(""));
    let planned = planned.agent(Agent::new("executor", "")).journal(journal.clone()).build().unwrap();
    assert_eq!(planned.converse("talk", "now").await.unwrap().text(), Some("It is done."));
    let delegate = Agent::new("main", "").tool(ToolSpec::delegate("ask_helper", "helper"));
    let asked = Runner::builder(Single::default(), Shared(model)).agent(delegate).agent(Agent::new("helper", "")).journal(journal.clone());
    assert_eq!(asked.build().unwrap().converse("talk", "now").await.unwrap().text(), Some("It is done."));
    let heard: Vec<(String, bool)> = told.lock().unwrap().iter().map(|(agent, said)| (agent.clone(), !said.is_empty())).collect();
    let heard: Vec<(&str, bool)> = heard.iter().map(|(agent, heard)| (agent.as_str(), *heard)).collect();
    assert_eq!(heard, [("planner", true), ("executor", false), ("replanner", true), ("main", true), ("helper", false), ("main", true)]);
}

/// One model for two runners.
struct Shared<M>(Arc<M>);

#[async_trait::async_trait]
impl<M: Model> Model for Shared<M> {
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError> {
        self.0.reply(request, deltas).await
    }
}

/// What there was before conversations is written and digested as it was.
#[test]
fn a_log_without_a_history_is_as_it_always_was() {
    assert_eq!(&*Policy::default().digest(), "af6729d5e8115a35");
    let start = RunStarted::new("r", "task", "single", ModeRules::owner("main"), Policy::default());
    let run = Run::start(Arc::new(Gate::default()), start, 7).unwrap();
    let first: serde_json::Value = serde_json::to_value(&*run.ledger().log()[0]).unwrap();
    let fields: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    let before = ["at_ms", "checks", "event", "gate", "mode", "mode_version", "policy", "policy_digest", "rules", "run", "schema", "seq", "task"];
    assert_eq!(fields, before);
    assert_eq!(format!("{:016x}", run.ledger().totals().digest), "6b0c6c2bb3a1fa02");
}
