//! What was just written to runs that somebody follows, so that a follower's next look goes to memory and not to the
//! file. Only what is in the file already is here.

use countersign_core::{Record, Str};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most records of one run. Whoever is further behind reads the file.
const RECORDS_MAX: usize = 256;

/// Most runs. Beyond it all are let go, and whoever still follows begins anew.
const RUNS_MAX: usize = 4096;

/// Records by run. INVARIANT: those of one run have no gap between them.
#[derive(Default)]
pub(super) struct Recent(Mutex<FxHashMap<Str, VecDeque<Arc<Record>>>>);

impl Recent {
    fn runs(&self) -> MutexGuard<'_, FxHashMap<Str, VecDeque<Arc<Record>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody has read a run up to its end, and will ask for what comes next.
    pub(super) fn follow(&self, run: &str) {
        let mut runs = self.runs();
        if runs.contains_key(run) {
            return;
        }
        if runs.len() >= RUNS_MAX {
            runs.clear();
        }
        runs.insert(run.into(), VecDeque::new());
    }

    /// Records were written. `ends` where no other can follow them.
    pub(super) fn add(&self, run: &Str, records: impl Iterator<Item = Arc<Record>>, ends: bool) {
        let mut runs = self.runs();
        let Entry::Occupied(mut followed) = runs.entry(run.clone()) else { return };
        let kept = followed.get_mut();
        for record in records {
            if kept.back().is_some_and(|last| last.seq + 1 != record.seq) {
                // Another process has written in between.
                kept.clear();
            }
            kept.push_back(record);
        }
        kept.drain(..kept.len().saturating_sub(RECORDS_MAX));
        if ends {
            followed.remove();
        }
    }

    /// Records after `after`, at most `most`, where the next one is here.
    pub(super) fn after(&self, run: &str, after: u32, most: usize) -> Option<Vec<Arc<Record>>> {
        let runs = self.runs();
        let kept = runs.get(run)?;
        let skipped = (after + 1).checked_sub(kept.front()?.seq)? as usize;
        let found: Vec<_> = kept.iter().skip(skipped).take(most).cloned().collect();
        (!found.is_empty()).then_some(found)
    }
}
