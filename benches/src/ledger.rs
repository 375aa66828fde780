//! A refusal costs what is open, a final what it cites; neither costs what ever happened. Ledgers of 10^2 to
//! 10^6 events, and the memory of an event.

use crate::measure::{Row, cpu_us, median, rss_kib};
use countersign::ledger::Ledger;
use countersign::{
    Call, CandidateMade, Declared, Effect, Event, Finish, Form, Gate, ModeRules, NodeId, Outcome, Policy, ROOT, Reason, Reconciliation, Run,
    RunStarted, Str, Via,
};
use std::hint::black_box;
use std::sync::Arc;

pub(crate) fn rows() -> Vec<Row> {
    [100, 1_000, 10_000, 100_000, 1_000_000].into_iter().flat_map(at).collect()
}

fn at(events: usize) -> Vec<Row> {
    let before = rss_kib();
    let Some(mut run) = history(events) else { return Vec::new() };
    let after = rss_kib();
    let bytes = before.zip(after).map(|(before, after)| (after.saturating_sub(before) * 1024) as f64 / run.ledger().seq() as f64);
    let Some(candidate) = cited(&mut run) else { return Vec::new() };
    let finals = time(&run, candidate, Reason::Verified);
    let Some(open) = with_open_call(&mut run) else { return Vec::new() };
    let refusals = time(&run, open, Reason::PendingToolExecutions);
    let mut rows = vec![
        Row::new("countersign, a final that cites 3", events, finals, "decision"),
        Row::new("countersign, a refusal with 1 open", events, refusals, "decision"),
    ];
    if let Some((row, bytes)) = rows.first_mut().zip(bytes.filter(|_| events >= 100_000)) {
        row.more.push(("bytes_an_event", bytes));
    }
    rows
}

fn time(run: &Run, candidate: NodeId, reason: Reason) -> f64 {
    let gate: &Gate = run.gate();
    let ledger: &Ledger = run.ledger();
    assert_eq!(gate.decide(ledger, Some(candidate)).completion_reason, reason);
    let once = || cpu_us(|| (0..200).for_each(|_| drop(black_box(gate.decide(ledger, Some(candidate)))))) / 200.0;
    median((0..5).map(|_| once()).collect())
}

/// An agent that made many calls, none of which the answer rests on.
fn history(events: usize) -> Option<Run> {
    let start = RunStarted::new(
        "history",
        "task",
        "single",
        ModeRules::owner("main"),
        Policy { reconciliation: Some(Reconciliation::Explicit), ..Policy::execution() },
    );
    let mut run = Run::start(Arc::new(Gate::default()), start, 0).ok()?;
    let agent = begin(&mut run, "earlier")?;
    while (run.ledger().seq() as usize) < events {
        call(&mut run, agent, true)?;
    }
    Some(run)
}

/// Three calls of the agent who concludes, and its answer.
fn cited(run: &mut Run) -> Option<NodeId> {
    let main = begin(run, "main")?;
    for _ in 0..3 {
        call(run, main, true)?;
    }
    answer(run, main)
}

/// One call more, without a result, and another answer.
fn with_open_call(run: &mut Run) -> Option<NodeId> {
    let main = run.ledger().activations().last()?.id;
    call(run, main, false)?;
    answer(run, main)
}

fn begin(run: &mut Run, agent: &str) -> Option<NodeId> {
    let (agent, key) = (Str::from(agent), Str::from(agent));
    let event =
        Event::ActivationStarted { parent: ROOT, agent, key, prompt: Str::default(), via: Via::Observed, rests_on: Box::new([]), rules: None };
    run.record(0, event).ok()?;
    Some(NodeId(run.ledger().node_count() - 1))
}

fn call(run: &mut Run, activation: NodeId, settled: bool) -> Option<()> {
    let saw = u32::try_from(run.ledger().activation(activation)?.transcript.len()).ok()?;
    let args: Str = format!("{{\"path\":\"src/file_{saw}.rs\"}}").into();
    let spec = Call { name: "read".into(), args, label: None, declared: Declared::run(Effect::Read), step: None, reads: None };
    let calls: Box<[Call]> = Box::new([spec]);
    run.record(0, Event::ModelReplied { activation, saw, finish: Finish::ToolCalls, text: Str::default(), calls, extra: None }).ok()?;
    let call = NodeId(run.ledger().node_count() - 1);
    if settled {
        run.record(0, Event::ToolSettled { call, outcome: Outcome::Completed, text: "ok: 12 lines".into(), cut: None }).ok()?;
    }
    Some(())
}

fn answer(run: &mut Run, by: NodeId) -> Option<NodeId> {
    let rests_on = run.ledger().activation(by)?.unread().collect();
    let made = CandidateMade {
        scope: ROOT,
        by,
        text: "done".into(),
        form: Form::Text,
        finish: Finish::Stop,
        from: None,
        rests_on,
        uses: Vec::new(),
        synthesis: false,
        uncertainties: Vec::new(),
        next_actions: Vec::new(),
    };
    run.record(0, Event::CandidateMade(Box::new(made))).ok()?;
    Some(NodeId(run.ledger().node_count() - 1))
}
