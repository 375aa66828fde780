//! Plans, reports, and what becomes of results.

use crate::node::{NodeId, Str};
use serde::{Deserialize, Serialize};

/// One step of a plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StepSpec {
    /// Its name within the plan.
    pub id: Str,
    /// What is to be done.
    #[serde(default)]
    pub text: Str,
    /// Steps that must be done before it.
    #[serde(default)]
    pub needs: Vec<Str>,
}

/// One fact that a sub-agent claims. Two results whose claims share a key and differ are a conflict.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// What it is about.
    pub key: Str,
    /// What is claimed.
    pub value: Str,
    /// From 0 to 100, where the claimant says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<u8>,
}

/// What a sub-agent hands over beside its text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Facts claimed.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// A verdict, where the work was a review.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// Criteria of that verdict, and whether each is met.
    #[serde(default)]
    pub criteria: Vec<(Str, bool)>,
    /// Files or other things that it made.
    #[serde(default)]
    pub artefacts: Vec<Str>,
    /// Evidence that it names, in its own words.
    #[serde(default)]
    pub evidence: Vec<Str>,
    /// Evidence-counting calls that completed inside it, as a foreign runtime tells it. Ours are in the log.
    #[serde(default)]
    pub executed: u32,
}

/// What a review came to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every criterion is met.
    Approved,
    /// At least one is not.
    Rejected,
}

/// What a synthesis did with one result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposed {
    /// Used.
    Adopted,
    /// Not used.
    Rejected,
    /// Says the same as another.
    Duplicate,
    /// Overtaken by another.
    Superseded,
    /// Left open, and said so.
    Unresolved,
}

/// A result with what the synthesis did with it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Disposition {
    /// The result node.
    pub result: NodeId,
    /// What was done with it.
    pub disposition: Disposed,
    /// Why. Needed where it is not adopted.
    #[serde(default)]
    pub why: Str,
}

/// A disagreement settled by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Resolution {
    /// The key on which results disagreed; `verdict:<result>` for a verdict against its own criteria.
    pub key: Str,
    /// How it was settled, and why.
    #[serde(default)]
    pub why: Str,
}
