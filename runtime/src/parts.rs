//! What every run of a runner shares.

use crate::guard::GuardPlugin;
use crate::hooks::Hooks;
use crate::journal::Journal;
use crate::model::Model;
use crate::tool::Tool;
use countersign_core::{Gate, ModeRules, Policy, Str};
use countersign_modes::{Agents, Mode};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where the time comes from: milliseconds since the Unix epoch.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What every run of a runner shares.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) mode: Arc<dyn Mode>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) agents: Agents,
    pub(crate) policy: Policy,
    pub(crate) policy_digest: Str,
    pub(crate) rules: ModeRules,
    pub(crate) name: Str,
    pub(crate) gate: Arc<Gate>,
    pub(crate) tools: FxHashMap<Str, Arc<dyn Tool>>,
    pub(crate) guards: Vec<GuardPlugin>,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) clock: Clock,
}
