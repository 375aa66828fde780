//! What the gate finds in a transcript, as far as its agent can do something about it.

use super::payload::{Event, Payload};
use countersign::Policy;
use countersign_connect::trace::{Audit, OWNER, Source, SourceError, Tale, Verdict};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest transcript that is read.
pub const TRANSCRIPT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Longest time that is spent on reading one.
pub const TRANSCRIPT_TIME_MAX: Duration = Duration::from_secs(5);

/// One thing that is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    /// The check that found it.
    pub(super) check: String,
    /// Where it stands in the transcript: by this it is known again.
    pub(super) lines: Vec<u32>,
}

/// Rules on the transcript, on those of sub-agents beside it, and on what the payload says. The error is in words for
/// the user.
pub(super) fn rule(payload: &Payload) -> Result<Vec<Missing>, String> {
    let mut limits = Limits { bytes: TRANSCRIPT_BYTES_MAX, until: Instant::now() + TRANSCRIPT_TIME_MAX };
    let not_ruled_on = |why: String| format!("the transcript is not ruled on: {why}");
    let source = limits.open(&payload.transcript).map_err(|why| not_ruled_on(why.to_string()))?;
    let mut beside = |path: &Path| limits.open(path);
    let report = Audit::new(Policy::default()).read_beside("session", source, &payload.transcript, &mut beside, |tale| tell(payload, tale));
    let report = report.map_err(|why| not_ruled_on(why.to_string()))?;
    let Some(verdict) = report.verdicts.last() else { return Err(not_ruled_on("it holds no trace".into())) };
    Ok(missing(payload, verdict))
}

/// What is left of the bytes and the time that all transcripts of one payload may take.
struct Limits {
    bytes: u64,
    until: Instant,
}

impl Limits {
    /// A regular file of a bearable size: a pipe would make the host wait, and a link may point anywhere.
    fn open(&mut self, path: &Path) -> Result<Source, SourceError> {
        let meta = path.symlink_metadata()?;
        let refused = |why: String| Err(io::Error::other(why).into());
        match () {
            () if !meta.is_file() => return refused("it is not a regular file".into()),
            () if meta.len() > self.bytes => return refused(format!("it is longer than {} bytes", self.bytes)),
            () => self.bytes -= meta.len(),
        }
        Source::of(Timed { inner: File::open(path)?, until: self.until })
    }
}

/// A reader that gives up.
struct Timed {
    inner: File,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long"));
        }
        self.inner.read(buf)
    }
}

/// What the payload knows and the transcript may not yet: the last words, and shells that run.
fn tell(payload: &Payload, tale: &mut Tale) {
    for shell in payload.shells.iter().flatten().filter(|id| !tale.knows_job(id)).cloned().collect::<Vec<_>>() {
        tale.tell(|w| w.job_started(&shell, None, Some(OWNER), "shell"));
    }
    if let Some(words) = payload.last_words.as_deref() {
        tale.said(OWNER, words);
    }
}

/// Of the findings, those that the agent can do something about now.
fn missing(payload: &Payload, verdict: &Verdict) -> Vec<Missing> {
    let found = verdict.decision.missing_checks.iter().zip(&verdict.places);
    let can_be_done = found.filter(|(finding, _)| concerns(payload.event, &finding.check));
    can_be_done.map(|(finding, places)| Missing { check: finding.check.to_string(), lines: places.iter().map(|p| p.line).collect() }).collect()
}

/// Whether a finding is for the agent to mend at this point. A call that is open, a person who has to decide and a
/// provider that failed are not, nor is a sub-agent that tells by itself when it has ended. In the middle of a turn there are no last words to rule on.
fn concerns(event: Event, check: &str) -> bool {
    match check {
        "background_done" | "last_work_ok" | "work_done" => true,
        "candidate_text" | "candidate_last" | "candidate_whole" | "plan_settled" => event != Event::TaskCompleted,
        _ => false,
    }
}
