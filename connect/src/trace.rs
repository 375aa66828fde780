//! Reads what agents of other frameworks wrote, and has the gate rule on it.
//!
//! ```text
//! file ──▶ source ──▶ importer ──▶ tale ──▶ witness ──▶ gate ──▶ verdict
//!          (lines,    (a format,   (facts    (events)            (findings,
//!           faults)    a file)      in place)                     with their lines)
//! ```
//!
//! An importer is a [`Trace`]: it tells facts, with the line of each, in the words of the format. It judges nothing.
//! What a format cannot tell is not told. The rules are the gate's checks, and those of [`check`] beside them, which
//! see a ledger and nothing else.
//!
//! ```
//! use countersign_connect::trace::{Audit, Source};
//!
//! let chat = r#"{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}"#;
//! let report = Audit::new(Default::default()).read("sum", Source::of(chat.as_bytes())?)?;
//! assert!(report.verdicts[0].is_final());
//! # Ok::<(), countersign_connect::trace::SourceError>(())
//! ```

pub mod check;
pub mod document;

mod atif;
mod audit;
mod chat;
mod claude_code;
mod codex;
mod cursor;
mod head;
mod lenient;
mod mend;
mod openai_agents;
mod openhands;
mod otlp;
mod outcome;
mod source;
mod speakers;
mod speech;
mod stock;
mod sub_agents;
mod swe_agent;
mod tale;
mod tau2;
mod tool;
mod unknown;
mod verdict;

pub use atif::Atif;
pub use audit::{Audit, Report, Told};
pub use chat::Chat;
pub use claude_code::{ClaudeCode, session_of};
pub use codex::Codex;
pub use cursor::Cursor;
pub use head::Head;
pub use openai_agents::OpenAiAgents;
pub use openhands::OpenHands;
pub use otlp::Otlp;
pub use source::{Fault, Source, SourceError};
pub use speakers::Speakers;
pub use swe_agent::SweAgent;
pub use tale::{OWNER, Place, Tale};
pub use tau2::Tau2;
pub use tool::declared;
pub use verdict::{Looks, UNPLACED_MAX, Verdict};

use std::path::{Path, PathBuf};

/// A format of traces.
pub trait Trace: Send + Sync {
    /// Its name, in reports.
    fn name(&self) -> &'static str;

    /// Whether this source is of the format, told from its content.
    fn recognises(&self, head: &Head) -> bool;

    /// Tells every trace in the source. What cannot be read is a fault; the rest is told.
    fn read(&self, source: &mut Source, told: &mut Told<'_>) -> Result<(), SourceError>;

    /// Files beside a trace's own that hold the transcripts of its sub-agents. Most formats have none.
    fn sub_agents(&self, _trace: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Every format that is read, in the order in which they are tried: those that say the most of themselves first.
pub fn formats() -> Vec<Box<dyn Trace>> {
    vec![
        Box::new(Atif),
        Box::new(Otlp),
        Box::new(ClaudeCode),
        Box::new(Codex),
        Box::new(Cursor),
        Box::new(SweAgent),
        Box::new(OpenHands),
        Box::new(OpenAiAgents),
        Box::new(Tau2),
        Box::new(Speakers),
        Box::new(Chat),
    ]
}
