//! What the runtime makes of a provider that fails, refuses or asks to wait.

use async_trait::async_trait;
use countersign::testing::ScriptedModel;
use countersign::{
    Agent, Deltas, Event, Finish, Model, ModelError, ModelReply, ModelRequest, Policy, Reason, Retry, RunResult, Runner, Single, Status,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Fails as it is told, then answers; notes each attempt that it was told of.
struct Failing {
    faults: Mutex<Vec<Retry>>,
    attempts: Arc<Mutex<Vec<u32>>>,
}

#[async_trait]
impl Model for Failing {
    async fn reply(&self, request: ModelRequest, _: &Deltas) -> Result<ModelReply, ModelError> {
        self.attempts.lock().unwrap().push(request.attempt);
        match self.faults.lock().unwrap().pop() {
            Some(retry) => Err(ModelError { partial: Some("half of".into()), retry, ..ModelError::new("overloaded") }),
            None => Ok(ModelReply::text("The whole answer.")),
        }
    }
}

async fn run(faults: &[Retry], retries: u32) -> (RunResult, Vec<u32>) {
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let model = Failing { faults: Mutex::new(faults.iter().rev().copied().collect()), attempts: attempts.clone() };
    let policy = Policy { retries, ..Policy::default() };
    let runner = Runner::builder(Single::default(), model).agent(Agent::new("main", "")).policy(policy).build().expect("it fits together");
    let result = runner.run("answer").await.expect("it comes to rest");
    let attempts = attempts.lock().unwrap().clone();
    (result, attempts)
}

fn failures(result: &RunResult) -> Vec<bool> {
    let failed = |event: &Event| match event {
        Event::ModelFailed { lasting, partial, .. } => {
            assert_eq!(partial.as_deref(), Some("half of"), "what had come is kept, as partial");
            Some(*lasting)
        }
        _ => None,
    };
    result.run.ledger().log().iter().filter_map(|r| failed(&r.event)).collect()
}

#[tokio::test(start_paused = true)]
async fn each_failed_attempt_is_recorded_and_waited_for() {
    let began = tokio::time::Instant::now();
    let (result, attempts) = run(&[Retry::After(Duration::from_secs(5)), Retry::After(Duration::from_secs(10))], 2).await;
    assert_eq!(result.text(), Some("The whole answer."));
    assert_eq!((failures(&result), attempts), (vec![false, false], vec![0, 1, 2]));
    assert_eq!(began.elapsed().as_secs(), 15, "it waited as long as it was asked to, and no longer");
}

#[tokio::test(start_paused = true)]
async fn attempts_have_an_end_and_an_error_is_no_answer() {
    let (result, attempts) = run(&[Retry::After(Duration::from_secs(1)); 9], 2).await;
    assert_eq!((result.status(), result.reason()), (Status::Failed, Reason::ProviderError));
    assert_eq!((failures(&result), attempts.len()), (vec![false; 3], 3));
    assert!(result.text().is_none() && result.candidate_response.is_none());
}

#[tokio::test]
async fn what_cannot_help_is_not_tried_again() {
    let (result, attempts) = run(&[Retry::Never; 3], 2).await;
    assert_eq!((result.status(), result.reason()), (Status::Failed, Reason::ProviderError));
    assert_eq!((failures(&result), attempts), (vec![true], vec![0]));
}

/// A cancelled run does not wait until a pause is over.
#[tokio::test(start_paused = true)]
async fn a_pause_does_not_hold_up_a_cancellation() {
    let began = tokio::time::Instant::now();
    let model = Failing { faults: Mutex::new(vec![Retry::After(Duration::from_secs(3_600))]), attempts: Arc::default() };
    let runner = Runner::builder(Single::default(), model).agent(Agent::new("main", "")).build().expect("it fits together");
    let run = runner.start("paused", "answer").expect("it starts");
    let mut events = run.events(0);
    while let Some(Ok(next)) = events.next().await {
        if matches!(&next, countersign::Streamed::Event(record) if matches!(record.event, Event::ModelFailed { .. })) {
            run.cancel(countersign::CancelWhen::AtOnce);
        }
    }
    let result = run.result().await.expect("it comes to rest");
    assert_eq!(result.status(), Status::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_refusal_is_no_answer_whatever_it_says() {
    let model = ScriptedModel(|_: &ModelRequest| ModelReply { finish: Finish::Refusal, ..ModelReply::text("I cannot help with that.") });
    let runner = Runner::builder(Single::default(), model).agent(Agent::new("main", "")).build().expect("it fits together");
    let result = runner.run("answer").await.expect("it comes to rest");
    assert_eq!((result.status(), result.reason()), (Status::Failed, Reason::ContentFiltered));
    assert!(result.text().is_none());
    let refused = |r: &&Arc<countersign::Record>| matches!(r.event, Event::ModelReplied { finish: Finish::Refusal, .. });
    assert_eq!(result.run.ledger().log().iter().filter(refused).count(), 1, "the log says that it was a refusal");
}

/// A log of before the field was there reads as one whose failures were all worth another try.
#[test]
fn an_old_failure_is_read() {
    let old: Event = serde_json::from_str(r#"{"event":"model_failed","activation":1,"why":"overloaded"}"#).expect("it can be read");
    assert!(matches!(old, Event::ModelFailed { lasting: false, .. }));
    let new = serde_json::to_string(&old).expect("it can be written");
    assert_eq!(new, r#"{"event":"model_failed","activation":1,"why":"overloaded"}"#, "and is written as it was");
}
