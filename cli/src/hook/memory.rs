//! What was said in which session: nothing is said twice, and not for ever.

use super::ruling::Missing;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;

/// Most times that one session is held up.
pub const BLOCKS_MAX: u32 = 5;

/// What is kept of one session.
#[derive(Default, Serialize, Deserialize)]
struct Said {
    blocks: u32,
    findings: Vec<u64>,
}

/// The memory of one session.
pub(super) struct Memory {
    file: PathBuf,
    said: Said,
}

impl Memory {
    /// Opens it. A session that is not known yet has an empty one; one that cannot be read is an error, since it could
    /// not be counted on.
    pub(super) fn of(folder: Option<PathBuf>, session: &str) -> io::Result<Self> {
        let folder = folder.or_else(state_folder).ok_or_else(|| io::Error::other("there is no folder for it"))?;
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{:016x}.json", hash(&session)));
        let said = match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(why) if why.kind() == io::ErrorKind::NotFound => Said::default(),
            Err(why) => return Err(why),
        };
        Ok(Self { file, said })
    }

    /// Findings that were not said before, noted as said now. None, where the session was held up often enough.
    pub(super) fn new_among(&mut self, findings: &[Missing]) -> io::Result<Vec<Missing>> {
        let key = |m: &Missing| hash(&(&m.check, &m.lines));
        let new: Vec<Missing> = findings.iter().filter(|m| !self.said.findings.contains(&key(m))).cloned().collect();
        if new.is_empty() || self.said.blocks >= BLOCKS_MAX {
            return Ok(Vec::new());
        }
        self.said.blocks += 1;
        self.said.findings.extend(new.iter().map(key));
        // Written before it is said: a session of which this fails is not held up.
        super::replace::write(&self.file, &serde_json::to_vec(&self.said)?)?;
        Ok(new)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The user's folder for the state of programs.
fn state_folder() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::home_dir().map(|home| home.join(".local").join("state"));
    state.or_else(home).map(|state| state.join("countersign").join("hook"))
}
