//! The vocabulary of the case files, as it is written there.

use serde::Deserialize;
use serde_json::Value;

/// One event with its number.
#[derive(Debug, Clone, Deserialize)]
pub struct Told {
    /// From 1.
    pub n: u32,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// The vocabulary of the cases. Unknown fields are ignored; unknown names are refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub enum What {
    RunStarted {
        #[serde(default)]
        mode: String,
        #[serde(default)]
        policy: CasePolicy,
    },
    ModelReply {
        #[serde(default)]
        agent: String,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        finish: Option<String>,
        #[serde(default)]
        parts: Vec<String>,
    },
    ToolCall {
        #[serde(default)]
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        agent: String,
        #[serde(default)]
        effect: Option<String>,
        #[serde(default)]
        step: Option<String>,
        #[serde(default)]
        scope: Option<String>,
        #[serde(default)]
        reads: Option<String>,
    },
    ToolResult {
        #[serde(default)]
        id: String,
        #[serde(default)]
        outcome: String,
        #[serde(default)]
        size: u64,
        #[serde(default)]
        truncated: bool,
        #[serde(default)]
        marker: Option<bool>,
        #[serde(default)]
        of: Option<String>,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        full_ref: Option<String>,
    },
    BackgroundStarted {
        #[serde(default)]
        id: String,
        #[serde(default)]
        call: Option<String>,
        #[serde(default)]
        owner: Option<String>,
        #[serde(default)]
        what: Option<String>,
    },
    BackgroundFinished {
        #[serde(default)]
        id: String,
        #[serde(default)]
        outcome: String,
    },
    SubAgentStarted {
        #[serde(default)]
        id: String,
        #[serde(default)]
        agent: String,
        #[serde(default)]
        parent: Option<String>,
        #[serde(default)]
        call: Option<String>,
    },
    SubAgentReply {
        #[serde(default)]
        id: String,
        #[serde(default)]
        agent: String,
        #[serde(default)]
        outcome: String,
        #[serde(default)]
        parent: Option<String>,
        #[serde(default)]
        transfer: Option<String>,
        #[serde(default)]
        tools_ok: u32,
        #[serde(default)]
        claims: Value,
        #[serde(default)]
        verdict: Option<String>,
        #[serde(default)]
        criteria: Value,
        #[serde(default)]
        text: Option<String>,
    },
    PlanCreated {
        #[serde(default)]
        by: String,
        #[serde(default)]
        steps: Vec<CaseStep>,
    },
    StepDone {
        #[serde(default)]
        id: String,
        #[serde(default)]
        outcome: Option<String>,
    },
    StepBlocked {
        #[serde(default)]
        id: String,
        #[serde(default)]
        why: Option<String>,
    },
    Replanned {
        #[serde(default)]
        by: String,
        #[serde(default)]
        steps: Vec<CaseStep>,
        #[serde(default)]
        dropped: Vec<Dropped>,
    },
    Transfer {
        #[serde(default)]
        id: String,
        #[serde(default)]
        from: String,
        #[serde(default)]
        to: String,
        #[serde(default)]
        terminal: bool,
    },
    TransferReturned {
        #[serde(default)]
        id: String,
        #[serde(default)]
        outcome: String,
    },
    Reconciled {
        #[serde(default)]
        replies: Vec<String>,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        resolved: Vec<String>,
    },
    ApprovalRequested {
        #[serde(default)]
        id: String,
        #[serde(rename = "for", default)]
        of: String,
    },
    ApprovalGranted {
        #[serde(default)]
        id: String,
    },
    ApprovalDenied {
        #[serde(default)]
        id: String,
        #[serde(default)]
        why: Option<String>,
    },
    Candidate {
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        agent: String,
        #[serde(default)]
        uses: Vec<String>,
        #[serde(default)]
        finish: Option<String>,
        #[serde(default)]
        synthetic: bool,
        #[serde(default)]
        reasoning_only: bool,
        #[serde(default)]
        from: Option<u32>,
    },
    Stopped {
        #[serde(default)]
        cause: String,
    },
    Nudge {
        #[serde(default)]
        by: String,
        #[serde(default)]
        agent: Option<String>,
    },
    Resumed {
        #[serde(default)]
        ok: Option<bool>,
    },
    Crashed {},
    GuardVerdict {
        #[serde(default)]
        by: String,
        #[serde(default)]
        verdict: String,
        #[serde(default)]
        why: Option<String>,
    },
    AskUser {
        #[serde(default)]
        id: String,
    },
    UserAnswered {
        #[serde(default)]
        id: String,
    },
    CancelRequested {
        #[serde(default)]
        by: String,
    },
    Edited {
        #[serde(default)]
        by: String,
    },
    Streamed {},
    ClientLeft {},
    ClientBack {},
}

/// The policy keys of the cases.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub struct CasePolicy {
    pub evidence: Option<Value>,
    pub checks: Option<Value>,
    pub nudges: Option<u32>,
    pub retries: Option<u32>,
    pub deliverable: Option<String>,
    pub terminal_transfer: Option<bool>,
    pub max_depth: Option<u32>,
    pub max_transfers: Option<u32>,
    pub max_replans: Option<u32>,
    pub output_limit: Option<u32>,
}

/// A step of a plan.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub struct CaseStep {
    pub id: String,
    #[serde(default)]
    pub needs: Vec<String>,
}

/// A step that a replan gave up.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs, reason = "the vocabulary is documented where it is defined, beside the cases")]
pub struct Dropped {
    pub id: String,
    #[serde(default)]
    pub why: String,
}
