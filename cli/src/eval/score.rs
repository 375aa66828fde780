//! Scores: for each set, and for each rule in it, failures caught and good runs refused.

use super::interval::wilson;
use super::manifest::Labelled;
use countersign_connect::trace::{Report, SourceError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What must hold in every set.
pub(super) struct Limits<'a> {
    pub(super) refused: Option<usize>,
    pub(super) refused_percent: Option<f64>,
    pub(super) caught: &'a [(String, usize)],
}

/// Failures and good runs, and how many of each were refused.
#[derive(Default, Clone, Copy)]
struct Count {
    failures: usize,
    caught: usize,
    good: usize,
    refused: usize,
}

#[derive(Default)]
struct Set {
    all: Count,
    unknown: usize,
    unread: usize,
    faults: usize,
    rules: BTreeMap<String, Count>,
}

/// The scores of every set.
#[derive(Default)]
pub(super) struct Scores {
    sets: BTreeMap<String, Set>,
    listed: Vec<String>,
}

impl Scores {
    pub(super) fn count(&mut self, labelled: &Labelled, read: &Result<Report, SourceError>) {
        let set = self.sets.entry(labelled.set.clone()).or_default();
        let report = match read {
            Ok(report) => report,
            Err(why) => {
                set.unread += 1;
                return self.listed.push(format!("not read: {}: {why}", labelled.file));
            }
        };
        set.faults += report.faults.len();
        let rules: BTreeSet<&str> = report.verdicts.iter().filter(|v| !v.is_final()).flat_map(|v| v.decision.missing()).collect();
        let refused = report.verdicts.iter().any(|v| !v.is_final());
        let Some(good) = labelled.outcome.good() else {
            set.unknown += 1;
            return;
        };
        set.all.add(good, refused);
        for rule in &rules {
            set.rules.entry((*rule).to_owned()).or_default().add(good, true);
        }
        if good == refused {
            let what = if good { "good and refused" } else { "failed and passed" };
            let rules: Vec<&str> = rules.into_iter().collect();
            self.listed.push(format!("{what}: {} {}", labelled.file, rules.join(" ")));
        }
    }

    /// Files on which the audit and the labels disagree, and those that were not read.
    pub(super) fn list(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().map(String::as_str)
    }

    /// Which limits do not hold, in words.
    pub(super) fn broken(&self, limits: &Limits<'_>) -> Vec<String> {
        let mut broken = Vec::new();
        for (name, set) in &self.sets {
            let percent = limits.refused_percent.map(|p| (p / 100.0 * set.all.good as f64).floor() as usize);
            let most = limits.refused.max(percent);
            if let Some(most) = most.filter(|most| set.all.refused > *most) {
                broken.push(format!("{name}: {} good runs refused, at most {most} may be", set.all.refused));
            }
        }
        for (name, fewest) in limits.caught {
            let caught = self.sets.get(name).map_or(0, |set| set.all.caught);
            if caught < *fewest {
                broken.push(format!("{name}: {caught} failures caught, at least {fewest} must be"));
            }
        }
        broken
    }

    pub(super) fn as_json(&self) -> Value {
        let set = |set: &Set| {
            let rules: BTreeMap<&str, Value> =
                set.rules.iter().map(|(rule, n)| (&**rule, json!({ "caught": n.caught, "refused": n.refused }))).collect();
            let n = set.all;
            json!({
                "failures": n.failures, "caught": n.caught, "caughtPercent95": wilson(n.caught, n.failures),
                "good": n.good, "refused": n.refused, "refusedPercent95": wilson(n.refused, n.good),
                "unknown": set.unknown, "unread": set.unread, "faults": set.faults, "rules": rules,
            })
        };
        self.sets.iter().map(|(name, s)| (name.clone(), set(s))).collect::<serde_json::Map<_, _>>().into()
    }
}

impl Count {
    fn add(&mut self, good: bool, refused: bool) {
        let (all, hit) = if good { (&mut self.good, &mut self.refused) } else { (&mut self.failures, &mut self.caught) };
        *all += 1;
        *hit += usize::from(refused);
    }
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<20} {:>9} {:<20} {:>9} {:<20} {:>8} {:>7}",
            "set", "caught", "of failures (95 %)", "refused", "of good (95 %)", "unknown", "unread"
        )?;
        for (name, set) in &self.sets {
            let n = set.all;
            write!(f, "{name:<20} {:>9} {:<20} ", n.caught, share(n.caught, n.failures))?;
            writeln!(f, "{:>9} {:<20} {:>8} {:>7}", n.refused, share(n.refused, n.good), set.unknown, set.unread)?;
            for (rule, n) in &set.rules {
                writeln!(f, "  {rule:<18} {:>9} {:<20} {:>9}", n.caught, "", n.refused)?;
            }
        }
        Ok(())
    }
}

/// `of 144 (10–21 %)`.
fn share(hits: usize, of: usize) -> String {
    if of == 0 {
        return "of 0".into();
    }
    let (low, high) = wilson(hits, of);
    format!("of {of} ({low:.1}–{high:.1})")
}
