//! What a run requires before it may be final, and its limits. Data, never inferred from prose.

use crate::governance::Governance;
use crate::node::Str;
use serde::{Deserialize, Serialize};

/// Everything a caller decides about finality. Every field has a default; unknown fields are refused.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The answer must rest on at least one completed evidence node.
    pub require_execution_evidence: bool,
    /// A check must have been run last and have passed (opt-in: it refuses many good runs).
    pub require_checks: bool,
    /// No write may follow the last good check (opt-in, as above).
    pub require_fresh_evidence: bool,
    /// How results of sub-agents are reconciled; `None` leaves it to the mode.
    pub reconciliation: Option<Reconciliation>,
    /// What is done about missing evidence while the allowance lasts.
    pub on_missing_evidence: OnMissingEvidence,
    /// What is done once the allowance is spent.
    pub on_cap_spent: OnCapSpent,
    /// What the run is asked to produce.
    pub deliverable: Deliverable,
    /// Whether a transfer declared terminal hands the answer over for good.
    pub terminal_transfers: bool,
    /// What is done about a call whose outcome nobody can tell.
    pub on_lost: OnLost,
    /// What a panicking guard means.
    pub on_guard_panic: OnGuardPanic,
    /// How often a provider error is tried again before it counts.
    pub retries: u32,
    /// Attestations that the run owes.
    pub governance: Option<Governance>,
    /// Limits; none is infinite.
    pub limits: Limits,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            require_execution_evidence: false,
            require_checks: false,
            require_fresh_evidence: false,
            reconciliation: None,
            on_missing_evidence: OnMissingEvidence::Nudge,
            on_cap_spent: OnCapSpent::Block,
            deliverable: Deliverable::Answer,
            terminal_transfers: false,
            on_lost: OnLost::Ask,
            on_guard_panic: OnGuardPanic::Accept,
            retries: 2,
            governance: None,
            limits: Limits::default(),
        }
    }
}

/// How a result of a sub-agent comes to be reconciled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reconciliation {
    /// Every result needs a disposition.
    Explicit,
    /// It is enough that the owner was given it before it concluded.
    Delivered,
}

/// What to do about missing evidence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMissingEvidence {
    /// Tell the agent what is missing.
    Nudge,
    /// Give it another turn and inject nothing.
    Continue,
}

/// What to do when every continuation has been used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCapSpent {
    /// Refuse.
    Block,
    /// Deliver, marked `unverified`; covers missing or failed evidence, governance and guards only.
    Deliver,
}

/// What the run is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliverable {
    /// An answer.
    Answer,
    /// A plan: its open steps do not stand in its way.
    Plan,
}

/// What to do about a call whose process died under it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLost {
    /// Park and ask a person.
    Ask,
    /// Settle it as failed.
    Fail,
    /// Run it again. Only for tools whose repetition is harmless to you.
    Retry,
}

/// What a guard that panics means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnGuardPanic {
    /// The finish is accepted and the panic recorded.
    Accept,
    /// The finish is refused and the panic recorded.
    Refuse,
}

/// Limits of one run. Reaching one is a ruling of its own and never looks like an answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Model replies in the whole run.
    pub turns: u32,
    /// Tool calls in the whole run.
    pub tool_calls: u32,
    /// Bytes of one tool's output that reach a model; the rest is kept and marked as cut.
    pub tool_output_bytes: u32,
    /// Nudges and silent continuations together, whoever asked for them.
    pub continuations: u32,
    /// Revisions of a plan, failed and empty ones included; also how often one agent may end by an output that does not
    /// fit, before it is cut off.
    pub replans: u32,
    /// Steps in one plan.
    pub plan_steps: u32,
    /// Transfers in the whole run.
    pub transfers: u32,
    /// The same transfer, with the same task, in a row.
    pub same_transfers: u32,
    /// Sub-agents below sub-agents.
    pub depth: u32,
    /// Activations at work at the same time.
    pub concurrent_activations: u32,
    /// Tools running at the same time.
    pub concurrent_tools: u32,
    /// The same call with the same arguments and result, in a row, before the model is told.
    pub repeats: u32,
    /// Milliseconds from the start of a segment to its end.
    pub deadline_ms: u64,
    /// Tokens in and out, as the provider counts them.
    pub tokens: u64,
    /// Cost in millionths of the provider's currency unit.
    pub cost_micros: u64,
    /// Events in the log of one run.
    pub events: u32,
    /// Milliseconds that a request for approval stands. One that nobody answered by then is denied when the run
    /// is next taken up. Left out of the JSON while it is the default, so that older policies keep their digest.
    #[serde(skip_serializing_if = "is_approval_default")]
    pub approval_ms: u64,
    /// Earlier runs of its conversation that a run is told of; older ones are left out, and that is said. Left out of
    /// the JSON while it is the default, as above.
    #[serde(skip_serializing_if = "is_history_runs_default")]
    pub history_runs: u32,
    /// Bytes of their tasks and answers together. Left out of the JSON while it is the default, as above.
    #[serde(skip_serializing_if = "is_history_bytes_default")]
    pub history_bytes: u32,
}

/// A week.
const APPROVAL_MS: u64 = 7 * 24 * 60 * 60 * 1000;
const HISTORY_RUNS: u32 = 50;
const HISTORY_BYTES: u32 = 64_000;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_approval_default(ms: &u64) -> bool {
    *ms == APPROVAL_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_history_runs_default(runs: &u32) -> bool {
    *runs == HISTORY_RUNS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_history_bytes_default(bytes: &u32) -> bool {
    *bytes == HISTORY_BYTES
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 200,
            tool_calls: 500,
            tool_output_bytes: 64_000,
            continuations: 2,
            replans: 5,
            plan_steps: 50,
            transfers: 20,
            same_transfers: 3,
            depth: 3,
            concurrent_activations: 8,
            concurrent_tools: 8,
            repeats: 3,
            deadline_ms: 600_000,
            tokens: 2_000_000,
            cost_micros: 10_000_000,
            events: 100_000,
            approval_ms: APPROVAL_MS,
            history_runs: HISTORY_RUNS,
            history_bytes: HISTORY_BYTES,
        }
    }
}

/// A policy text that could not be read, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// Neither a policy in TOML nor in JSON.
    #[error("this is not a policy in {format}: {why}; see `Policy` for the fields and their defaults")]
    Malformed {
        /// `TOML` or `JSON`.
        format: &'static str,
        /// What the parser says, with line and column.
        why: String,
    },
    /// No profile has this name.
    #[error("there is no policy profile `{0}`; the profiles are `conversation`, `execution` and `security_testing`")]
    UnknownProfile(String),
}

impl Policy {
    /// Reads a policy written in TOML.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        toml::from_str(text).map_err(|e| PolicyError::Malformed { format: "TOML", why: e.to_string() })
    }

    /// Reads a policy written in JSON.
    pub fn from_json(text: &str) -> Result<Self, PolicyError> {
        serde_json::from_str(text).map_err(|e| PolicyError::Malformed { format: "JSON", why: e.to_string() })
    }

    /// Text only: no evidence is asked for.
    pub fn conversation() -> Self {
        Self::default()
    }

    /// The answer must rest on work that was done.
    pub fn execution() -> Self {
        Self { require_execution_evidence: true, ..Self::default() }
    }

    /// As `execution`, with the attestations that an authorised security test owes.
    pub fn security_testing() -> Self {
        Self { governance: Some(Governance::security_testing()), ..Self::execution() }
    }

    /// Why no run could ever meet this policy, if that is so.
    pub fn infeasible(&self) -> Option<String> {
        let rules = self.governance.as_ref().map(|g| g.rules.as_slice());
        let twice = |rules: &[crate::governance::Rule]| {
            let again = |(at, rule): (usize, &crate::governance::Rule)| rules.iter().take(at).any(|r| r.id == rule.id).then(|| rule.id.clone());
            rules.iter().enumerate().find_map(again)
        };
        match () {
            () if rules.is_some_and(<[_]>::is_empty) => Some("the governance profile has no rules: nothing could be attested".into()),
            () if self.limits.turns == 0 => Some("`limits.turns` is 0: no model could be asked".into()),
            () if self.require_execution_evidence && self.limits.tool_calls == 0 => Some("evidence is required and `limits.tool_calls` is 0".into()),
            () => rules.and_then(twice).map(|id| format!("the governance profile has two rules `{id}`")),
        }
    }

    /// A built-in profile by name.
    pub fn profile(name: &str) -> Result<Self, PolicyError> {
        match name {
            "conversation" => Ok(Self::conversation()),
            "execution" => Ok(Self::execution()),
            "security_testing" => Ok(Self::security_testing()),
            other => Err(PolicyError::UnknownProfile(other.into())),
        }
    }

    /// A short name for this policy: equal policies have equal digests, on every machine (FNV-1a of its JSON).
    pub fn digest(&self) -> Str {
        let json = serde_json::to_vec(self).unwrap_or_default();
        let hash = json.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
        format!("{hash:016x}").into()
    }
}

/// What a mode fixes for its runs: who may conclude and what must be reconciled. Copied into the log,
/// so that a ruling needs no registry.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ModeRules {
    /// The agent whose words may be the answer.
    pub owner: Str,
    /// The agent whose words may be the answer where the deliverable is a plan.
    pub planner: Option<Str>,
    /// How results are reconciled where the policy does not say.
    pub reconciliation: Reconciliation,
    /// Whether a sub-agent's text, relayed word for word, may be the answer.
    pub relay: Relay,
}

impl ModeRules {
    /// Rules for one concluding agent: results are delivered, relaying is allowed.
    pub fn owner(name: &str) -> Self {
        Self { owner: name.into(), planner: None, reconciliation: Reconciliation::Delivered, relay: Relay::Allowed }
    }

    /// As `owner`, with a disposition for every result.
    pub fn explicit(name: &str) -> Self {
        Self { reconciliation: Reconciliation::Explicit, ..Self::owner(name) }
    }

    /// Who may conclude under a policy.
    pub fn concluder(&self, policy: &Policy) -> &Str {
        match (policy.deliverable, &self.planner) {
            (Deliverable::Plan, Some(planner)) => planner,
            (Deliverable::Plan | Deliverable::Answer, _) => &self.owner,
        }
    }
}

/// Whether a sub-agent's words may be passed on as they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relay {
    /// They may.
    Allowed,
    /// Equal after normalising counts as unreconciled.
    Refused,
}
