//! A team: what the orchestrator hands over is a transfer, what a specialist says is its reply, and what it keeps of
//! the request is a plan of one step.

use super::Spoken;
use crate::trace::document::text;
use crate::trace::{SourceError, Tale, Told};
use countersign_core::witness::ForeignReply;
use countersign_core::{Cause, Outcome, Report, StepOutcome, StepSpec};
use serde_json::Value;

/// The step that the orchestrator's ledger is about.
const SATISFIED: &str = "request satisfied";

/// Before the answer, in what the harness prints at the end.
const ANSWER: &str = "FINAL ANSWER:";

pub(super) fn tell(spoken: &[Spoken], orchestrator: &str, told: &mut Told<'_>) -> Result<(), SourceError> {
    let tale = told.begin("", orchestrator)?;
    tale.is_among_colleagues();
    let mut team = Team { orchestrator, transfers: 0, out: None, unread: Vec::new(), limit: None };
    for message in spoken {
        tale.at(message.line, Some(message.at));
        team.tell(message, tale);
    }
    if let Some((cause, why)) = team.limit {
        tale.ends(cause, why);
    }
    Ok(())
}

struct Team<'a> {
    orchestrator: &'a str,
    transfers: u32,
    /// The transfer that is not back.
    out: Option<String>,
    /// What specialists said since the orchestrator spoke last.
    unread: Vec<String>,
    /// The limit that dismissed the team.
    limit: Option<(Cause, &'static str)>,
}

impl Team<'_> {
    fn tell(&mut self, message: &Spoken, tale: &mut Tale) {
        match (&message.to, message.aside.as_deref()) {
            _ if message.speaker.eq_ignore_ascii_case("human") || message.speaker.eq_ignore_ascii_case("user") => tale.asked(&message.said),
            _ if message.speaker != self.orchestrator => self.specialist(message, tale),
            (Some(to), _) => {
                self.reads(tale);
                if let Some(id) = self.out.take() {
                    // It hands over anew, and nothing was said: control is back all the same.
                    tale.tell(|w| w.returned(&id, Outcome::Empty));
                }
                self.transfers += 1;
                let id = format!("transfer {}", self.transfers);
                tale.tell(|w| w.transferred(&id, self.orchestrator, to, "", false));
                self.out = Some(id);
            }
            (None, Some(aside)) if aside.contains("termination") => self.terminated(&message.said, tale),
            (None, Some(_)) => {
                self.reads(tale);
                self.thought(&message.said, tale);
            }
            (None, None) => {
                self.reads(tale);
                tale.said(self.orchestrator, &message.said);
            }
        }
    }

    fn specialist(&mut self, message: &Spoken, tale: &mut Tale) {
        let id = format!("reply {}", message.at);
        let said = ForeignReply {
            id: &id,
            agent: &message.speaker,
            outcome: Outcome::Completed,
            parent: None,
            transfer: self.out.as_deref(),
            text: Some(&message.said),
            report: Report::default(),
        };
        tale.tell(|w| w.child_replied(&said));
        self.unread.push(id);
    }

    /// The orchestrator speaks: it has read what was said meanwhile, and what it had handed over is back. A thought
    /// right after the hand-over, such as who is next, takes nothing back.
    fn reads(&mut self, tale: &mut Tale) {
        if self.unread.is_empty() {
            return;
        }
        if let Some(id) = self.out.take() {
            tale.tell(|w| w.returned(&id, Outcome::Empty));
        }
        tale.seconded(self.orchestrator);
        let unread = std::mem::take(&mut self.unread);
        let replies: Vec<&str> = unread.iter().map(String::as_str).collect();
        tale.tell(|w| w.reconciled(self.orchestrator, &replies, &[]));
    }

    /// What the orchestrator notes for itself: its ledger, or that it gives up.
    fn thought(&mut self, said: &str, tale: &mut Tale) {
        if said.starts_with("Replan counter exceeded") {
            self.limit = Some((Cause::ReplanLimit, "the orchestrator used up its revisions of the plan"));
        }
        let ledger = said.find('{').and_then(|at| said.get(at..)).and_then(first_object);
        let Some(satisfied) = ledger.as_ref().and_then(|l| l.pointer("/is_request_satisfied/answer")) else { return };
        let satisfied = satisfied.as_bool().unwrap_or_else(|| satisfied.as_str().is_some_and(|s| s.eq_ignore_ascii_case("true")));
        tale.tell(|w| {
            if w.step_known(SATISFIED) {
                w.step_reopened(SATISFIED, "the ledger says so");
            } else {
                w.plan(self.orchestrator, vec![StepSpec { id: SATISFIED.into(), text: "".into(), needs: Vec::new() }], Vec::new());
            }
            if satisfied {
                w.step_settled(SATISFIED, StepOutcome::Done, "");
            }
        });
        if satisfied {
            // Nothing is handed over any more: what it would say next is what it thinks of the answer.
            for part in ["answer", "reason"] {
                let next = ledger.as_ref().and_then(|l| l.pointer("/instruction_or_question")).map(|next| text(next, part));
                tale.thought(self.orchestrator, next.unwrap_or_default());
            }
        }
    }

    /// Why the team was dismissed, and the answer that was printed then.
    fn terminated(&mut self, said: &str, tale: &mut Tale) {
        let answer = said.split_once(ANSWER).map(|(_, answer)| answer.trim().lines().next().unwrap_or_default());
        tale.said(self.orchestrator, answer.unwrap_or(said));
        self.limit = match () {
            () if said.starts_with("Max rounds") => Some((Cause::TurnLimit, "the team reached its limit of rounds")),
            () if said.starts_with("Max time") => Some((Cause::Timeout, "the team ran out of time")),
            () => self.limit,
        };
    }
}

/// The first JSON object in a text, whatever follows it.
fn first_object(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}
