//! The hash chain over a stored log. Each event's link covers the link before it and the event's own text, so a
//! log that was torn, cut in the middle, reordered or moved under another run's name shows where.
//!
//! Without a key this detects corruption: whoever can write the file can also make a new chain. With a key it is
//! an HMAC-SHA256, which cannot be made without the key. A chain cannot tell that a log, or a file as a whole, was put
//! back to what it once was: that takes a witness outside the file.

use super::JournalError;
use countersign_core::{Record, Str};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Bytes of a link: half of the hash, which is as long as any is useful against corruption, and no forgery of an
/// HMAC cut to this length is feasible either.
pub const LINK_BYTES: usize = 16;

/// What stands beside an event.
pub type Link = [u8; LINK_BYTES];

/// Makes links.
#[derive(Clone)]
pub struct Chain {
    keyed: Option<Hmac<Sha256>>,
}

impl Chain {
    /// Links that show corruption.
    pub fn plain() -> Self {
        Self { keyed: None }
    }

    /// Links that nobody can make without the key. Any length will do; 32 random bytes are a good one.
    pub fn keyed(key: &[u8]) -> Self {
        // An HMAC takes keys of every length, so there is always one.
        Self { keyed: Hmac::new_from_slice(key).ok() }
    }

    /// Whether a key was given.
    pub fn is_keyed(&self) -> bool {
        self.keyed.is_some()
    }

    /// The link before the first event of a run.
    pub fn start(&self, run: &str) -> Link {
        self.link(&[0; LINK_BYTES], run)
    }

    /// The link of an event, after the one before it.
    pub fn link(&self, before: &Link, text: &str) -> Link {
        let whole: [u8; 32] = match &self.keyed {
            Some(mac) => mac.clone().chain_update(before).chain_update(text).finalize().into_bytes().into(),
            None => Sha256::new().chain_update(before).chain_update(text).finalize().into(),
        };
        let mut link = [0; LINK_BYTES];
        link.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        link
    }
}

/// Goes through the stored events of one run, in order, and hands out those that are what was written.
pub struct Walk<'a> {
    chain: &'a Chain,
    run: Str,
    link: Link,
    seq: u32,
    line: (u32, Link),
}

impl<'a> Walk<'a> {
    /// Begins after event `after`, whose link is `before`. `line` is what the run's own line says: up to where its log
    /// goes at least, and the link of that event.
    pub fn new(chain: &'a Chain, run: &str, after: u32, before: Link, line: (u32, Link)) -> Self {
        Self { chain, run: run.into(), link: before, seq: after, line }
    }

    /// The next event, from its number, its link and its text as they are stored.
    pub fn take(&mut self, seq: u32, said: Link, text: &str) -> Result<Record, JournalError> {
        let (last, head) = self.line;
        let link = self.chain.link(&self.link, text);
        if seq != self.seq + 1 {
            return Err(self.missing());
        }
        if said != link {
            return Err(self.damaged("it is not what was written"));
        }
        let record: Record = serde_json::from_str(text).map_err(|e| self.damaged(&e.to_string()))?;
        if record.seq != seq {
            return Err(self.damaged("it says that it is another event"));
        }
        if seq == last && link != head {
            return Err(self.damaged("the run's own line has another event there"));
        }
        (self.seq, self.link) = (seq, link);
        Ok(record)
    }

    /// The number of the event that was handed out last.
    pub fn seq(&self) -> u32 {
        self.seq
    }

    /// Once there is nothing more: whether that is all there should be.
    pub fn end(&self) -> Result<(), JournalError> {
        if self.seq < self.line.0 { Err(self.missing()) } else { Ok(()) }
    }

    /// Says what is wrong with the next event.
    pub fn damaged(&self, why: &str) -> JournalError {
        JournalError::Damaged { run: self.run.clone(), seq: self.seq + 1, why: why.into() }
    }

    fn missing(&self) -> JournalError {
        self.damaged("it is missing")
    }
}
