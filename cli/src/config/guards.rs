//! Who looks at an answer before it goes out.

use super::Wrong;
use countersign::{Guard, GuardPlugin};
use countersign_connect::guard::phrases::NoPattern;
use countersign_connect::guard::{Phrases, ProgramGuard};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;

/// A guard: patterns, or a program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardConfig {
    /// Its name, in the log.
    pub name: Spanned<String>,
    /// Patterns, each of which an answer has to match somewhere.
    #[serde(default)]
    pub require: Vec<Spanned<String>>,
    /// Patterns, none of which an answer may match.
    #[serde(default)]
    pub forbid: Vec<Spanned<String>>,
    /// What the agent is told where it does not; the patterns themselves where this is left out.
    #[serde(default)]
    pub nudge: Option<Spanned<String>>,
    /// A program and its arguments, instead of patterns. There is no shell.
    #[serde(default)]
    pub command: Option<Spanned<Vec<String>>>,
    /// Where the program stands.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Variables that it is given from this environment, beside `PATH`.
    #[serde(default)]
    pub keep_env: Vec<String>,
    /// How long it may take.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// How often it may ask for a second look; 0 stands for 2. The run's allowance stands above.
    #[serde(default)]
    pub max_nudges: u32,
}

/// A file in which guards are described.
pub(super) struct Described<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Described<'_> {
    fn wrong(&self, at: &Spanned<impl Sized>, message: String) -> Wrong {
        Wrong::at(self.file, self.text, at.span(), message)
    }

    /// The guards, ready to be asked.
    pub(super) fn guards(&self, all: &[GuardConfig]) -> Result<Vec<GuardPlugin>, Wrong> {
        let one = |(at, said): (usize, &GuardConfig)| {
            let name = said.name.get_ref();
            if name.trim().is_empty() {
                return Err(self.wrong(&said.name, "a guard has a name, which stands in the log".to_owned()));
            }
            if all.iter().take(at).any(|other| other.name.get_ref() == name) {
                return Err(self.wrong(&said.name, format!("two guards are called `{name}`; rename one")));
            }
            Ok(GuardPlugin { guard: Some(self.guard(said)?), max_nudges: said.max_nudges })
        };
        all.iter().enumerate().map(one).collect()
    }

    fn guard(&self, said: &GuardConfig) -> Result<Arc<dyn Guard>, Wrong> {
        let patterns = !said.require.is_empty() || !said.forbid.is_empty();
        match (patterns, &said.command) {
            (true, None) => Ok(Arc::new(self.phrases(said)?)),
            (false, Some(command)) => Ok(Arc::new(self.program(said, command)?)),
            _ => {
                let name = said.name.get_ref();
                Err(self.wrong(&said.name, format!("guard `{name}` has either patterns, in `require` and `forbid`, or a `command`")))
            }
        }
    }

    fn phrases(&self, said: &GuardConfig) -> Result<Phrases, Wrong> {
        if said.folder.is_some() || !said.keep_env.is_empty() || said.timeout_ms.is_some() {
            return Err(self.wrong(&said.name, "`folder`, `keep_env` and `timeout_ms` are for a guard with a `command`".to_owned()));
        }
        let at = |pattern: &Spanned<String>, why: NoPattern| self.wrong(pattern, why.to_string());
        let mut guard = Phrases::new(said.name.get_ref());
        for pattern in &said.require {
            guard = guard.require(pattern.get_ref()).map_err(|why| at(pattern, why))?;
        }
        for pattern in &said.forbid {
            guard = guard.forbid(pattern.get_ref()).map_err(|why| at(pattern, why))?;
        }
        Ok(said.nudge.iter().fold(guard, |guard, text| guard.nudge(text.get_ref())))
    }

    fn program(&self, said: &GuardConfig, command: &Spanned<Vec<String>>) -> Result<ProgramGuard, Wrong> {
        if let Some(nudge) = &said.nudge {
            return Err(self.wrong(nudge, "what the agent is told is the program's to say; `nudge` is for patterns".to_owned()));
        }
        let argv = command.get_ref();
        match argv.first() {
            None => return Err(self.wrong(command, "name a program, and its arguments behind it".to_owned())),
            Some(program) if !is_there(program, said.folder.as_deref()) => {
                return Err(self.wrong(command, format!("there is no program `{program}`")));
            }
            Some(_) => {}
        }
        let keep: Vec<&str> = said.keep_env.iter().map(String::as_str).collect();
        let guard = ProgramGuard::new(said.name.get_ref(), argv.clone()).keep_env(&keep);
        let guard = said.folder.iter().fold(guard, |guard, folder| guard.folder(folder.clone()));
        Ok(said.timeout_ms.iter().fold(guard, |guard, ms| guard.timeout(Duration::from_millis(*ms))))
    }
}

/// Whether a program is found: by its path, from where it stands, or in one of the folders of `PATH`.
fn is_there(program: &str, folder: Option<&Path>) -> bool {
    if program.contains('/') {
        return folder.unwrap_or(Path::new(".")).join(program).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
