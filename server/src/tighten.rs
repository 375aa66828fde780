//! What a client may ask of the policy: more than the server asks, never less.

use crate::extract::whole;
use crate::problem::Problem;
use countersign::{Governance, Limits, OnCapSpent, Policy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a client asks of the policy. Every field may only tighten; what it leaves out stays as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientPolicy {
    /// The answer has to rest on completed work.
    pub require_execution_evidence: Option<bool>,
    /// A check must have been run last and have passed.
    pub require_checks: Option<bool>,
    /// No write may follow the last good check.
    pub require_fresh_evidence: Option<bool>,
    /// A governance profile: `security_testing`.
    pub governance: Option<String>,
    /// Model replies in the whole run, at most.
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    #[serde(default, deserialize_with = "whole")]
    pub turns: Option<u32>,
    /// Tool calls in the whole run, at most.
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    #[serde(default, deserialize_with = "whole")]
    pub tool_calls: Option<u32>,
    /// Continuations, at most.
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    #[serde(default, deserialize_with = "whole")]
    pub continuations: Option<u32>,
    /// Milliseconds until the run has failed.
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    #[serde(default, deserialize_with = "whole")]
    pub deadline_ms: Option<u64>,
    /// Tokens in and out, at most.
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    #[serde(default, deserialize_with = "whole")]
    pub tokens: Option<u64>,
}

impl ClientPolicy {
    /// The server's policy, tightened. What would loosen it is refused by name.
    pub fn tighten(&self, server: &Policy) -> Result<Policy, Problem> {
        let mut policy = server.clone();
        demand("requireExecutionEvidence", &mut policy.require_execution_evidence, self.require_execution_evidence)?;
        demand("requireChecks", &mut policy.require_checks, self.require_checks)?;
        demand("requireFreshEvidence", &mut policy.require_fresh_evidence, self.require_fresh_evidence)?;
        if self.require_execution_evidence == Some(true) {
            // Evidence that was asked for by name is not waived once the allowance is spent.
            policy.on_cap_spent = OnCapSpent::Block;
        }
        if let Some(name) = &self.governance {
            policy.governance = Some(governance(name, &policy)?);
        }
        let Limits { turns, tool_calls, continuations, deadline_ms, tokens, .. } = &mut policy.limits;
        lower("turns", turns, self.turns)?;
        lower("toolCalls", tool_calls, self.tool_calls)?;
        lower("continuations", continuations, self.continuations)?;
        lower("deadlineMs", deadline_ms, self.deadline_ms)?;
        lower("tokens", tokens, self.tokens)?;
        Ok(policy)
    }
}

fn demand(name: &str, server: &mut bool, client: Option<bool>) -> Result<(), Problem> {
    match client {
        Some(false) if *server => Err(Problem::Refused(format!("`{name}: false` would loosen the server's policy; leave it out"))),
        Some(true) => {
            *server = true;
            Ok(())
        }
        Some(false) | None => Ok(()),
    }
}

fn lower<T: Copy + PartialOrd + std::fmt::Display>(name: &str, server: &mut T, client: Option<T>) -> Result<(), Problem> {
    match client {
        Some(limit) if limit > *server => {
            Err(Problem::Refused(format!("`{name}: {limit}` is more than the server allows, which is {server}; ask for less or leave it out")))
        }
        Some(limit) => {
            *server = limit;
            Ok(())
        }
        None => Ok(()),
    }
}

fn governance(name: &str, server: &Policy) -> Result<Governance, Problem> {
    let asked = Policy::profile(name).ok().and_then(|policy| policy.governance);
    let asked = asked.ok_or_else(|| Problem::Refused(format!("there is no governance profile `{name}`; there is `security_testing`")))?;
    match &server.governance {
        Some(own) if *own != asked => Err(Problem::Refused(format!("`governance: {name}` would replace the server's own profile; leave it out"))),
        _ => Ok(asked),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_tighten_and_never_loosen() {
        let server = Policy::execution();
        let loosens = ClientPolicy { require_execution_evidence: Some(false), ..ClientPolicy::default() };
        assert!(loosens.tighten(&server).unwrap_err().to_string().contains("`requireExecutionEvidence: false`"));
        let more = ClientPolicy { turns: Some(server.limits.turns + 1), ..ClientPolicy::default() };
        assert!(more.tighten(&server).unwrap_err().to_string().contains("`turns: 201`"));
        let less = ClientPolicy { turns: Some(3), require_checks: Some(true), ..ClientPolicy::default() };
        let tight = less.tighten(&server).unwrap();
        assert_eq!((tight.limits.turns, tight.require_checks, tight.require_execution_evidence), (3, true, true));
        assert_eq!(ClientPolicy::default().tighten(&server).unwrap(), server);
    }

    #[test]
    fn evidence_that_was_asked_for_is_not_waived() {
        let server = Policy { on_cap_spent: OnCapSpent::Deliver, ..Policy::conversation() };
        let asks = ClientPolicy { require_execution_evidence: Some(true), ..ClientPolicy::default() };
        assert_eq!(asks.tighten(&server).unwrap().on_cap_spent, OnCapSpent::Block);
    }
}
