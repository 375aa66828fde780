//! `Run::append` refuses every illegal event with a typed error and leaves the ledger as it was; what it took
//! in it takes in again, byte for byte.

use countersign_core::event::{Call, CallKind, Claim};
use countersign_core::{
    AppendError, CandidateMade, Cause, Declared, Disposed, Disposition, Effect, Event, Finish, Form, Gate, ModeRules, NodeId, NudgeBy, Outcome,
    Policy, ROOT, Record, ReplayError, Report, Run, RunStarted, Status, StepOutcome, StepSpec, Via,
};
use std::sync::Arc;

fn start(policy: Policy) -> RunStarted {
    RunStarted::new("r1", "count the rows", "single", ModeRules::owner("main"), policy)
}

fn run() -> Run {
    Run::start(Arc::new(Gate::default()), start(Policy::conversation()), 0).expect("a run can begin")
}

fn agent(key: &str) -> Event {
    Event::ActivationStarted {
        parent: ROOT,
        agent: "main".into(),
        key: key.into(),
        prompt: "".into(),
        via: Via::Asked,
        rests_on: Box::new([]),
        rules: None,
    }
}

fn replied(activation: NodeId, tools: &[(&str, Declared)]) -> Event {
    let call = |(name, declared): &(&str, Declared)| Call {
        name: (*name).into(),
        args: "{}".into(),
        label: None,
        declared: *declared,
        step: None,
        reads: None,
    };
    let finish = if tools.is_empty() { Finish::Stop } else { Finish::ToolCalls };
    Event::ModelReplied { activation, saw: 1, finish, text: "Three rows.".into(), calls: tools.iter().map(call).collect(), extra: None }
}

fn read() -> Declared {
    Declared::run(Effect::Read)
}

fn settled(call: NodeId) -> Event {
    Event::ToolSettled { call, outcome: Outcome::Completed, text: "3".into(), cut: None }
}

fn candidate(by: NodeId) -> Event {
    Event::CandidateMade(Box::new(CandidateMade {
        scope: ROOT,
        by,
        text: "Three rows.".into(),
        form: Form::Text,
        finish: Finish::Stop,
        from: None,
        rests_on: Vec::new(),
        uses: Vec::new(),
        synthesis: false,
        uncertainties: Vec::new(),
        next_actions: Vec::new(),
    }))
}

/// An agent (node 1) with one open read (node 3).
fn calling() -> Run {
    let mut run = run();
    run.append(1, [agent("ask"), replied(NodeId(1), &[("query", read())])]).expect("legal");
    run
}

/// Refused, and without a trace.
fn refused(run: &mut Run, event: Event, wanted: &AppendError) {
    let before = state(run);
    assert_eq!(run.append(9, [event]).as_ref(), Err(wanted));
    assert!(state(run) == before, "a refusal left a trace: {}", state(run));
}

/// All that a ledger knows, its caches apart.
fn state(run: &Run) -> String {
    let l = run.ledger();
    let derived = (l.activations(), l.tool_runs(), l.results(), l.conflicts(), l.attestations(), l.current_plan(ROOT), l.limits());
    format!("{:?} {:?} {:?} {:?} {derived:?} {:?}", l.log(), l.graph(), l.open(), l.totals(), run.final_answer())
}

#[test]
fn refuses_a_gap_and_a_repeat_in_seq() {
    for seq in [1, 3] {
        let mut run = run();
        let record = Arc::new(Record { seq, at_ms: 0, event: Event::Crashed });
        assert_eq!(run.append_records(&[record]), Err(AppendError::Gap { last: 1, got: seq }));
        assert_eq!(run.ledger().seq(), 1);
    }
}

#[test]
fn refuses_a_second_start_and_a_log_without_one() {
    refused(&mut run(), Event::RunStarted(Box::new(start(Policy::default()))), &AppendError::NotTheStart);
    let record = Arc::new(Record { seq: 1, at_ms: 0, event: Event::Crashed });
    let replayed = Run::replay(Arc::new(Gate::default()), [record]);
    assert!(matches!(replayed, Err(ReplayError::Illegal { seq: 1, why: AppendError::NotTheStart })));
    assert!(matches!(Run::replay(Arc::new(Gate::default()), []), Err(ReplayError::Empty)));
}

#[test]
fn refuses_everything_but_late_results_after_the_end() {
    let mut run = calling();
    run.append(2, [settled(NodeId(3)), replied(NodeId(1), &[]), ended(), candidate(NodeId(1))]).expect("legal");
    let decision = run.rule(ROOT, 3).expect("the gate can be asked");
    assert_eq!(decision.status, Status::Completed);
    refused(&mut run, Event::Edited { by: "me".into() }, &AppendError::RunEnded);
    refused(&mut run, candidate(NodeId(1)), &AppendError::RunEnded);
    refused(&mut run, Event::Stopped { cause: Cause::UserCancelled, why: "".into() }, &AppendError::RunEnded);
    run.append(4, [Event::LateResult { call: NodeId(3), outcome: Outcome::Failed, text: "".into() }]).expect("a late result is a fact");
    assert_eq!(run.decide().completion_reason.name(), "already_final");
}

#[test]
fn refuses_nodes_that_no_event_made() {
    let unknown = AppendError::UnknownNode(NodeId(99));
    refused(&mut run(), settled(NodeId(99)), &unknown);
    refused(&mut run(), candidate(NodeId(99)), &unknown);
    refused(&mut run(), Event::Note { kind: "finding".into(), data: "{}".into(), rests_on: vec![NodeId(99)] }, &unknown);
    refused(&mut run(), Event::Nudged { activation: NodeId(99), by: NudgeBy::Gate, text: "".into() }, &unknown);
}

#[test]
fn refuses_nodes_of_another_kind() {
    let mut run = calling();
    let wrong = |node, is, wanted| AppendError::WrongKind { node: NodeId(node), is, wanted };
    use countersign_core::NodeKind::{Activation, Approval, Reply, ToolRun};
    refused(&mut run, settled(NodeId(2)), &wrong(2, Reply, ToolRun));
    refused(&mut run, replied(NodeId(3), &[]), &wrong(3, ToolRun, Activation));
    let grant = Event::ApprovalSettled { approval: NodeId(3), granted: true, by: "me".into(), why: "".into(), args: None, lapsed: false };
    refused(&mut run, grant, &wrong(3, ToolRun, Approval));
}

#[test]
fn refuses_to_settle_twice() {
    let mut run = calling();
    run.append(2, [settled(NodeId(3))]).expect("legal");
    refused(&mut run, settled(NodeId(3)), &AppendError::AlreadySettled(NodeId(3)));
    run.append(3, [Event::LateResult { call: NodeId(3), outcome: Outcome::Failed, text: "".into() }]).expect("legal");
}

#[test]
fn refuses_a_transfer_that_returns_twice() {
    let mut run = run();
    run.append(1, [agent("ask"), replied(NodeId(1), &[("transfer_to_dba", Declared::of(CallKind::Transfer))])]).expect("legal");
    let specialist = Event::ActivationStarted {
        parent: NodeId(1),
        agent: "dba".into(),
        key: "t".into(),
        prompt: "".into(),
        via: Via::Call(NodeId(3)),
        rests_on: Box::new([]),
        rules: None,
    };
    let ended = Event::ActivationEnded { activation: NodeId(4), outcome: Outcome::Completed, text: "3".into(), data: None, report: None };
    let back = || Event::Returned { call: NodeId(3), result: NodeId(5) };
    run.append(2, [specialist, ended, back()]).expect("legal");
    refused(&mut run, back(), &AppendError::AlreadySettled(NodeId(3)));
}

#[test]
fn refuses_what_is_not_open_for_it() {
    let mut run = calling();
    let late = Event::LateResult { call: NodeId(3), outcome: Outcome::Completed, text: "".into() };
    refused(&mut run, late, &AppendError::NotOpen(NodeId(3)));
    refused(&mut run, Event::Retried { call: NodeId(3), by: "me".into() }, &AppendError::NotOpen(NodeId(3)));
}

#[test]
fn refuses_a_turn_or_an_end_over_open_calls() {
    let mut run = calling();
    refused(&mut run, replied(NodeId(1), &[]), &AppendError::StillOpen(NodeId(1)));
    let ended = Event::ActivationEnded { activation: NodeId(1), outcome: Outcome::Completed, text: "".into(), data: None, report: None };
    refused(&mut run, ended, &AppendError::StillOpen(NodeId(1)));
}

#[test]
fn refuses_a_question_that_is_being_worked_on() {
    refused(&mut calling(), agent("ask"), &AppendError::KeyTaken { key: "ask".into() });
}

fn step(id: &str) -> StepSpec {
    StepSpec { id: id.into(), text: "".into(), needs: Vec::new() }
}

fn plan(steps: Vec<StepSpec>, dropped: &[(&str, &str)]) -> Event {
    let dropped = dropped.iter().map(|(id, why)| ((*id).into(), (*why).into())).collect();
    Event::PlanMade { scope: ROOT, key: "p".into(), by: ROOT, steps, dropped }
}

#[test]
fn refuses_steps_that_are_not_in_the_plan() {
    let mut run = run();
    refused(&mut run, plan(vec![], &[("s1", "no need")]), &AppendError::NotInPlan("s1".into()));
    run.append(1, [plan(vec![step("s1")], &[]), plan(vec![step("s2")], &[("s1", "superseded")])]).expect("legal");
    let done = Event::StepSettled { step: NodeId(2), outcome: StepOutcome::Done, why: "".into() };
    refused(&mut run, done, &AppendError::NotInPlan("s1".into()));
}

#[test]
fn refuses_two_steps_of_one_name() {
    refused(&mut run(), plan(vec![step("s1"), step("s1")], &[]), &AppendError::DuplicateStep("s1".into()));
}

#[test]
fn refuses_silence_where_a_reason_is_due() {
    let mut run = run();
    run.append(1, [plan(vec![step("s1")], &[])]).expect("legal");
    refused(&mut run, plan(vec![], &[("s1", " ")]), &AppendError::BlankReason("s1".into()));
    let blocked = Event::StepSettled { step: NodeId(2), outcome: StepOutcome::Blocked, why: " ".into() };
    refused(&mut run, blocked, &AppendError::BlankReason("plan_step:2".into()));
    run.append(
        2,
        [agent("ask"), Event::ActivationEnded { activation: NodeId(3), outcome: Outcome::Completed, text: "".into(), data: None, report: None }],
    )
    .expect("legal");
    let silent = Disposition { result: NodeId(4), disposition: Disposed::Rejected, why: "".into() };
    let reconciled = Event::Reconciled { by: ROOT, dispositions: vec![silent], resolved: Vec::new() };
    refused(&mut run, reconciled, &AppendError::BlankReason("sub_agent:4".into()));
}

#[test]
fn refuses_an_attestation_of_a_rule_that_is_not_there() {
    let attested = || Event::Attested { by: ROOT, rule: "scope".into(), statement: "in scope".into(), refs: Vec::new(), waived: None };
    refused(&mut run(), attested(), &AppendError::UnknownRule("scope".into()));
    let mut secure = Run::start(Arc::new(Gate::default()), start(Policy::security_testing()), 0).expect("legal");
    secure.append(1, [attested()]).expect("legal");
}

#[test]
fn refuses_a_decision_that_the_gate_would_not_make() {
    let mut honest = calling();
    honest.append(2, [settled(NodeId(3)), replied(NodeId(1), &[]), ended(), candidate(NodeId(1))]).expect("legal");
    let passing = honest.decide();
    assert!(passing.finalizable);
    let mut run = calling();
    run.append(2, [candidate(NodeId(1))]).expect("legal");
    let forged = Event::Decided { scope: ROOT, candidate: Some(NodeId(4)), decision: Arc::new(passing.clone()) };
    refused(&mut run, forged, &AppendError::ForgedDecision { said: Arc::new(passing), rules: Arc::new(run_decides(&calling())) });
    assert!(run.final_answer().is_none());
}

/// The ruling on the open call and the same candidate.
fn run_decides(run: &Run) -> countersign_core::Decision {
    let mut copy = Run::replay(Arc::new(Gate::default()), run.ledger().log().iter().cloned()).expect("a log replays");
    copy.append(2, [candidate(NodeId(1))]).expect("legal");
    copy.decide()
}

#[test]
fn refuses_every_edit_of_a_true_decision() {
    let mut run = calling();
    run.append(2, [candidate(NodeId(1))]).expect("legal");
    let truth = run.decide();
    let mut edits = vec![truth.clone(); 4];
    edits[0].finalizable = true;
    edits[1].final_text = Some("Three rows.".into());
    edits[2].missing_checks.clear();
    edits[3].evidence_verified = true;
    for edit in edits {
        let event = Event::Decided { scope: ROOT, candidate: Some(NodeId(4)), decision: Arc::new(edit) };
        assert!(matches!(run.append(3, [event]), Err(AppendError::ForgedDecision { .. })));
    }
    let event = Event::Decided { scope: ROOT, candidate: Some(NodeId(4)), decision: Arc::new(truth) };
    run.append(3, [event]).expect("the gate's own ruling is a fact");
}

#[test]
fn a_batch_is_all_or_nothing() {
    let mut run = calling();
    let before = run.ledger().log().to_vec();
    let batch = [settled(NodeId(3)), replied(NodeId(1), &[]), candidate(NodeId(1)), settled(NodeId(3))];
    assert_eq!(run.append(2, batch), Err(AppendError::AlreadySettled(NodeId(3))));
    assert_eq!(run.ledger().log(), before);
    assert_eq!(run.decide().missing().collect::<Vec<_>>(), ["tools_closed", "sub_agents_done", "candidate_text"]);
}

#[test]
fn deciding_twice_gives_the_same_ruling() {
    let mut run = calling();
    run.append(2, [candidate(NodeId(1))]).expect("legal");
    assert_eq!(run.decide(), run.decide());
    let recorded = run.rule(ROOT, 3).expect("legal");
    let again = run.rule(ROOT, 4).expect("legal");
    assert_eq!(
        (recorded.status, recorded.completion_reason, &recorded.missing_checks),
        (again.status, again.completion_reason, &again.missing_checks)
    );
    run.append(5, [settled(NodeId(3)), replied(NodeId(1), &[]), ended(), candidate(NodeId(1))]).expect("a refusal does not stick");
    assert!(run.rule(ROOT, 6).expect("legal").finalizable);
    assert_eq!(&**run.final_answer().expect("a final").text(), "Three rows.");
}

fn ended() -> Event {
    let report = Report { claims: vec![Claim { key: "rows".into(), value: "3".into(), confidence: Some(90) }], ..Report::default() };
    Event::ActivationEnded { activation: NodeId(1), outcome: Outcome::Completed, text: "3".into(), data: None, report: Some(Box::new(report)) }
}

#[test]
fn a_log_replays_to_the_same_run_through_json_byte_for_byte() {
    let mut run = calling();
    run.append(2, [settled(NodeId(3)), replied(NodeId(1), &[]), ended(), candidate(NodeId(1))]).expect("legal");
    run.rule(ROOT, 3).expect("legal");
    let written = |run: &Run| run.ledger().log().iter().map(|r| serde_json::to_string(r).expect("an event is JSON")).collect::<Vec<_>>().join("\n");
    let lines = written(&run);
    let again = Run::read(Arc::new(Gate::default()), &lines).expect("what was written can be read");
    assert_eq!(written(&again), lines);
    assert!(state(&again) == state(&run), "another state: {}", state(&again));
    assert!(again.final_answer().is_some());
    assert_eq!(serde_json::to_string(&again.decide()).expect("JSON"), serde_json::to_string(&run.decide()).expect("JSON"));
}

#[test]
fn an_unknown_event_is_a_typed_error_that_names_its_line_and_its_writer() {
    let mut first = serde_json::to_value(&*run().ledger().log()[0]).expect("JSON");
    first["schema"] = 7.into();
    let lines = format!("{first}\n{}", r#"{"seq":2,"at_ms":0,"event":"tea_was_made"}"#);
    let why = match Run::read(Arc::new(Gate::default()), &lines) {
        Err(why @ ReplayError::Malformed { line: 2, .. }) => why.to_string(),
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("an unknown event was read"),
    };
    assert!(why.contains("tea_was_made") && why.contains("written with schema 7"), "{why}");
}
