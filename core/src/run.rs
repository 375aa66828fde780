//! One run: its ledger behind one door. Decisions are checked against the gate, everything else by the ledger.

use crate::decision::Decision;
use crate::event::{Event, Record, RunStarted, SCHEMA};
use crate::gate::{Final, GATE_VERSION, Gate};
use crate::ledger::{AppendError, Ledger};
use crate::node::{NodeId, ROOT};
use std::sync::Arc;

/// A log that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A line is not an event.
    #[error("line {line} is not an event of schema {SCHEMA}{writer}: {why}")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// Which version wrote the log, where its first line says.
        writer: String,
        /// What is wrong with it.
        why: String,
    },
    /// An event may not stand where it stands.
    #[error("event {seq} is not legal there: {why}")]
    Illegal {
        /// Its number.
        seq: u32,
        /// Why.
        #[source]
        why: AppendError,
    },
    /// The policy is not the one whose digest stands beside it.
    #[error("the policy in `run_started` was changed after it was written: its digest is `{is}`, not `{said}`")]
    PolicyChanged {
        /// What the log says.
        said: crate::Str,
        /// What it is.
        is: crate::Str,
    },
    /// There is nothing in it.
    #[error("the log is empty; a run begins with `run_started`")]
    Empty,
}

/// A run under its gate.
pub struct Run {
    ledger: Box<Ledger>,
    gate: Arc<Gate>,
    // INVARIANT: set only from a ruling of `gate` on `ledger`.
    final_: Option<Final>,
}

// INVARIANT: a ledger is within the sizes of which the usual allocators keep some at hand for each thread; beyond
// them every run would pay several times as much for it.
const _: () = assert!(size_of::<Ledger>() <= 1024);

impl Run {
    /// Begins a run. The gate's checks, its version and the schema's are written into the first event.
    pub fn start(gate: Arc<Gate>, mut start: RunStarted, at_ms: u64) -> Result<Self, AppendError> {
        start.schema = SCHEMA;
        start.gate = GATE_VERSION;
        start.checks = gate.names().clone();
        if start.policy_digest.is_empty() {
            start.policy_digest = start.policy.digest();
        }
        let mut run = Self { ledger: Box::new(Ledger::new()), gate, final_: None };
        run.append(at_ms, [Event::RunStarted(Box::new(start))])?;
        Ok(run)
    }

    /// Takes a log up again: the same append, so the same ledger and the same rulings.
    pub fn replay(gate: Arc<Gate>, log: impl IntoIterator<Item = Arc<Record>>) -> Result<Self, ReplayError> {
        let mut run = Self { ledger: Box::new(Ledger::new()), gate, final_: None };
        for record in log {
            let seq = record.seq;
            if let Event::RunStarted(start) = &record.event
                && start.policy_digest != start.policy.digest()
            {
                return Err(ReplayError::PolicyChanged { said: start.policy_digest.clone(), is: start.policy.digest() });
            }
            run.admit(record).map_err(|why| ReplayError::Illegal { seq, why })?;
        }
        if run.ledger.log().is_empty() { Err(ReplayError::Empty) } else { Ok(run) }
    }

    /// Reads a log of one JSON event a line.
    pub fn read(gate: Arc<Gate>, lines: &str) -> Result<Self, ReplayError> {
        let mut log = Vec::new();
        let mut writer = String::new();
        for (at, line) in lines.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let record: Record =
                serde_json::from_str(line).map_err(|e| ReplayError::Malformed { line: at + 1, writer: writer.clone(), why: e.to_string() })?;
            if let Event::RunStarted(start) = &record.event
                && start.schema != SCHEMA
            {
                writer = format!(" (written with schema {})", start.schema);
            }
            log.push(Arc::new(record));
        }
        Self::replay(gate, log)
    }

    /// Takes in one new fact, and numbers it.
    pub fn record(&mut self, at_ms: u64, event: Event) -> Result<(), AppendError> {
        self.admit(Arc::new(Record { seq: self.ledger.seq() + 1, at_ms, event }))
    }

    /// Takes in new facts, all or none, and numbers them.
    pub fn append(&mut self, at_ms: u64, events: impl IntoIterator<Item = Event>) -> Result<(), AppendError> {
        let before = self.ledger.log().len();
        for event in events {
            let record = Arc::new(Record { seq: self.ledger.seq() + 1, at_ms, event });
            if let Err(why) = self.admit(record) {
                self.take_back(before);
                return Err(why);
            }
        }
        Ok(())
    }

    /// Takes in recorded facts, all or none.
    pub fn append_records(&mut self, records: &[Arc<Record>]) -> Result<(), AppendError> {
        let before = self.ledger.log().len();
        for record in records {
            if let Err(why) = self.admit(record.clone()) {
                self.take_back(before);
                return Err(why);
            }
        }
        Ok(())
    }

    /// Asks the gate about a scope and its newest candidate, and records what it says.
    pub fn rule(&mut self, scope: NodeId, at_ms: u64) -> Result<Arc<Decision>, AppendError> {
        let candidate = self.ledger.activation(scope).and_then(|a| a.candidate);
        let (decision, final_) = self.gate.rule(&self.ledger, scope, candidate);
        let decision = Arc::new(decision);
        let event = Event::Decided { scope, candidate, decision: decision.clone() };
        self.ledger.append(Arc::new(Record { seq: self.ledger.seq() + 1, at_ms, event }))?;
        self.final_ = self.final_.take().or(final_);
        Ok(decision)
    }

    /// What the gate says of the run as it stands, without recording it.
    pub fn decide(&self) -> Decision {
        self.gate.decide(&self.ledger, self.ledger.activation(ROOT).and_then(|a| a.candidate))
    }

    /// Everything known.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The gate.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// The answer, once the gate has let one through.
    pub fn final_answer(&self) -> Option<&Final> {
        self.final_.as_ref()
    }

    /// One event. A decision must be the one that the gate makes here and now. One of another gate version, or
    /// made with checks that are not here, is kept as it was recorded and makes no final.
    fn admit(&mut self, record: Arc<Record>) -> Result<(), AppendError> {
        let Event::Decided { scope, candidate, decision } = &record.event else { return self.ledger.append(record) };
        if !self.ledger.started().is_some_and(|s| s.gate == GATE_VERSION && self.gate.has_all(&s.checks)) {
            return self.ledger.append(record);
        }
        let (rules, final_) = self.gate.rule(&self.ledger, *scope, *candidate);
        if rules != **decision {
            return Err(AppendError::ForgedDecision { said: decision.clone(), rules: Arc::new(rules) });
        }
        self.ledger.append(record)?;
        self.final_ = self.final_.take().or(final_);
        Ok(())
    }

    /// Undoes a batch by folding what stood before it: refusals inside a batch are rare, copies would not be.
    fn take_back(&mut self, keep: usize) {
        if self.ledger.log().len() == keep {
            return;
        }
        let kept: Vec<_> = self.ledger.log().iter().take(keep).cloned().collect();
        *self.ledger = Ledger::new();
        self.final_ = None;
        for record in kept {
            // It was admitted once, from the same state.
            let _ = self.admit(record);
        }
    }
}
