//! What is counted.

use super::{serve, server};
use countersign::{Guard, GuardPlugin, GuardSaid, GuardState, Journal, MemoryJournal, Policy, Runner, Single};
use countersign_examples::suite::cast::{looker, say, stage};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Objects three times, and then to nothing any more.
struct Fickle(AtomicU32);

impl Guard for Fickle {
    fn name(&self) -> &str {
        "fickle"
    }

    fn check(&self, _: &GuardState<'_>) -> GuardSaid {
        if self.0.fetch_add(1, Ordering::SeqCst) < 3 { GuardSaid::Nudge("think again".into()) } else { GuardSaid::Accept }
    }
}

/// Blocked by a guard with a good answer.
fn wronged() -> Runner {
    let script = |r: &countersign::ModelRequest| say(&format!("It is {}.", r.transcript.len()));
    let guard = GuardPlugin { guard: Some(Arc::new(Fickle(AtomicU32::new(0)))), max_nudges: 2 };
    stage(Single::default(), script).agent(looker("main")).policy(Policy::conversation()).guard(guard).build().unwrap()
}

#[tokio::test]
async fn blocks_that_were_wrong_are_told_from_those_that_were_not() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let served = serve(server(journal.clone()).profile("wronged", &wronged()), journal).await;
    for profile in ["wronged", "lies"] {
        let run = served.start(profile).await;
        let card = served.rest(&run).await;
        assert_eq!(card["phase"], "blocked", "{card:#}");
        assert_eq!(served.client.send("POST", &format!("/api/runs/{run}/continue"), &[], None).await.status, 202);
        let card = served.rest(&run).await;
        assert_eq!(card["phase"], "completed", "{card:#}");
    }
    let run = served.start("pays").await;
    served.rest(&run).await;
    let text = loop {
        // A run is counted once its driver has ended, which is a moment after its last event.
        let text = served.client.get("/metrics").await.text();
        if text.contains("countersign_runs_at_work 0") {
            break text;
        }
        tokio::task::yield_now().await;
    };
    for line in [
        r#"countersign_runs_total{mode="single",status="completed",reason="verified"} 1"#,
        r#"countersign_runs_total{mode="single",status="blocked",reason="guard_unsatisfied"} 1"#,
        r#"countersign_runs_total{mode="single",status="awaiting_approval",reason="awaiting_approval"} 1"#,
        r#"countersign_blocks_total{reason="no_progress"} 1"#,
        r#"countersign_false_blocks_total{why="no_new_evidence"} 1"#,
        "countersign_false_block_ratio 0.5",
        r#"countersign_continues_total{by="person"} 2"#,
        r#"countersign_nudges_total{by="guard"} 3"#,
        "countersign_pending_tool_runs 1",
        r#"countersign_time_to_final_seconds_count{mode="single"} 2"#,
    ] {
        assert!(text.contains(line), "no `{line}` in:\n{text}");
    }
    assert!(text.contains(r#"countersign_missing_checks_total{check="evidence_ok"}"#), "{text}");
    assert_eq!(served.client.as_("not-a-token-of-anybody").get("/metrics").await.status, 401);
    served.stop().await;
}

#[tokio::test]
async fn tool_runs_in_flight_are_counted_as_well_as_those_that_wait() {
    let served = super::served().await;
    let pending = async || {
        let text = served.client.get("/metrics").await.text();
        let line = text.lines().find(|line| line.starts_with("countersign_pending_tool_runs ")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
    };
    let paying = served.start("pays").await;
    served.rest(&paying).await;
    assert_eq!(pending().await, 1);
    let hanging = served.start("hangs").await;
    served.client.stream(&format!("/api/runs/{hanging}/stream"), &[]).await.until("tool_call").await;
    assert_eq!(pending().await, 2);
    served.client.post(&format!("/api/runs/{hanging}/cancel"), &serde_json::json!({ "when": "now" })).await;
    served.rest(&hanging).await;
    assert_eq!(pending().await, 1);
    served.stop().await;
}
