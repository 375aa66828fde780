#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::explain;
use super::fixture::{answer, delivered, one_open_tool, read, reply, witness};
use super::words::{clean, quoted};
use crate::witness::{ForeignCall, ForeignCandidate};
use crate::{Declared, Effect, GuardVerdict, Limits, OnCapSpent, Outcome, Policy, StepOutcome, StepSpec};

fn step(id: &str, needs: &[&str]) -> StepSpec {
    StepSpec { id: id.into(), text: "".into(), needs: needs.iter().map(|n| (*n).into()).collect() }
}

#[test]
fn a_shared_cause_is_said_once() {
    let run = one_open_tool();
    assert_eq!(
        explain(run.ledger(), &run.decide()),
        "\
not final: a tool run has no outcome yet (pending_tool_executions) → wait

1. a tool was called and has no result (tools_closed)
   - tool `bash(cmd: cargo test)` of `coder` (tool_run:11): asked for
   → wait for it, run it or cancel it
   what follows from it:
   - a sub-agent is still at work (sub_agents_done): agent `main` (activation:1), agent `coder` (activation:9)
   - a specialist has not given control back (transfers_returned): transfer from `main` to `dba` (transfer:5)
   - the plan has open steps (plan_settled): step `s1` `run the tests` (plan_step:3)
   - evidence is required and the answer rests on no completed tool run; failed, cancelled, denied and bookkeeping calls do not count \
(evidence_ok): the answer of `main`, 18 bytes (candidate:12)
"
    );
}

#[test]
fn a_delivery_says_what_it_rests_on() {
    let mut w = delivered();
    let decision = w.rule().unwrap();
    assert_eq!(
        explain(w.run().ledger(), &decision),
        "\
final: nothing is left open and the answer rests on completed evidence (verified) → deliver

it rests on one piece of evidence:
- tool `read_file(limit: 3, path: a.rs)` of `main` (tool_run:3): completed
"
    );
}

#[test]
fn separate_causes_stand_apart_and_equal_findings_together() {
    let mut w = witness(Policy::default());
    w.child_started("a", "anna", None, None);
    w.child_replied(&reply("b", Outcome::Completed, &[("port", "80")]));
    w.child_replied(&reply("c", Outcome::Completed, &[("port", "81")]));
    w.candidate(&answer("The port is 80."));
    assert_eq!(
        explain(w.run().ledger(), &w.decide()),
        "\
not final: a sub-agent is still at work (pending_sub_agents) → wait

1. a sub-agent is still at work (sub_agents_done)
   - agent `anna` (activation:2): at work
   → wait for it, or cancel it

2. a sub-agent's result is neither adopted, nor set aside with a reason, or it is passed on word for word (replies_reconciled)
   - result of `b` (sub_agent:4): completed
   - result of `c` (sub_agent:6): completed
   → say of each result what became of it, and answer in your own words

3. results disagree on `port`: `80` or `81` (conflicts_resolved)
   - result of `b` (sub_agent:4): completed
   - result of `c` (sub_agent:6): completed
   → settle each by name and say how
"
    );
}

#[test]
fn an_observed_agent_stands_for_the_one_that_is_awaited() {
    let mut w = witness(Policy::default());
    w.transferred("t1", "main", "dba", "look", false);
    w.call(&ForeignCall { agent: "dba", ..read("c1", "query", "{}") });
    w.candidate(&ForeignCandidate { agent: "dba", ..answer("All is well, says dba.") });
    assert_eq!(
        explain(w.run().ledger(), &w.decide()),
        "\
not final: the answer does not come from the agent who may conclude (wrong_producer) → wait

1. a tool was called and has no result (tools_closed)
   - tool `query()` of `dba` (tool_run:6): asked for
   → wait for it, run it or cancel it
   what follows from it:
   - a specialist has not given control back (transfers_returned): transfer from `main` to `dba` (transfer:3)
   - the answer comes from `dba`; only `main` may conclude: what others say is evidence (candidate_owner): agent `dba` (activation:4)
"
    );
}

#[test]
fn a_step_waits_for_the_step_that_it_needs() {
    let mut w = witness(Policy::default());
    w.plan("main", vec![step("s1", &[]), step("s2", &["s1"]), step("s3", &["s2"])], Vec::new());
    w.call(&ForeignCall { step: Some("s1"), ..read("c1", "read_file", "{}") });
    w.candidate(&answer("Planned."));
    assert_eq!(
        explain(w.run().ledger(), &w.decide()),
        "\
not final: a tool run has no outcome yet (pending_tool_executions) → wait

1. a tool was called and has no result (tools_closed)
   - tool `read_file()` of `main` (tool_run:7): asked for
   → wait for it, run it or cancel it
   what follows from it:
   - the plan has open steps (plan_settled): step `s1` (plan_step:3), step `s2` (plan_step:4), step `s3` (plan_step:5)
"
    );
    w.result("c1", Outcome::Failed, "", None);
    w.step_settled("s1", StepOutcome::Blocked, "no such file");
    assert_eq!(
        explain(w.run().ledger(), &w.decide()),
        "\
not final: a plan step is not settled (pending_plan_steps) → nudge

1. the plan has open steps (plan_settled)
   - step `s2` (plan_step:4): open
   → do them, or block or drop them with a reason
   what follows from it:
   - the plan has open steps (plan_settled): step `s3` (plan_step:5)

2. results or input came in after these words were said (candidate_last)
   - the answer of `main`, 8 bytes (candidate:8)
   → read them, then answer

continuations used: 0 of 2
"
    );
}

#[test]
fn a_lost_call_is_said_once() {
    let mut w = witness(Policy::default());
    w.call(&ForeignCall { declared: Declared { approval: false, ..Declared::run(Effect::Write) }, ..read("c1", "pay", r#"{"amount":7}"#) });
    w.crashed();
    assert_eq!(
        explain(w.run().ledger(), &w.decide()),
        "\
not final, blocked: a call was under way when its process died (unknown_outcome) → ask_human

1. its process died under it: nobody knows whether it happened (outcomes_known)
   - tool `pay(amount: 7)` of `main` (tool_run:3): lost
   → find out, then record the outcome, fail it or run it again
   what follows from it:
   - a tool was called and has no result (tools_closed)

2. there is no answer (candidate_text)
   → answer the task
"
    );
}

#[test]
fn a_ruling_that_lets_something_go_says_what() {
    let policy = Policy { on_cap_spent: OnCapSpent::Deliver, limits: Limits { continuations: 0, ..Limits::default() }, ..Policy::execution() };
    let mut w = witness(policy);
    w.candidate(&answer("It works."));
    w.guard_spoke("tone", GuardVerdict::Nudge("say `how`\u{1b}[2J".into()));
    let told = explain(w.run().ledger(), &w.decide());
    assert!(
        told.starts_with("final: the allowance is spent and the policy delivers what lacks only evidence, marked (unverified) → deliver"),
        "{told}"
    );
    assert!(told.contains("\nit rests on no executed evidence\n\nwhat the policy let go:\n\n1. evidence is required"), "{told}");
    assert!(told.contains("2. `tone` asks for a second look: say `how` [2J (guard_ok)"), "{told}");
}

#[test]
fn a_refusal_never_quotes_the_answer() {
    let run = one_open_tool();
    let told = explain(run.ledger(), &run.decide());
    for secret in ["Every test passes", "hasty", "celebrate"] {
        assert!(!told.contains(secret), "{told}");
    }
    // Nor what a terminal call says: that is where an answer comes from.
    let mut w = witness(Policy::default());
    w.call(&ForeignCall { declared: Declared::of(crate::CallKind::Terminal), ..read("c1", "conclude", r#"{"answer":"the secret"}"#) });
    w.candidate(&answer("the secret"));
    let told = explain(w.run().ledger(), &w.decide());
    assert!(told.contains("tool `conclude(…)` of `main`") && !told.contains("secret"), "{told}");
}

#[test]
fn a_ruling_of_the_past_says_that_the_log_went_on() {
    let mut w = delivered();
    let decision = w.decide();
    w.edited("somebody");
    w.edited("somebody");
    let told = explain(w.run().ledger(), &decision);
    assert!(told.ends_with("\nruled at event 6; the log has gone on to event 8, and nodes are shown as they stand there\n"), "{told}");
}

#[test]
fn many_subjects_are_counted_not_listed() {
    let mut w = witness(Policy::default());
    for n in 0..20 {
        w.call(&read(&format!("c{n}"), "read_file", "{}"));
    }
    let told = explain(w.run().ledger(), &w.decide());
    assert_eq!(told.matches("tool `read_file()`").count(), 12, "{told}");
    assert!(told.contains("   - and 8 more\n"), "{told}");
}

#[test]
fn hostile_text_is_one_clean_line() {
    assert_eq!(clean("  a\n\tb\u{202e}c\u{1b}[31m  d", 60), "a bc [31m d");
    assert_eq!(clean("äöü", 2), "äö…");
    assert_eq!(quoted("a`b"), "`a'b`");
}
