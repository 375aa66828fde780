#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::{Rank, RiskKind, RunReport};
use crate::explain::fixture::{answer, delivered, one_open_tool, read, reply, witness};
use crate::governance::{RefsRule, Rule};
use crate::witness::ForeignCall;
use crate::{
    CandidateMade, Disposed, Disposition, Event, Finish, Form, Gate, Governance, NodeId, Outcome, Policy, ROOT, Resolution, Run, StepOutcome,
    StepSpec,
};
use std::sync::Arc;

fn step(id: &str, text: &str) -> StepSpec {
    StepSpec { id: id.into(), text: text.into(), needs: Vec::new() }
}

/// Two sub-agents who disagreed, a tool that failed, a job, steps given up, an attestation, a conclusion.
fn rich() -> Run {
    let rule = Rule { id: "scope".into(), text: "the scope is stated".into(), refs: RefsRule::None, waivable: false };
    let governance = Some(Governance { name: "own".into(), rules: vec![rule] });
    let mut w = witness(Policy { governance, ..Policy::execution() });
    w.plan("main", vec![step("s1", "read"), step("s2", "guess"), step("s3", "ask")], Vec::new());
    w.call(&ForeignCall { step: Some("s1"), ..read("c1", "read_file", r#"{"path":"a.rs"}"#) });
    w.result("c1", Outcome::Completed, "x", None);
    w.call(&read("c2", "fetch", r#"{"url":"<b>"}"#));
    w.result("c2", Outcome::TimedOut, "", None);
    w.step_settled("s1", StepOutcome::Done, "");
    w.step_settled("s3", StepOutcome::Blocked, "nobody answers");
    w.plan("main", Vec::new(), vec![("s2".into(), "no longer needed".into())]);
    w.job_started("j1", None, None, "nightly scan");
    w.job_ended("j1", Outcome::Completed, "clean");
    w.child_replied(&reply("anna", Outcome::Completed, &[("port", "80")]));
    w.child_replied(&reply("ben", Outcome::Completed, &[("port", "81")]));
    w.child_replied(&reply("cleo", Outcome::Failed, &[]));
    w.child_replied(&reply("dora", Outcome::Completed, &[]));
    assert_eq!(w.refused, []);
    let ids: Vec<NodeId> = ["anna", "ben", "cleo", "dora"].iter().map(|n| w.reply_of(n).unwrap()).collect();
    let mut run = Run::replay(Arc::new(Gate::default()), w.run().ledger().log().to_vec()).unwrap();
    let main = run.ledger().activations().iter().find(|a| &*a.agent == "main").unwrap().id;
    let disposed = |n: usize, disposition, why: &str| Disposition { result: ids[n], disposition, why: why.into() };
    let read_file = run.ledger().tool_runs()[0].id;
    let events = [
        Event::Attested { by: main, rule: "scope".into(), statement: "only a.rs".into(), refs: vec![read_file], waived: None },
        Event::Reconciled {
            by: main,
            dispositions: vec![
                disposed(0, Disposed::Adopted, ""),
                disposed(1, Disposed::Rejected, "read an old file"),
                disposed(2, Disposed::Unresolved, "it never ran"),
                disposed(3, Disposed::Duplicate, "as anna"),
            ],
            resolved: vec![Resolution { key: "port".into(), why: "a.rs says 80".into() }],
        },
        Event::CandidateMade(Box::new(CandidateMade {
            scope: ROOT,
            by: main,
            text: "# The port\n\nis 80.".into(),
            form: Form::Text,
            finish: Finish::Stop,
            from: None,
            rests_on: vec![read_file],
            uses: vec![ids[0]],
            synthesis: true,
            uncertainties: vec!["a.rs may be old".into()],
            next_actions: vec!["look at *b.rs*".into()],
        })),
    ];
    run.append(0, events).unwrap();
    run
}

#[test]
fn a_delivered_run_in_markdown() {
    let mut run = rich();
    let decision = run.rule(ROOT, 0).unwrap();
    assert_eq!(
        RunReport::of(run.ledger(), &decision).to_markdown(),
        "\
# Report of run r1

**Task:** mend the tests

**Final:** the answer rests on completed evidence, though something failed for good (`verified_partial`)

## Conclusions

> # The port
>
> is 80.

## Evidence

### Executed

- tool `read_file(path: a.rs)` of `main` (tool_run:7) — the answer rests on it

### Observed

- background job `nightly scan` of `main` (job:11)

### Reported

- result of `anna` (sub_agent:13): completed; claims `port` = `80` — the answer rests on it
- result of `ben` (sub_agent:15): completed; claims `port` = `81`
- result of `cleo` (sub_agent:17): failed
- result of `dora` (sub_agent:19): completed

### Asserted

- attestation of `scope` by `main` (attestation:20): only a.rs
- what the answer says beyond the above, by `main`

## Results of sub-agents

- sub_agent:13 of `anna` (completed): adopted
- sub_agent:15 of `ben` (completed): rejected: read an old file
- sub_agent:17 of `cleo` (failed): unresolved: it never ran
- sub_agent:19 of `dora` (completed): duplicate: as anna

## Risks and uncertainty

- a.rs may be old
- tool `fetch(url: <b>)` of `main` (tool_run:9): timed out
- sub-agent `cleo` did not end well: failed
- sub-agent `dora` gave no claims: nothing of its result could be compared with another
- step `s2` `guess` (plan_step:4): dropped, no longer needed
- step `s3` `ask` (plan_step:5): blocked, nobody answers
- results disagreed on `port`; `main` settled it: a.rs says 80

## Next actions

- look at \\*b.rs\\*
"
    );
}

#[test]
fn a_refused_run_says_nothing_of_its_answer() {
    let run = one_open_tool();
    let report = RunReport::of(run.ledger(), &run.decide());
    assert_eq!(report.conclusions, []);
    let remedies = ["wait for it, run it or cancel it", "wait for it, or cancel it", "wait for it, or return control to its owner"];
    assert_eq!(report.next_actions[..3], remedies);
    let markdown = report.to_markdown();
    let json = serde_json::to_string(&report).unwrap();
    for secret in ["Every test passes", "hasty", "celebrate"] {
        assert!(!markdown.contains(secret) && !json.contains(secret), "{markdown}");
    }
    assert!(markdown.contains("None: the gate let no answer through."));
    assert!(report.risks.iter().all(|r| r.kind == RiskKind::Missing) && report.risks.len() == 5, "{:?}", report.risks);
}

#[test]
fn a_run_that_was_final_before_still_concludes() {
    let mut w = delivered();
    w.rule().unwrap();
    let again = w.decide();
    assert_eq!((again.final_text.as_deref(), again.finalized), (None, true));
    let report = RunReport::of(w.run().ledger(), &again);
    assert_eq!(report.conclusions, ["The file is empty.".into()]);
}

#[test]
fn a_result_that_nobody_disposed_of_says_so_and_one_that_was_replaced_too() {
    let mut w = witness(Policy::default());
    w.child_replied(&reply("anna", Outcome::Completed, &[]));
    w.candidate(&answer("Done."));
    let report = RunReport::of(w.run().ledger(), &w.decide());
    assert_eq!(report.dispositions[0].disposition, None);
    assert_eq!(report.dispositions[0].why, "nobody has said what became of it");
    let child = w.run().ledger().results()[0].activation;
    let mut run = Run::replay(Arc::new(Gate::default()), w.run().ledger().log().to_vec()).unwrap();
    let ended = Event::ActivationEnded { activation: child, outcome: Outcome::Completed, text: "more".into(), data: None, report: None };
    run.append(0, [Event::InputArrived { activation: child, text: "look again".into(), queued: None }, ended]).unwrap();
    let report = RunReport::of(run.ledger(), &run.decide());
    let became: Vec<_> = report.dispositions.iter().map(|d| d.disposition).collect();
    assert_eq!(became, [Some(Disposed::Superseded), None]);
    assert_eq!(report.evidence.iter().filter(|e| e.rank == Rank::Reported).count(), 1, "only the newest stands");
}

#[test]
fn the_json_form_is_camel_case() {
    let mut w = delivered();
    let decision = w.rule().unwrap();
    let json = serde_json::to_value(RunReport::of(w.run().ledger(), &decision)).unwrap();
    assert_eq!(json["completionReason"], "verified");
    assert_eq!(json["evidence"][0]["rank"], "executed");
    assert_eq!(json["evidence"][0]["reference"], "tool_run:3");
    assert_eq!(json["evidence"][0]["cited"], true);
    assert_eq!(json["nextActions"], serde_json::json!([]));
}

#[test]
fn markdown_of_hostile_text_stays_text() {
    use super::markdown::escaped;
    assert_eq!(escaped("<img src=x> [a](b) **c** #d"), r"&lt;img src=x&gt; \[a\](b) \*\*c\*\* \#d");
    assert_eq!(escaped("tool `a_b` x_y _z_"), r"tool `a_b` x_y \_z_");
    assert_eq!(escaped("``` <b>"), r"\` &lt;b&gt;");
    assert_eq!(escaped("`a<` `<b>"), r"`a<` \`&lt;b&gt;");
    assert_eq!(escaped(r"\`<b>`"), r"\\`<b>`");
}
