//! From records to events on the wire. Pure: a run is folded as its driver folds it, under its own gate, so that an
//! answer comes from a `Final` of that gate and from nothing else.

mod course;
mod ruling;
mod work;

use super::event::WireEvent;
use super::phase::Phase;
use countersign::{AppendError, Event, Gate, Ledger, NodeId, ROOT, Record, ReplayError, Run, Str};
use std::sync::Arc;

/// Longest text of a tool or a sub-agent on the wire, in bytes. The records have the whole.
pub(super) const TEXT_MAX: usize = 16 * 1024;

/// A log that cannot be shown: it is not one that its gate would have made.
#[derive(Debug, thiserror::Error)]
pub enum Unshown {
    /// It does not begin as a run does.
    #[error(transparent)]
    Start(#[from] ReplayError),
    /// An event may not stand where it stands.
    #[error(transparent)]
    Event(#[from] AppendError),
}

/// A run as a reader sees it, up to some record.
pub struct Projection {
    gate: Arc<Gate>,
    run: Option<Run>,
    /// The candidate that is shown as a preview.
    preview: Option<NodeId>,
}

impl Projection {
    /// Before the first record of a run.
    pub fn new(gate: Arc<Gate>) -> Self {
        Self { gate, run: None, preview: None }
    }

    /// The run so far.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// The last record taken in; 0 before the first.
    pub fn seq(&self) -> u32 {
        self.run.as_ref().map_or(0, |run| run.ledger().seq())
    }

    /// Where the task's card stands.
    pub fn phase(&self) -> Phase {
        self.run.as_ref().map_or(Phase::InProgress, |run| Phase::of_log(run.ledger().log(), run.final_answer().is_some()))
    }

    /// Whether nobody goes on by himself: the newest event is a ruling that leaves the run to people, or ends it.
    pub fn rests(&self) -> bool {
        !matches!(self.phase(), Phase::InProgress | Phase::Verifying)
    }

    /// Whether the run has ended for good, with the ruling that says so.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase(), Phase::Finalising | Phase::Completed | Phase::Failed | Phase::Cancelled)
    }

    /// Whether an activation's words may become the answer.
    pub fn may_conclude(&self, activation: NodeId) -> bool {
        self.run.as_ref().is_some_and(|run| concludes(run.ledger(), activation))
    }

    /// Takes in the next record, and says what a reader is shown of it.
    pub fn take(&mut self, record: &Arc<Record>) -> Result<Vec<WireEvent>, Unshown> {
        match &mut self.run {
            None => self.run = Some(Run::replay(self.gate.clone(), [record.clone()])?),
            Some(run) => run.append_records(std::slice::from_ref(record))?,
        }
        let Some(run) = &self.run else { return Ok(Vec::new()) };
        let view = View { ledger: run.ledger(), phase: self.phase() };
        Ok(match &record.event {
            Event::CandidateMade(made) if made.scope == ROOT => {
                self.preview = run.ledger().activation(ROOT).and_then(|a| a.candidate);
                ruling::candidate(&view, made, self.preview)
            }
            Event::Decided { scope: ROOT, decision, candidate } => {
                let shown = self.preview.take().is_some();
                ruling::ruled(&view, decision, *candidate, run.final_answer(), shown)
            }
            event => work::of(&view, event),
        })
    }
}

/// What the parts of a projection read.
struct View<'a> {
    ledger: &'a Ledger,
    phase: Phase,
}

impl View<'_> {
    /// The agent of an activation.
    fn agent(&self, activation: NodeId) -> Str {
        self.ledger.activation(activation).map(|a| a.agent.clone()).unwrap_or_default()
    }

    fn progress(&self, note: impl Into<String>, agent: Option<Str>) -> Vec<WireEvent> {
        vec![WireEvent::Progress { phase: self.phase, note: note.into(), agent }]
    }
}

/// The agents that a mode asks directly and whose words may be the answer.
fn concludes(ledger: &Ledger, activation: NodeId) -> bool {
    let owner = ledger.rules(ROOT).map(|rules| rules.concluder(ledger.policy()));
    ledger.activation(activation).is_some_and(|a| a.parent == Some(ROOT) && Some(&a.agent) == owner)
}

/// The beginning of a long text, with a mark.
pub(crate) fn clipped(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_owned();
    }
    let end = (0..=TEXT_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{} [cut: {} bytes in all]", text.get(..end).unwrap_or_default(), text.len())
}
