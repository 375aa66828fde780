//! Sub-agents whose transcripts stand in files of their own: what each file says of how its agent ended.

use super::{OWNER, Place, Tale, Verdict};
use countersign_core::witness::{ForeignCall, ForeignReply};
use countersign_core::{Declared, Outcome, Report, Str};
use std::path::Path;

/// Under this name sub-agents are told that have no other.
pub(super) const SUB_AGENT: &str = "sub-agent";

/// A sub-agent, as its own transcript tells of it.
pub(super) struct SubAgent {
    id: String,
    /// The name of that file.
    file: String,
    /// How it ended; `None` where it did not.
    ended: Option<Outcome>,
    /// Whether its session told of it.
    told: bool,
    /// What it did.
    calls: Vec<InnerCall>,
}

/// A call of a sub-agent, from its own file.
pub(super) struct InnerCall {
    pub(super) line: u32,
    pub(super) name: Str,
    pub(super) declared: Declared,
    /// What came of it; `None` where it is open.
    pub(super) outcome: Option<Outcome>,
}

impl SubAgent {
    /// From its transcript, `agent-ID.jsonl`, the ruling on that, and the calls in it.
    pub(super) fn of(transcript: &Path, verdict: &Verdict, calls: Vec<InnerCall>) -> Self {
        let stem = transcript.file_stem().unwrap_or_default().to_string_lossy();
        let misses = |checks: &[&str]| verdict.decision.missing().any(|missing| checks.contains(&missing));
        let ended = match () {
            () if misses(&["normal_stop"]) => Some(Outcome::Failed),
            () if misses(&["candidate_text", "candidate_last", "tools_closed"]) => None,
            // Whether its work was good is for the agent to judge that reads its words.
            () => Some(Outcome::Completed),
        };
        let file = transcript.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, id: stem.strip_prefix("agent-").unwrap_or(&stem).to_owned(), ended, told: false, calls }
    }

    /// Whether the program made it for itself, such as to shorten a session: no agent waits for its words.
    fn is_of_the_program(&self) -> bool {
        !self.id.bytes().all(|b| b.is_ascii_alphanumeric())
    }
}

impl Tale {
    /// Takes in what is known of the sub-agents of this run.
    pub(super) fn knows(&mut self, sub_agents: Vec<SubAgent>) {
        self.sub_agents = sub_agents;
    }

    /// A call returned what the sub-agent of this id said, and the agent that called has read it. Returns whether the
    /// sub-agent is known; where it is not, the call is all there is to tell.
    pub fn sub_agent_returned(&mut self, call: &str, id: &str, outcome: Outcome) -> bool {
        let Some(known) = self.sub_agents.iter_mut().find(|s| s.id == id) else { return false };
        known.told = true;
        let failed = outcome == Outcome::Completed && known.ended == Some(Outcome::Failed);
        let outcome = if failed { Outcome::Failed } else { outcome };
        let (file, calls) = (std::mem::take(&mut known.file), std::mem::take(&mut known.calls));
        self.tell(|w| w.child_started(id, SUB_AGENT, None, Some(call)));
        self.did(id, file, &calls);
        self.reply_of(id, outcome);
        self.tell(|w| w.reconciled(OWNER, &[id], &[]));
        // The reply closed the call.
        self.open.retain(|open| open != call.trim());
        true
    }

    /// Sub-agents of whose end the run never told: still at work, or with words that nobody read. When they did what they
    /// did is not known, so it is not told: told last, it would overtake the answer.
    pub(super) fn leaves_sub_agents(&mut self) {
        for left in std::mem::take(&mut self.sub_agents) {
            if left.told || left.is_of_the_program() || self.knows_job(&left.id) {
                continue;
            }
            self.tell(|w| w.child_started(&left.id, SUB_AGENT, None, None));
            if let Some(outcome) = left.ended {
                self.reply_of(&left.id, outcome);
            }
        }
    }

    /// The calls of a sub-agent, under its node. Ids of its own file are no ids of its session's.
    fn did(&mut self, id: &str, file: String, calls: &[InnerCall]) {
        let beside = u32::try_from(self.beside.len()).ok();
        self.beside.push(file);
        let mut own = None;
        for (number, call) in calls.iter().enumerate() {
            let before = self.stands(Place { line: call.line, item: None, beside });
            own.get_or_insert(before);
            let label = format!("{id}/{number}");
            let said = ForeignCall { agent: SUB_AGENT, id: &label, name: &call.name, args: "", declared: call.declared, step: None, reads: None };
            self.tell(|w| w.child_called(id, &said));
            if let Some(outcome) = call.outcome {
                self.tell(|w| w.result(&label, outcome, "", None));
            }
        }
        if let Some(own) = own {
            self.stands(own);
        }
    }

    fn reply_of(&mut self, id: &str, outcome: Outcome) {
        let said = ForeignReply { id, agent: SUB_AGENT, outcome, parent: None, transfer: None, text: None, report: Report::default() };
        self.tell(|w| w.child_replied(&said));
    }
}
