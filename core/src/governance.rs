//! Attestations that a run owes. A profile is data: a team writes its own.

use crate::node::Str;
use serde::{Deserialize, Serialize};

/// A named list of rules, each met by one attestation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Governance {
    /// The name of the profile.
    pub name: Str,
    /// Its rules.
    pub rules: Vec<Rule>,
}

/// One thing that must be attested before a run may be final.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name by which an attestation meets it.
    pub id: Str,
    /// What must hold, in a sentence.
    pub text: Str,
    /// What the attestation must point at.
    pub refs: RefsRule,
    /// Whether saying why not is enough.
    #[serde(default)]
    pub waivable: bool,
}

/// What an attestation must point at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefsRule {
    /// Nothing: the statement is enough.
    None,
    /// At least one node, each of which exists and is completed.
    Completed,
    /// At least one completed run of an evidence-counting tool: something was executed, not asserted.
    Executed,
    /// At least one recorded fact (`record`), completed evidence, or another attestation.
    Recorded,
}

impl Governance {
    /// The rules of an authorised security test.
    pub fn security_testing() -> Self {
        let rule = |id: &str, text: &str, refs, waivable| Rule { id: id.into(), text: text.into(), refs, waivable };
        Self {
            name: "security_testing".into(),
            rules: vec![
                rule("scope", "the target and the authorised scope are stated", RefsRule::None, false),
                rule("evidence", "the evidence can be reviewed: it is referred to, not described", RefsRule::Completed, false),
                rule("impact", "impact or identity was validated by something executed, not by a marker string", RefsRule::Executed, false),
                rule("findings", "the findings are recorded, or it is said that no store is bound", RefsRule::Recorded, true),
                rule("cleanup", "what was changed is cleaned up, rolled back or cancelled, or it is said why not", RefsRule::Completed, true),
                rule("nothing_running", "nothing is left running unsaid", RefsRule::None, false),
            ],
        }
    }
}
