//! How a run begins.

use super::{CheckName, History, ImageRef};
use crate::node::Str;
use crate::policy::{ModeRules, Policy};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Everything needed to rule on the log years later.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RunStarted {
    /// The event vocabulary in use; see [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// The gate in use; see [`crate::gate::GATE_VERSION`].
    pub gate: u32,
    /// The run.
    pub run: Str,
    /// The conversation to which it belongs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation: Option<Str>,
    /// What was said there before; left out where nothing was, so that such a log reads as it always did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub history: Option<Arc<History>>,
    /// The message that it fills.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<Str>,
    /// To whom it belongs, where somebody keeps people apart. A label: nothing rules by it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<Str>,
    /// The runner that began it, by a name, where there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub profile: Option<Str>,
    /// What the user asked for.
    pub task: Str,
    /// Images that came with it; left out where none did.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub images: Vec<ImageRef>,
    /// The mode.
    pub mode: Str,
    /// The version of the mode.
    pub mode_version: u32,
    /// What the mode fixes.
    pub rules: ModeRules,
    /// What the caller requires.
    pub policy: Policy,
    /// Digest of that policy; blank where it is to be made.
    #[serde(default)]
    pub policy_digest: Str,
    /// The checks that rule.
    pub checks: Arc<[CheckName]>,
    /// The run whose beginning this one shares, where it was forked from one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forked: Option<Forked>,
}

/// Where a run was forked from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Forked {
    /// The older run.
    pub run: Str,
    /// Its last event that the new one shares.
    pub seq: u32,
}

impl RunStarted {
    /// What a caller says of a run. Schema, gate, checks and digest are filled in by [`crate::Run::start`].
    pub fn new(run: impl Into<Str>, task: impl Into<Str>, mode: impl Into<Str>, rules: ModeRules, policy: Policy) -> Self {
        Self {
            schema: 0,
            gate: 0,
            run: run.into(),
            conversation: None,
            history: None,
            message: None,
            owner: None,
            profile: None,
            task: task.into(),
            images: Vec::new(),
            mode: mode.into(),
            mode_version: 1,
            rules,
            policy,
            policy_digest: Str::default(),
            checks: Arc::default(),
            forked: None,
        }
    }
}
