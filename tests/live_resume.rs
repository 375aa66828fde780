//! A process may die at any event. Every live scenario is taken up again from every prefix of its log, by a new
//! runner that knows nothing else, and comes to the same.

use countersign::{Batch, Event, Record, Run, RunResult};
use countersign_examples::suite::{self, Live};
use std::sync::Arc;

/// Scenarios that are not a function of their log, or come to another refusal after a crash, with the reason.
const OTHERWISE: &[(&str, &str)] = &[
    ("calls/background", "nobody can tell whether the build was done, and nobody builds again on a guess"),
    ("limits/deadline", "the clock of the suite stands still, so that a crash has used nothing of its time"),
    ("provider/fails_twice", "its model counts calls, and a new process counts from none"),
];

async fn take_up(live: &Live, prefix: &[Arc<Record>]) -> Result<RunResult, String> {
    let runner = (live.runner)().map_err(|e| e.to_string())?;
    runner.journal().append(Batch::new(&live.name.into(), 0, prefix)).await.map_err(|e| e.to_string())?;
    let run = runner.resume(live.name, Vec::new(), None).await.map_err(|e| e.to_string())?;
    let result = run.result().await.map_err(|e| e.to_string())?;
    let replayed = Run::read(result.run.gate().clone(), &result.log()).map_err(|e| e.to_string())?;
    if replayed.final_answer() == result.final_response.as_ref() { Ok(result) } else { Err("its log replays to something else".into()) }
}

#[tokio::test]
async fn every_live_run_can_be_taken_up_from_anywhere() {
    let mut wrong = Vec::new();
    let left_out = |live: &&Live| !live.outside.is_empty() || OTHERWISE.iter().any(|(name, _)| *name == live.name);
    for live in suite::all().filter(|live| !left_out(live)) {
        let whole = live.run().await.unwrap();
        let log = whole.run.ledger().log();
        for cut in 1..log.len() {
            let after = word(&log[cut - 1].event);
            match take_up(live, &log[..cut]).await {
                Ok(again) if again.reason() == whole.reason() && again.text() == whole.text() => {}
                Ok(again) => wrong.push(format!("{} after event {cut} ({after}): {} {:?}", live.name, again.reason().name(), again.text())),
                Err(why) => wrong.push(format!("{} after event {cut} ({after}): {why}", live.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn word(event: &Event) -> String {
    let json = serde_json::to_value(event).unwrap();
    json["event"].as_str().unwrap_or_default().to_owned()
}
