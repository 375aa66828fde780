//! What many traces came to.

use crate::{BAD, GOOD, UNREADABLE};
use countersign_connect::trace::{Report, SourceError};
use std::collections::BTreeMap;
use std::fmt;

/// Counts over every source of an audit.
#[derive(Default)]
pub(super) struct Totals {
    reasons: BTreeMap<(bool, &'static str), usize>,
    checks: BTreeMap<String, usize>,
    unread: usize,
    faults: usize,
}

impl Totals {
    pub(super) fn count(&mut self, read: &Result<Report, SourceError>) {
        let Ok(report) = read else {
            self.unread += 1;
            return;
        };
        self.faults += report.faults.len();
        for verdict in &report.verdicts {
            *self.reasons.entry((!verdict.is_final(), verdict.reason().name())).or_default() += 1;
            for check in verdict.decision.missing() {
                *self.checks.entry(check.to_owned()).or_default() += 1;
            }
        }
    }

    fn of(&self, refused: bool) -> usize {
        self.reasons.iter().filter(|((r, _), _)| *r == refused).map(|(_, n)| n).sum()
    }

    /// Good where every answer would be final, bad where one would not; unreadable where nothing was refused, and
    /// something could not be read.
    pub(super) fn exit_status(&self) -> u8 {
        match () {
            () if self.of(true) > 0 => BAD,
            () if self.unread + self.faults > 0 => UNREADABLE,
            () => GOOD,
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, refused) = (self.of(false), self.of(true));
        if passed + refused + self.unread < 2 {
            return Ok(());
        }
        writeln!(f, "\n{:>6}  traces would be final", passed)?;
        writeln!(f, "{refused:>6}  would not")?;
        if self.unread > 0 {
            writeln!(f, "{:>6}  sources could not be read", self.unread)?;
        }
        if self.faults > 0 {
            writeln!(f, "{:>6}  lines could not be read", self.faults)?;
        }
        if !self.reasons.is_empty() {
            writeln!(f, "\n{:<30} {:>6}", "reason", "traces")?;
        }
        self.reasons.iter().try_for_each(|((_, reason), n)| writeln!(f, "{reason:<30} {n:>6}"))?;
        if !self.checks.is_empty() {
            writeln!(f, "\n{:<30} {:>6}", "finding", "traces")?;
            self.checks.iter().try_for_each(|(check, n)| writeln!(f, "{check:<30} {n:>6}"))?;
        }
        Ok(())
    }
}
