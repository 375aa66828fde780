//! Where a trace is read from: a file or a stream, as lines or as one document.
//!
//! Only the head is held in memory until a format has been found. A format that is line JSON is then read line
//! by line, however long the file is.

use super::head::Head;
use super::mend::{mend, within_line};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Bytes from which a format is told.
const HEAD_BYTES: usize = 256 * 1024;
/// The longest line, and the longest document, that is read: 1 GiB.
const WHOLE_BYTES_MAX: u64 = 1 << 30;

/// Something in a source that could not be read. The rest was.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Fault {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub why: String,
}

/// A source that cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file or stream failed.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is JSON that breaks off or breaks the rules.
    #[error("line {line}: this is not JSON: {why}")]
    Broken {
        /// The line, from 1.
        line: u32,
        /// What the parser says.
        why: String,
    },
    /// It is longer than anything that is read whole.
    #[error("it is one document of more than {WHOLE_BYTES_MAX} bytes: divide it")]
    TooLong,
    /// No importer knows it.
    #[error("this is {what}, which is not read: {hint}")]
    Unknown {
        /// What it seems to be.
        what: &'static str,
        /// What can be done.
        hint: &'static str,
    },
    /// The ledger refused to begin.
    #[error("it cannot be told: {0}")]
    Told(#[from] countersign_core::AppendError),
}

impl SourceError {
    pub(super) fn broken(why: &serde_json::Error) -> Self {
        Self::Broken { line: u32::try_from(why.line()).unwrap_or(u32::MAX), why: within_line(why) }
    }
}

/// A trace that is about to be read.
pub struct Source {
    head: Head,
    start: Vec<u8>,
    rest: Box<dyn BufRead>,
    whole: Option<String>,
}

impl Source {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Self::of(File::open(path)?)
    }

    /// Reads from a stream.
    pub fn of(stream: impl Read + 'static) -> Result<Self, SourceError> {
        let mut rest: Box<dyn BufRead> = Box::new(BufReader::with_capacity(HEAD_BYTES, stream));
        let mut start = Vec::new();
        rest.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut start)?;
        if start.len() == HEAD_BYTES {
            // The head ends with a line, so that its last one can be looked at too.
            rest.by_ref().take(WHOLE_BYTES_MAX).read_until(b'\n', &mut start)?;
        }
        if start.starts_with(b"\xef\xbb\xbf") {
            start.drain(..3);
        }
        Ok(Self { head: Head::of_lines(&start), start, rest, whole: None })
    }

    /// What it looks like.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Reads it whole, where it is one document, so that its head shows what is in it. An escape that is not JSON
    /// is mended, and returned as a fault.
    pub(super) fn settle(&mut self) -> Result<Vec<Fault>, SourceError> {
        if self.head.is_lines() || self.start.starts_with(b"PK") || self.start.is_empty() {
            return Ok(Vec::new());
        }
        let mut bytes = std::mem::take(&mut self.start);
        self.rest.by_ref().take(WHOLE_BYTES_MAX).read_to_end(&mut bytes)?;
        if bytes.len() as u64 >= WHOLE_BYTES_MAX {
            return Err(SourceError::TooLong);
        }
        let mut text = String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        let faults = mend(&mut text)?;
        self.head = Head::of_document(&text);
        self.whole = Some(text);
        Ok(faults)
    }

    /// Takes a document that is one line for the only line of its kind.
    pub(super) fn as_line(&mut self) -> bool {
        let Some(text) = self.whole.take_if(|text| !text.trim().contains('\n')) else { return false };
        let record = serde_json::from_str::<serde_json::Value>(&text).ok().filter(serde_json::Value::is_object);
        self.head = Head::Lines(record.into_iter().collect());
        self.start = text.into_bytes();
        true
    }

    /// The whole document.
    pub fn document(&self) -> &str {
        self.whole.as_deref().unwrap_or_default()
    }

    /// Hands over each line that is not blank, with its number from 1. What `each` cannot read is a fault, and the
    /// next line is read all the same.
    pub fn each_line(&mut self, mut each: impl FnMut(u32, &str) -> Result<(), serde_json::Error>) -> Result<Vec<Fault>, SourceError> {
        let mut faults = Vec::new();
        let mut text = Vec::new();
        let start = std::mem::take(&mut self.start);
        let mut lines = Cursor::new(start).chain(&mut self.rest);
        for line in 1.. {
            text.clear();
            if lines.by_ref().take(WHOLE_BYTES_MAX).read_until(b'\n', &mut text)? == 0 {
                break;
            }
            let said = match std::str::from_utf8(&text) {
                Ok(said) => std::borrow::Cow::Borrowed(said.trim()),
                Err(why) => {
                    faults.push(Fault { line, why: why.to_string() });
                    String::from_utf8_lossy(&text)
                }
            };
            if said.trim().is_empty() {
                continue;
            }
            if let Err(why) = each(line, &said) {
                faults.push(Fault { line, why: within_line(&why) });
            }
        }
        Ok(faults)
    }
}
