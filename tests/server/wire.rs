//! What is on the wire, over the logs of every scenario: live ones, and those told as text.

use bytes::Bytes;
use countersign::event::GuardVerdict;
use countersign::{Batch, Event, Journal, MemoryJournal, NodeId, ROOT, Run, Status, Str};
use countersign_examples::suite::{row::folder, rows};
use countersign_server::Redactor;
use countersign_server::hub::{Follow, Hub};
use countersign_server::wire::{Phase, Previews, Projection, WireEvent, frame};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::sync::Arc;

/// Every scenario that came to something, with its whole run.
async fn runs() -> Vec<(String, Run)> {
    let rows = rows(&folder(), "", |_| {}).await.unwrap();
    let runs: Vec<_> = rows.into_iter().filter_map(|row| Some((row.scenario, row.came_to.ok()?.run))).collect();
    assert!(runs.len() > 80, "only {} scenarios", runs.len());
    runs
}

/// What a reader is shown, record by record.
fn shown(run: &Run) -> Vec<(u32, Vec<WireEvent>)> {
    let mut projection = Projection::new(run.gate().clone());
    run.ledger().log().iter().map(|record| (record.seq, projection.take(record).unwrap())).collect()
}

fn json(event: &WireEvent) -> String {
    serde_json::to_string(event).unwrap()
}

/// What agents were told, and what they would have said: none of it is for the user.
fn told(run: &Run) -> Vec<Str> {
    let log = run.ledger().log().iter();
    let words = log.filter_map(|record| match &record.event {
        Event::Nudged { text, .. } => Some(text.clone()),
        Event::GuardSpoke { verdict: GuardVerdict::Nudge(text) | GuardVerdict::Stop(text), .. } => Some(text.clone()),
        _ => None,
    });
    words.filter(|text| text.len() > 8).collect()
}

#[tokio::test]
async fn what_agents_are_told_is_never_shown() {
    let mut nudged = 0;
    for (name, run) in runs().await {
        let told = told(&run);
        nudged += told.len();
        for (seq, events) in shown(&run) {
            for (event, text) in events.iter().flat_map(|event| told.iter().map(move |text| (event, text))) {
                let quoted = serde_json::to_string(&**text).unwrap();
                assert!(!json(event).contains(quoted.trim_matches('"')), "{name}, event {seq}: {event:?}");
            }
        }
    }
    assert!(nudged > 20, "{nudged}");
}

#[tokio::test]
async fn a_message_is_filled_by_a_final_or_a_terminal_failure_alone() {
    let mut finals = 0;
    for (name, run) in runs().await {
        let mut filled = Vec::new();
        for event in shown(&run).into_iter().flat_map(|(_, events)| events) {
            match event {
                WireEvent::Response { finalized: true, content, message: None, status: Status::Completed, .. } => filled.push(content.unwrap()),
                WireEvent::Response { finalized: false, content: None, message: Some(_), .. } => {}
                WireEvent::Response { .. } => panic!("{name}: {event:?}"),
                _ => assert!(!json(&event).contains("\"content\""), "{name}: {event:?}"),
            }
        }
        let answer: Vec<Str> = run.final_answer().map(|answer| answer.text().clone()).into_iter().collect();
        finals += answer.len();
        assert_eq!(filled, answer, "{name}");
    }
    assert!(finals > 30, "{finals}");
}

#[tokio::test]
async fn refused_and_blocked_candidates_are_in_no_response() {
    let mut refused = 0;
    for (name, run) in runs().await {
        let ledger = run.ledger();
        let candidates: Vec<&Str> = ledger
            .log()
            .iter()
            .filter_map(|record| match &record.event {
                Event::CandidateMade(made) if made.scope == ROOT && made.text.len() > 8 => Some(&made.text),
                _ => None,
            })
            .collect();
        let answer = run.final_answer().map(|answer| answer.text());
        for event in shown(&run).into_iter().flat_map(|(_, events)| events) {
            if !matches!(event, WireEvent::Response { .. } | WireEvent::Error { .. } | WireEvent::Cancelled { .. }) {
                continue;
            }
            for text in candidates.iter().filter(|text| Some(**text) != answer) {
                refused += 1;
                assert!(!json(&event).contains(&***text), "{name}: {event:?}");
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

#[tokio::test]
async fn a_preview_that_is_refused_is_taken_back_before_its_ruling_is_told() {
    for (name, run) in runs().await {
        let mut open = false;
        for (seq, events) in shown(&run) {
            for event in &events {
                match event {
                    WireEvent::ResponseStart { .. } => open = true,
                    WireEvent::ResponseDelta { preview, .. } => assert!(open && *preview, "{name}, event {seq}"),
                    WireEvent::ResponseRetracted { .. } => {
                        assert!(open, "{name}, event {seq}: nothing was shown");
                        open = false;
                    }
                    WireEvent::Response { finalized: true, .. } => open = false,
                    WireEvent::FinalizationCheck { decision: Some(ruling), .. } if !ruling.finalized => {
                        assert!(!open, "{name}, event {seq}: refused and still on show");
                    }
                    _ => {}
                }
            }
        }
        assert!(!open || run.ledger().last_decision(ROOT).is_none_or(|d| d.at_seq < run.ledger().seq()), "{name}: left on show");
    }
}

#[tokio::test]
async fn the_last_frame_of_an_event_has_its_number_and_a_delta_never_has_one() {
    for (name, run) in runs().await {
        for (seq, events) in shown(&run) {
            let Some(bytes) = frame(seq, &events, &Redactor::default()) else { continue };
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let frames: Vec<&str> = text.trim_end().split("\n\n").collect();
            assert_eq!(frames.len(), events.len(), "{name}");
            let ids = frames.iter().map(|frame| frame.lines().find_map(|line| line.strip_prefix("id: ")));
            let last = seq.to_string();
            let expected: Vec<Option<&str>> = (1..=frames.len()).map(|at| (at == frames.len()).then_some(last.as_str())).collect();
            assert_eq!(ids.collect::<Vec<_>>(), expected, "{name}, event {seq}");
            assert!(!matches!(events.last(), Some(WireEvent::ResponseDelta { .. })), "{name}, event {seq}");
        }
    }
}

#[tokio::test]
async fn whoever_comes_back_gets_the_rest_exactly_once() {
    for (name, run) in runs().await {
        let log = run.ledger().log();
        let Some(Event::RunStarted(start)) = log.first().map(|r| &r.event) else { panic!("{name}") };
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        journal.append(Batch { answer: run.final_answer(), ..Batch::new(&start.run, 0, log) }).await.unwrap();
        let whole: Vec<(u32, Bytes)> =
            shown(&run).iter().filter_map(|(seq, events)| Some((*seq, frame(*seq, events, &Redactor::default())?))).collect();
        let hub = Hub::open(start.run.clone(), run.gate().clone(), journal, Redactor::default());
        for after in 0..=run.ledger().seq() {
            let mut reader = hub.reader(after, Follow::ToRest);
            let rest: Vec<&Bytes> = whole.iter().filter(|(seq, _)| *seq > after).map(|(_, bytes)| bytes).collect();
            for (at, expected) in rest.iter().enumerate() {
                assert_eq!(reader.next().await.as_ref(), Some(*expected), "{name}: frame {at} after {after}");
            }
            if run.ledger().last_decision(ROOT).is_some_and(|d| d.status.is_terminal()) && ends_ruled(&run) {
                assert!(reader.next().await.unwrap().starts_with(b"event: done\n"), "{name} after {after}");
                assert_eq!(reader.next().await, None);
            }
        }
    }
}

/// Whether the newest event is a ruling on the run.
fn ends_ruled(run: &Run) -> bool {
    matches!(run.ledger().log().last().map(|r| &r.event), Some(Event::Decided { scope: ROOT, .. }))
}

#[tokio::test]
async fn the_card_stands_where_the_gate_left_the_run() {
    for (name, run) in runs().await {
        let mut projection = Projection::new(run.gate().clone());
        for record in run.ledger().log() {
            projection.take(record).unwrap();
            let phase = projection.phase();
            match &record.event {
                Event::Decided { scope: ROOT, decision, .. } => {
                    let stands = match decision.status {
                        Status::Completed => projection.run().unwrap().final_answer().map_or(Phase::Finalising, |_| Phase::Completed),
                        Status::InProgress => Phase::InProgress,
                        Status::AwaitingApproval => Phase::AwaitingApproval,
                        Status::Blocked => Phase::Blocked,
                        Status::Failed => Phase::Failed,
                        Status::Cancelled => Phase::Cancelled,
                    };
                    assert_eq!(phase, stands, "{name}");
                }
                Event::CandidateMade(made) if made.scope == ROOT => assert_eq!(phase, Phase::Verifying, "{name}"),
                _ => {}
            }
        }
    }
}

/// What happens to previews, in any order.
#[derive(Debug, Clone)]
enum Step {
    Delta(u32),
    Replied { activation: u32, calls: bool },
    Failed(u32),
    Candidate,
}

#[tokio::test]
async fn a_preview_is_shown_of_whoever_concludes_alone_and_begins_before_it_goes_on() {
    let (_, run) = runs().await.into_iter().find(|(name, _)| name == "single/looks_then_answers" || name.starts_with("single/")).unwrap();
    let mut projection = Projection::new(run.gate().clone());
    for record in run.ledger().log() {
        projection.take(record).unwrap();
    }
    let reply = |activation: u32, calls: bool| {
        let made = run.ledger().log().iter().find_map(|record| match &record.event {
            Event::ModelReplied { calls: made, .. } if made.is_empty() != calls => Some(record.event.clone()),
            _ => None,
        });
        match made {
            Some(Event::ModelReplied { saw, finish, text, calls, extra, .. }) => {
                Event::ModelReplied { activation: NodeId(activation), saw, finish, text, calls, extra }
            }
            _ => panic!("no such reply"),
        }
    };
    let candidate = run.ledger().log().iter().find(|r| matches!(r.event, Event::CandidateMade(_))).unwrap().event.clone();
    let step = prop_oneof![
        (0..3u32).prop_map(Step::Delta),
        (0..3u32, any::<bool>()).prop_map(|(activation, calls)| Step::Replied { activation, calls }),
        (0..3u32).prop_map(Step::Failed),
        Just(Step::Candidate),
    ];
    let mut tests = TestRunner::deterministic();
    let property = |steps: Vec<Step>| {
        let (mut previews, mut open) = (Previews::default(), None);
        for step in steps {
            let shown = match step {
                Step::Delta(activation) => {
                    let shown = previews.delta(&projection, NodeId(activation), &"word after word after word ".into());
                    prop_assert_eq!(!shown.is_empty(), projection.may_conclude(NodeId(activation)));
                    if !shown.is_empty() {
                        let begins = open.replace(activation) != Some(activation);
                        prop_assert_eq!(begins, matches!(shown[0], WireEvent::ResponseStart { preview: true, candidate: None }));
                    }
                    continue;
                }
                Step::Replied { activation, calls } => previews.record(&reply(activation, calls)).map(|event| (event, calls.then_some(activation))),
                Step::Failed(activation) => {
                    let event = Event::ModelFailed { activation: NodeId(activation), why: "".into(), partial: None, lasting: false };
                    previews.record(&event).map(|event| (event, Some(activation)))
                }
                Step::Candidate => {
                    open = None;
                    previews.record(&candidate).map(|event| (event, None))
                }
            };
            if let Some((event, whose)) = shown {
                prop_assert_eq!(event, WireEvent::ResponseRetracted { reason: None });
                prop_assert_eq!(open.take(), whose);
            }
            prop_assert_eq!(previews.is_open(), open.is_some());
        }
        Ok(())
    };
    tests.run(&prop::collection::vec(step, 0..24), property).unwrap();
}
