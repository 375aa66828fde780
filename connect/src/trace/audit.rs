//! Reads a trace of whatever format and has the gate rule on it.

use super::sub_agents::SubAgent;
use super::tale::{OWNER, Tale};
use super::verdict::{Looks, Verdict};
use super::{Fault, Source, SourceError, Trace, check, formats, unknown};
use countersign_core::{AppendError, Gate, Policy};
use std::path::Path;
use std::sync::Arc;

/// The audit: formats, a gate, and the policy under which it rules.
pub struct Audit {
    formats: Vec<Box<dyn Trace>>,
    gate: Arc<Gate>,
    policy: Policy,
    looks: Looks,
}

/// What was found in one source.
#[derive(Debug, serde::Serialize)]
pub struct Report {
    /// The format, by its name.
    pub format: &'static str,
    /// A verdict for each trace in it.
    pub verdicts: Vec<Verdict>,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

impl Audit {
    /// An audit with every format of this crate and the checks of [`check::gate`], under a policy.
    pub fn new(policy: Policy) -> Self {
        Self::with_gate(policy, check::gate())
    }

    /// As `new`, with a gate that asks other checks beside the built-in ones.
    pub fn with_gate(policy: Policy, gate: Gate) -> Self {
        Self { formats: formats(), gate: Arc::new(gate), policy, looks: Looks::default() }
    }

    /// Reads a format of the user's own as well, before those of this crate.
    #[must_use]
    pub fn with(mut self, format: impl Trace + 'static) -> Self {
        self.formats.insert(0, Box::new(format));
        self
    }

    /// What is looked at beside the ruling.
    #[must_use]
    pub fn looking(mut self, looks: Looks) -> Self {
        self.looks = looks;
        self
    }

    /// Names of the formats that are read.
    pub fn formats(&self) -> impl Iterator<Item = &'static str> {
        self.formats.iter().map(|f| f.name())
    }

    /// Reads a file, and the transcripts of sub-agents that its format keeps beside it.
    pub fn file(&self, path: &Path) -> Result<Report, SourceError> {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        self.read_beside(&id, Source::open(path)?, path, &mut |beside| Source::open(beside), |_| ())
    }

    /// Reads a source. `id` names the trace where the trace does not name itself.
    pub fn read(&self, id: &str, source: Source) -> Result<Report, SourceError> {
        self.read_then(id, source, |_| ())
    }

    /// Reads a source, and tells what is known beside it before the gate is asked about its last trace.
    pub fn read_then(&self, id: &str, source: Source, then: impl FnOnce(&mut Tale)) -> Result<Report, SourceError> {
        self.read_with(id, source, |_, _| (), then)
    }

    /// As `read_then`, of a source that stands at `path`: the transcripts of sub-agents beside it are opened by `open`.
    pub fn read_beside(
        &self,
        id: &str,
        source: Source,
        path: &Path,
        open: &mut dyn FnMut(&Path) -> Result<Source, SourceError>,
        then: impl FnOnce(&mut Tale),
    ) -> Result<Report, SourceError> {
        let sub_agents =
            |format: &dyn Trace, told: &mut Told<'_>| format.sub_agents(path).iter().for_each(|beside| told.sub_agent(beside, open(beside)));
        self.read_with(id, source, sub_agents, then)
    }

    fn read_with(
        &self,
        id: &str,
        mut source: Source,
        before: impl FnOnce(&dyn Trace, &mut Told<'_>),
        then: impl FnOnce(&mut Tale),
    ) -> Result<Report, SourceError> {
        let mended = source.settle()?;
        let format = self.format(&mut source)?;
        let mut told = Told { audit: self, id, tale: None, sub_agents: Vec::new(), verdicts: Vec::new(), faults: mended };
        before(format, &mut told);
        format.read(&mut source, &mut told)?;
        if let Some(tale) = told.tale.as_mut() {
            then(tale);
        }
        told.finish();
        Ok(Report { format: format.name(), verdicts: told.verdicts, faults: told.faults })
    }

    /// The format of a source. One line may be a document, or all there is of line JSON.
    fn format(&self, source: &mut Source) -> Result<&dyn Trace, SourceError> {
        let find = |source: &Source| self.formats.iter().find(|f| f.recognises(source.head())).map(|f| &**f);
        if let Some(format) = find(source) {
            return Ok(format);
        }
        let unknown = unknown::named(source.head());
        if source.as_line() { find(source).ok_or(unknown) } else { Err(unknown) }
    }
}

/// Where an importer tells its traces, one after another.
pub struct Told<'a> {
    audit: &'a Audit,
    id: &'a str,
    tale: Option<Tale>,
    /// Those of the trace that begins next.
    sub_agents: Vec<SubAgent>,
    verdicts: Vec<Verdict>,
    faults: Vec<Fault>,
}

impl Told<'_> {
    /// Begins a trace; the one before it has ended. A blank id takes the source's name; the owner is the agent whose
    /// words may be the answer.
    pub fn begin(&mut self, id: &str, owner: &str) -> Result<&mut Tale, AppendError> {
        self.finish();
        let id = if id.trim().is_empty() { self.id } else { id };
        let mut tale = Tale::new(self.audit.gate.clone(), self.audit.policy.clone(), id, owner)?;
        tale.knows(std::mem::take(&mut self.sub_agents));
        Ok(self.tale.insert(tale))
    }

    /// The trace that is being told; begins one of one agent where none was begun.
    pub fn tale(&mut self) -> Result<&mut Tale, AppendError> {
        if self.tale.is_none() {
            self.begin("", OWNER)?;
        }
        self.tale.as_mut().ok_or(AppendError::NotTheStart)
    }

    /// Something in the source that could not be read.
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Several of them.
    pub fn faults(&mut self, faults: Vec<Fault>) {
        self.faults.extend(faults);
    }

    /// A transcript of a sub-agent. What cannot be read of it is a fault of the trace, with its name.
    fn sub_agent(&mut self, transcript: &Path, opened: Result<Source, SourceError>) {
        let name = transcript.file_name().unwrap_or_default().to_string_lossy();
        let mut calls = Vec::new();
        let report = opened.and_then(|source| self.audit.read_then(&name, source, |tale| calls = tale.calls()));
        match report {
            Ok(report) => {
                self.faults.extend(report.faults.into_iter().map(|f| Fault { why: format!("`{name}`: {}", f.why), ..f }));
                self.sub_agents.extend(report.verdicts.last().map(|verdict| SubAgent::of(transcript, verdict, calls)));
            }
            Err(why) => self.fault(Fault { line: 0, why: format!("`{name}`: {why}") }),
        }
    }

    fn finish(&mut self) {
        if let Some(tale) = self.tale.take() {
            self.verdicts.push(tale.end(self.audit.looks));
        }
    }
}
