//! A second gate, written from the rules' text over a plain list of events, against ours on random logs.

mod log;
mod others;
mod rules;
mod state;
mod work;

use countersign_core::{Gate, Policy, Run};
use countersign_examples::cases::{self, Told, What};
use log::{Ev, Start};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rules::Ruling;
use serde_json::Value;
use std::sync::Arc;

/// How many logs are tried, each asked about after every candidate and at its end. `ORACLE_LOGS=100000` tries
/// more, and others: the seed is the number.
fn logs() -> u32 {
    std::env::var("ORACLE_LOGS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000)
}

#[test]
fn a_naive_gate_agrees_on_random_logs() {
    let config = Config { cases: logs(), failure_persistence: None, max_shrink_iters: 3_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &logs().to_le_bytes().repeat(8));
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&log::run(), |(start, events)| {
        let events = legal(&start, events);
        let at_candidates = events.iter().enumerate().filter(|(_, e)| matches!(e, Ev::Candidate { .. })).map(|(at, _)| at + 1);
        for upto in at_candidates.chain([events.len()]) {
            let (naive, ours) = (rules::decide(&start, &events[..upto]), gate(&start, &events[..upto]));
            prop_assert_eq!(&naive, &ours, "after {} of\n{}", upto, told(&start, &events));
        }
        Ok(())
    });
    if let Err(why) = result {
        panic!("the naive gate (left) and ours (right) disagree: {why}");
    }
}

#[test]
fn nonsense_is_survived_delivers_once_at_most_and_replays_as_it_was_told() {
    let config = Config { cases: logs() / 2, failure_persistence: None, max_shrink_iters: 3_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &logs().to_be_bytes().repeat(8));
    let result = TestRunner::new_with_rng(config, rng).run(&log::run(), |(start, events)| {
        let text = told(&start, &events);
        let finals = finals(&start, &events);
        prop_assert!(finals <= 1, "{} finals of\n{}", finals, text);
        let mut player = cases::Player::start(start.mode, cases::rules(start.mode), policy(&start)).expect("a run can begin");
        for (at, ev) in events.iter().enumerate() {
            player.tell(u32::try_from(at + 2).expect("a short log"), &what(ev.told()));
        }
        let run = player.witness.run();
        let again = Run::replay(Arc::new(Gate::default()), run.ledger().log().iter().cloned());
        prop_assert_eq!(again.expect("what was taken in is legal").decide(), run.decide(), "{}", text);
        Ok(())
    });
    if let Err(why) = result {
        panic!("{why}");
    }
}

fn finals(start: &Start, events: &[Ev]) -> usize {
    let told = log_of(start, events);
    cases::play(&told.iter().collect::<Vec<_>>()).expect("any log can be played").1
}

fn policy(start: &Start) -> Policy {
    match what(start.told()) {
        What::RunStarted { policy, .. } => cases::translate(&policy),
        _ => panic!("a run begins with its start"),
    }
}

/// The events that make sense where they stand; the others would be told to nobody.
fn legal(start: &Start, events: Vec<Ev>) -> Vec<Ev> {
    let mut state = state::State::new(start);
    let mut kept = Vec::new();
    for ev in events {
        let mut next = state.clone();
        if next.take(kept.len(), &ev) {
            state = next;
            kept.push(ev);
        }
    }
    kept
}

fn told(start: &Start, events: &[Ev]) -> String {
    let lines = std::iter::once(start.told()).chain(events.iter().map(Ev::told));
    let fields = |v: &Value| countersign_examples::script::line::write(v.as_object().expect("an event is an object"));
    lines.map(|v| fields(&v).unwrap_or_else(|| v.to_string())).collect::<Vec<_>>().join("\n")
}

/// What our gate says of the same events.
fn gate(start: &Start, events: &[Ev]) -> Ruling {
    let told = log_of(start, events);
    let (decision, _) = cases::play(&told.iter().collect::<Vec<_>>()).expect("a legal log can be played");
    let name = |value: Value| -> &'static str { value.as_str().unwrap_or_default().to_owned().leak() };
    let reason = decision.completion_reason.name();
    let compared = !matches!(reason, "user_cancelled" | "already_final");
    Ruling {
        status: name(serde_json::to_value(decision.status).expect("a status has a name")),
        reason,
        next: name(serde_json::to_value(decision.next).expect("a next has a name")),
        missing: compared.then(|| decision.missing().map(|m| &*m.to_owned().leak()).collect()),
    }
}

fn log_of(start: &Start, events: &[Ev]) -> Vec<Told> {
    let values = std::iter::once(start.told()).chain(events.iter().map(Ev::told));
    values.enumerate().map(|(at, v)| Told { n: u32::try_from(at + 1).expect("a short log"), what: what(v) }).collect()
}

fn what(value: Value) -> What {
    match value {
        Value::Object(fields) => cases::event(fields).expect("the log speaks the vocabulary"),
        _ => panic!("an event is an object"),
    }
}
