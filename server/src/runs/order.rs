//! What is asked of a run before it begins, and who carries it out.

use crate::problem::Problem;
use crate::tighten::ClientPolicy;
use countersign::journal::projection::RunSummary;
use countersign::request::IMAGES_MAX;
use countersign::{Gate, Image, ImageError, Runner, Str};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Longest task, in bytes.
const TASK_MAX: usize = 256 * 1024;

/// A task, and how it is to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What is to be done.
    pub task: String,
    /// The profile that carries it out, by name.
    pub profile: Option<String>,
    /// Or the first profile of this mode.
    pub mode: Option<String>,
    /// The conversation to which it belongs.
    pub conversation: Option<Str>,
    /// The message that it fills.
    pub message: Option<Str>,
    /// What is asked of the policy beyond what the server asks.
    pub policy: Option<ClientPolicy>,
    /// Images that come with the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

impl Order {
    /// Whether there is something to do that can be told.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.task.trim().is_empty() {
            return Err(Problem::Refused("`task` is blank; say what is to be done".to_owned()));
        }
        if self.task.len() > TASK_MAX {
            return Err(Problem::Refused(format!(
                "`task` has {} bytes, and may have {TASK_MAX}; put the rest where a tool can read it",
                self.task.len()
            )));
        }
        if self.images.len() > IMAGES_MAX {
            return Err(Problem::Refused(ImageError::Many(self.images.len()).to_string()));
        }
        Ok(())
    }

    /// A task for whoever comes first.
    pub fn task(task: impl Into<String>) -> Self {
        Self { task: task.into(), ..Self::default() }
    }
}

/// Runners by name, in the order in which they were given. The first is asked where nobody is named.
#[derive(Clone, Default)]
pub struct Profiles(Vec<(Str, Runner)>);

impl Profiles {
    pub(crate) fn add(&mut self, name: &str, runner: Runner) {
        self.0.push((name.into(), runner));
    }

    /// Their names and modes.
    pub fn names(&self) -> impl Iterator<Item = (&Str, &Str)> {
        self.0.iter().map(|(name, runner)| (name, runner.mode()))
    }

    /// The gate of a profile; without a name, one with the built-in checks.
    pub(crate) fn gate(&self, name: Option<&str>) -> Result<Arc<Gate>, Problem> {
        let Some(name) = name else { return Ok(Arc::default()) };
        let found = self.0.iter().find(|(profile, _)| **profile == *name).map(|(_, runner)| runner.gate().clone());
        found.ok_or_else(|| Problem::Refused(format!("there is no profile `{name}`; there are: {}", self.known())))
    }

    /// Who carries an order out.
    pub(super) fn choose(&self, order: &Order) -> Result<(&Str, &Runner), Problem> {
        order.check()?;
        let fits = |(name, runner): &&(Str, Runner)| {
            order.profile.as_deref().is_none_or(|wanted| wanted == &**name) && order.mode.as_deref().is_none_or(|wanted| wanted == &**runner.mode())
        };
        let found = self.0.iter().find(fits).map(|(name, runner)| (name, runner));
        found.ok_or_else(|| Problem::Refused(format!("{}; there are: {}", self.nobody(order), self.known())))
    }

    /// Who began a run, or, where that was not said, whoever works in its mode.
    pub(super) fn of(&self, run: &RunSummary) -> Result<&Runner, Problem> {
        let named = run.profile.as_ref().and_then(|profile| self.0.iter().find(|(name, _)| name == profile));
        let found = named.or_else(|| self.0.iter().find(|(_, runner)| *runner.mode() == run.mode));
        let nobody = || {
            Problem::Conflict(format!("run `{}` was begun in mode `{}`, and nobody here works in it; there are: {}", run.run, run.mode, self.known()))
        };
        found.map(|(_, runner)| runner).ok_or_else(nobody)
    }

    fn nobody(&self, order: &Order) -> String {
        match (&order.profile, &order.mode) {
            (Some(profile), Some(mode)) => format!("no profile `{profile}` works in mode `{mode}`"),
            (Some(profile), None) => format!("there is no profile `{profile}`"),
            (None, Some(mode)) => format!("nobody works in mode `{mode}`"),
            (None, None) => "there is nobody to carry it out".to_owned(),
        }
    }

    fn known(&self) -> String {
        self.names().map(|(name, mode)| format!("`{name}` ({mode})")).collect::<Vec<_>>().join(", ")
    }
}
