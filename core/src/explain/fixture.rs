//! Small runs for the tests of the views.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::witness::{ForeignCall, ForeignCandidate, ForeignReply, Witness};
use crate::*;
use std::sync::Arc;

/// How a run begins: `main` concludes, and every result needs a disposition.
pub(crate) fn start(policy: Policy) -> RunStarted {
    RunStarted::new("r1", "mend the tests", "deep", ModeRules::explicit("main"), policy)
}

/// A witness of such a run.
pub(crate) fn witness(policy: Policy) -> Witness {
    Witness::new(Arc::new(Gate::default()), start(policy), 0).unwrap()
}

/// A reading tool, called by `main`.
pub(crate) fn read<'a>(id: &'a str, name: &'a str, args: &'a str) -> ForeignCall<'a> {
    ForeignCall { agent: "main", id, name, args, declared: Declared::run(Effect::Read), step: None, reads: None }
}

/// A sub-agent of `main` that ended.
pub(crate) fn reply<'a>(id: &'a str, outcome: Outcome, claims: &[(&str, &str)]) -> ForeignReply<'a> {
    let claims = claims.iter().map(|(key, value)| Claim { key: (*key).into(), value: (*value).into(), confidence: Some(80) }).collect();
    let report = Report { claims, ..Report::default() };
    ForeignReply { id, agent: id, outcome, parent: None, transfer: None, text: Some("its own words"), report }
}

/// What `main` would like to be the answer.
pub(crate) fn answer(text: &str) -> ForeignCandidate<'_> {
    ForeignCandidate { agent: "main", text, ..ForeignCandidate::default() }
}

/// A run that delivers: one file read, one answer.
pub(crate) fn delivered() -> Witness {
    let mut w = witness(Policy::execution());
    w.call(&read("c1", "read_file", r#"{"path":"a.rs","limit":3}"#));
    w.result("c1", Outcome::Completed, "fn main() {}", None);
    w.reply("main", "The file is empty.", Finish::Stop, ReplyExtra::default());
    w.candidate(&answer("The file is empty."));
    w
}

/// `main` handed a step to `dba`, who asked `coder`, whose tool is still running; `main` answers all the same.
pub(crate) fn one_open_tool() -> Run {
    let mut run = Run::start(Arc::new(Gate::default()), start(Policy::execution()), 0).unwrap();
    let begin = |parent, agent: &str, via| Event::ActivationStarted {
        parent: NodeId(parent),
        agent: agent.into(),
        key: agent.into(),
        prompt: "".into(),
        via,
        rests_on: Box::new([]),
        rules: None,
    };
    let call = |activation, name: &str, args: &str, declared, step| Event::ModelReplied {
        activation: NodeId(activation),
        saw: 1,
        finish: Finish::ToolCalls,
        text: "".into(),
        calls: Box::new([Call { name: name.into(), args: args.into(), label: None, declared, step, reads: None }]),
        extra: None,
    };
    let spec = StepSpec { id: "s1".into(), text: "run the tests".into(), needs: Vec::new() };
    let made = CandidateMade {
        scope: ROOT,
        by: NodeId(1),
        text: "Every test passes.".into(),
        form: Form::Text,
        finish: Finish::Stop,
        from: None,
        rests_on: Vec::new(),
        uses: Vec::new(),
        synthesis: false,
        uncertainties: vec!["the answer is hasty".into()],
        next_actions: vec!["celebrate".into()],
    };
    let events = [
        begin(0, "main", Via::Asked),
        Event::PlanMade { scope: ROOT, key: "plan".into(), by: NodeId(1), steps: vec![spec], dropped: Vec::new() },
        call(1, "transfer_to_dba", "look at the tests", Declared::of(CallKind::Transfer), Some(NodeId(3))),
        begin(1, "dba", Via::Call(NodeId(5))),
        call(6, "coder", "run them", Declared::of(CallKind::Delegate), None),
        begin(6, "coder", Via::Call(NodeId(8))),
        call(9, "bash", r#"{"cmd":"cargo test"}"#, Declared::run(Effect::Check), None),
        Event::CandidateMade(Box::new(made)),
    ];
    run.append(0, events).unwrap();
    run
}
