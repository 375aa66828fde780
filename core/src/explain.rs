//! A ruling in plain text: what was ruled, and from what it follows. A shared cause is said once.
//!
//! A refusal never echoes the candidate; nor does this.

mod cause;
mod reason;
pub(crate) mod words;

pub(crate) use cause::is_open;
pub use reason::in_words;

use crate::decision::{Decision, Finding, Next};
use crate::event::Event;
use crate::ledger::Ledger;
use crate::node::{NodeId, ROOT, Ref};
use cause::{Group, Point};
use std::fmt::Write;
use words::{Words, clean, count};

/// Longest message or remedy that is shown: a guard's words may be long.
const MESSAGE_MAX: usize = 400;
/// Most nodes named under one finding.
const NAMED_MAX: usize = 12;
/// Most nodes named in one line.
const IN_A_LINE_MAX: usize = 6;

/// Explains a ruling from the evidence graph.
///
/// The first line is the ruling itself. Of a refusal, each finding follows with the nodes it is about and
/// what would settle it; findings that merely follow from another stand below it. Of a delivery, what it
/// rests on follows, and what failed. `ledger` is the run that was ruled on, at that event or later.
///
/// ```text
/// not final: a tool run has no outcome yet (pending_tool_executions) → wait
///
/// 1. a tool was called and has no result (tools_closed)
///    - tool `bash(cmd: cargo test)` of `coder` (tool_run:6): asked for
///    → wait for it, run it or cancel it
///    what follows from it:
///    - a sub-agent is still at work (sub_agents_done): agent `coder` (activation:4)
/// ```
pub fn explain(ledger: &Ledger, decision: &Decision) -> String {
    let words = Words(ledger);
    let mut out = reason::headline(decision);
    out.push('\n');
    if decision.finalizable {
        section(&mut out, words, &rests_on(decision), &decision.evidence_refs);
        section(&mut out, words, "what failed for good:", &decision.failed_refs);
    }
    let findings = &decision.missing_checks;
    if decision.finalizable && !findings.is_empty() {
        out.push_str("\nwhat the policy let go:\n");
    }
    for (at, group) in cause::groups(ledger, findings).iter().enumerate() {
        out.push('\n');
        tell(&mut out, words, findings, at + 1, group);
    }
    out.push_str(&remarks(ledger, decision));
    out
}

/// Which scope and candidate a decision was about: those that its record names, else the run and its newest.
pub(crate) fn ruled_on(ledger: &Ledger, decision: &Decision) -> (NodeId, Option<NodeId>) {
    if let Some(Event::Decided { scope, candidate, decision: said }) = ledger.event(decision.at_seq.saturating_add(1))
        && **said == *decision
    {
        return (*scope, *candidate);
    }
    let newest = ledger.activation(ROOT).and_then(|a| a.candidate);
    (ROOT, newest.filter(|c| ledger.data(*c).is_some_and(|d| d.seq <= decision.at_seq)))
}

fn rests_on(decision: &Decision) -> String {
    match decision.evidence_refs.len() {
        0 => "it rests on no executed evidence".into(),
        n => format!("it rests on {}:", count(n, "piece of evidence", "pieces of evidence")),
    }
}

fn section(out: &mut String, words: Words<'_>, title: &str, refs: &[Ref]) {
    if refs.is_empty() && title.ends_with(':') {
        return;
    }
    out.push('\n');
    out.push_str(title);
    out.push('\n');
    named(out, "", words, &refs.iter().map(|r| r.node).collect::<Vec<_>>());
}

/// One line for each node, as many as are worth reading.
fn named(out: &mut String, indent: &str, words: Words<'_>, nodes: &[NodeId]) {
    for node in nodes.iter().take(NAMED_MAX) {
        let _ = writeln!(out, "{indent}- {}", words.standing(*node));
    }
    let more = nodes.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        let _ = writeln!(out, "{indent}- and {more} more");
    }
}

/// One cause, or several that share their consequences, with what follows.
fn tell(out: &mut String, words: Words<'_>, findings: &[Finding], number: usize, group: &Group) {
    let lead = format!("{number}. ");
    let indent = " ".repeat(lead.chars().count());
    for (at, (finding, nodes)) in by_finding(findings, &group.causes).into_iter().enumerate() {
        let lead = if at == 0 { &lead } else { &indent };
        let _ = writeln!(out, "{lead}{} ({})", clean(&finding.message, MESSAGE_MAX), clean(&finding.check, MESSAGE_MAX));
        named(out, &indent, words, &nodes);
        let _ = writeln!(out, "{indent}→ {}", clean(&finding.remedy, MESSAGE_MAX));
    }
    if !group.follows.is_empty() {
        let _ = writeln!(out, "{indent}what follows from {}:", if group.causes.len() == 1 { "it" } else { "them" });
    }
    for (finding, nodes) in by_finding(findings, &group.follows) {
        let _ = writeln!(out, "{indent}- {}", in_a_line(words, finding, &nodes, &group.causes));
    }
}

/// A finding that follows from a cause. What was named just above is not named again.
fn in_a_line(words: Words<'_>, finding: &Finding, nodes: &[NodeId], causes: &[Point]) -> String {
    let new: Vec<NodeId> = nodes.iter().copied().filter(|n| !causes.iter().any(|c| c.node == Some(*n))).collect();
    let mut said: Vec<String> = new.iter().take(IN_A_LINE_MAX).map(|n| words.of(*n)).collect();
    if new.len() > IN_A_LINE_MAX {
        said.push(format!("and {} more", new.len() - IN_A_LINE_MAX));
    }
    let lead = format!("{} ({})", clean(&finding.message, MESSAGE_MAX), clean(&finding.check, MESSAGE_MAX));
    if said.is_empty() { lead } else { format!("{lead}: {}", said.join(", ")) }
}

/// Points with their findings, in the order of the checks. That a finding is about the run goes without saying.
fn by_finding<'a>(findings: &'a [Finding], points: &[Point]) -> Vec<(&'a Finding, Vec<NodeId>)> {
    let of = |at: usize| points.iter().filter(move |p| p.finding == at).collect::<Vec<_>>();
    let told = findings.iter().enumerate().map(|(at, finding)| (finding, of(at))).filter(|(_, points)| !points.is_empty());
    told.map(|(finding, points)| (finding, points.iter().filter_map(|p| p.node).filter(|n| *n != ROOT).collect())).collect()
}

/// What bears on the ruling and is no finding.
fn remarks(ledger: &Ledger, decision: &Decision) -> String {
    let mut out = String::new();
    if !decision.finalizable && matches!(decision.next, Next::Nudge | Next::Continue | Next::Stop) && !decision.status.is_terminal() {
        let (used, allowed) = (ledger.totals().continuations, ledger.limits().continuations);
        let _ = write!(out, "\ncontinuations used: {used} of {allowed}\n");
    }
    // The ruling's own record is the one event that may follow it without changing anything.
    if ledger.seq() > decision.at_seq.saturating_add(1) {
        let _ = write!(
            out,
            "\nruled at event {}; the log has gone on to event {}, and nodes are shown as they stand there\n",
            decision.at_seq,
            ledger.seq()
        );
    }
    out
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
