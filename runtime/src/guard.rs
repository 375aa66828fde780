//! Finish guards: user code consulted on a normal finish only, that may ask for a bounded second look.

use std::sync::Arc;

/// How many nudges a guard has where it does not say.
pub const DEFAULT_MAX_NUDGES: u32 = 2;

/// Looks at a finish, after the gate has found nothing else missing.
pub trait Guard: Send + Sync {
    /// Its name, in the log.
    fn name(&self) -> &str {
        "guard"
    }

    /// Whether the finish may stand.
    fn check(&self, state: &GuardState<'_>) -> GuardSaid;
}

/// What a guard sees.
#[derive(Clone, Copy, Debug)]
pub struct GuardState<'a> {
    /// The text that would become the answer.
    pub final_text: &'a str,
    /// Model replies so far, in the whole run.
    pub turns: u32,
    /// Tools that were called, and whether they were allowed to run.
    pub tools: &'a [ToolUse],
    /// Nudges that this guard has had.
    pub nudges: u32,
}

/// One call, as a guard sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// The tool.
    pub name: countersign_core::Str,
    /// False where it was denied or refused.
    pub allowed: bool,
}

/// What a guard says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardSaid {
    /// The finish may stand.
    Accept,
    /// Look again; the text is told to the agent and never shown to the user. A blank one accepts.
    Nudge(String),
    /// End the run, for a reason.
    Stop(String),
}

/// A guard and its cap, as it is plugged in.
#[derive(Clone, Default)]
pub struct GuardPlugin {
    /// The guard; without one the plugin is inert.
    pub guard: Option<Arc<dyn Guard>>,
    /// How often it may ask for a second look; 0 means [`DEFAULT_MAX_NUDGES`]. The run's allowance stands above.
    pub max_nudges: u32,
}

impl GuardPlugin {
    /// A guard with the default cap.
    pub fn new(guard: impl Guard + 'static) -> Self {
        Self { guard: Some(Arc::new(guard)), max_nudges: 0 }
    }

    /// The cap in force.
    pub fn cap(&self) -> u32 {
        if self.max_nudges == 0 { DEFAULT_MAX_NUDGES } else { self.max_nudges }
    }
}
