//! The newest frames of a run, as bytes that readers share.

use crate::wire::Phase;
use bytes::Bytes;
use std::collections::VecDeque;

/// Most bytes of frames that a run keeps at hand. Older ones are made again from the journal, for whoever needs them.
const BYTES_MAX: usize = 256 * 1024;

/// One frame: all that there is of one record, or a preview.
pub(super) struct Entry {
    /// The record; `None` for a preview.
    pub(super) seq: Option<u32>,
    /// What is sent.
    pub(super) bytes: Bytes,
}

/// The newest frames.
pub(super) struct Ring {
    entries: VecDeque<Entry>,
    /// The number of the first that is kept.
    first: u64,
    bytes: usize,
    /// The newest record whose frame was given up: who has not seen it cannot go on from here.
    floor: u32,
    /// The newest record that was read.
    pub(super) seq: u32,
    pub(super) phase: Phase,
    /// Whether a preview is open, whose beginning a reader who comes now has missed.
    pub(super) previewing: bool,
    /// Whether the run waits for people, with no driver of this process at work.
    pub(super) rests: bool,
    /// Whether nothing more can come.
    pub(super) ended: bool,
    /// Why the log cannot be read any further, where that is so.
    pub(super) broken: Option<String>,
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            bytes: 0,
            floor: 0,
            seq: 0,
            phase: Phase::InProgress,
            previewing: false,
            rests: false,
            ended: false,
            broken: None,
        }
    }
}

/// What a reader finds at its place.
pub(super) enum Found {
    /// The next frame, and the place after it.
    Frame { bytes: Bytes, seq: Option<u32>, next: u64 },
    /// Nothing yet.
    Nothing,
    /// It is gone.
    Gone,
}

impl Ring {
    /// The place of the frame that comes next.
    pub(super) fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes.len();
        self.entries.push_back(entry);
        while self.bytes > BYTES_MAX && self.entries.len() > 1 {
            let Some(old) = self.entries.pop_front() else { return };
            self.bytes -= old.bytes.len();
            self.first += 1;
            self.floor = old.seq.unwrap_or(self.floor);
        }
    }

    /// What stands at a place.
    pub(super) fn at(&self, place: u64) -> Found {
        let Some(index) = place.checked_sub(self.first) else { return Found::Gone };
        match usize::try_from(index).ok().and_then(|index| self.entries.get(index)) {
            Some(entry) => Found::Frame { bytes: entry.bytes.clone(), seq: entry.seq, next: place + 1 },
            None => Found::Nothing,
        }
    }

    /// The place from which a reader goes on that has seen everything up to an event. Previews before it are
    /// skipped. `None` where a frame in between was given up.
    pub(super) fn place_after(&self, after: u32) -> Option<u64> {
        if after < self.floor {
            return None;
        }
        let unseen = |entry: &Entry| entry.seq.is_some_and(|seq| seq > after);
        match self.entries.iter().position(unseen) {
            Some(index) => Some(self.first + index as u64),
            None => Some(self.next()),
        }
    }
}
