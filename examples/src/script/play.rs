//! Tells a scenario to a witness, block by block, and writes down what the gate says.

use super::line::Fact;
use super::{Script, ScriptError};
use crate::cases::{Player, What, is_ruled_on, rules, translate};
use countersign::{Decision, ModeRules, NodeId, OnCapSpent, OnMissingEvidence, Policy, Reason, Reconciliation, Record, Relay};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the gate said.
#[derive(Debug, Default)]
pub struct Said {
    /// One line a block that asks.
    pub lines: Vec<String>,
    /// Finals delivered.
    pub finals: usize,
    /// The rulings behind the lines.
    pub rulings: Vec<Decision>,
    /// Every event told.
    pub log: Vec<Arc<Record>>,
}

/// Plays a scenario.
pub fn play(script: &Script) -> Result<Said, ScriptError> {
    let mut teller = Teller::begin(script)?;
    let mut said = Said::default();
    let mut at = 0;
    for block in &script.blocks {
        for told in &block.facts {
            at += 1;
            let fail = |why: String| ScriptError { line: told.line, why };
            teller.tell(at, &told.fact).map_err(fail)?;
            if let Fact::Event(_) = told.fact
                && teller.is_ruled_on(at)
            {
                said.finals += teller.rule_if_final().map_err(fail)?;
            }
        }
        if block.asked {
            // Asked before it is recorded: the second answer of the block would be `already_final`.
            let decision = teller.asked.take().map_or_else(|| teller.player.witness.decide(), |d| (*d).clone());
            said.lines.push(line(&decision));
            said.rulings.push(decision);
        }
        teller.asked = None;
    }
    said.finals += usize::from(teller.player.witness.decide().finalizable);
    said.log = teller.player.witness.run().ledger().log().to_vec();
    Ok(said)
}

/// The whole decision after the last fact, recorded nowhere.
pub fn decision(script: &Script) -> Result<Decision, ScriptError> {
    let mut teller = Teller::begin(script)?;
    for (at, told) in script.blocks.iter().flat_map(|b| &b.facts).enumerate() {
        teller.tell(at + 1, &told.fact).map_err(|why| ScriptError { line: told.line, why })?;
    }
    Ok(teller.player.witness.decide())
}

/// A decision in one line: status, reason, next, and the checks that object.
pub fn line(decision: &Decision) -> String {
    let wire = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let status = wire(serde_json::to_value(decision.status).unwrap_or_default());
    let next = wire(serde_json::to_value(decision.next).unwrap_or_default());
    let missing: Vec<&str> = decision.missing().collect();
    let head = format!("{status} {} {next}", decision.completion_reason.name());
    // What a cancelled or delivered run still lacks is nobody's concern.
    let over = matches!(decision.completion_reason, Reason::UserCancelled | Reason::AlreadyFinal);
    if over || missing.is_empty() { head } else { format!("{head} | {}", missing.join(" ")) }
}

struct Teller<'a> {
    player: Player,
    facts: Vec<&'a Fact>,
    records: BTreeMap<String, NodeId>,
    /// What the gate said when the block's last fact made a final, or asked for a ruling.
    asked: Option<std::sync::Arc<Decision>>,
}

impl<'a> Teller<'a> {
    fn begin(script: &'a Script) -> Result<Self, ScriptError> {
        let facts: Vec<&Fact> = script.blocks.iter().flat_map(|b| &b.facts).map(|t| &t.fact).collect();
        let line = script.blocks.first().and_then(|b| b.facts.first()).map_or(1, |t| t.line);
        let fail = |why: String| ScriptError { line, why };
        let Some(Fact::Run(what, own)) = facts.first() else { return Err(fail("a scenario begins with `run MODE`".into())) };
        let What::RunStarted { mode, policy } = &**what else { return Err(fail("a scenario begins with `run MODE`".into())) };
        let (rules, policy) = adjust(rules(mode), translate(policy), own).map_err(fail)?;
        let player = Player::start(mode, rules, policy).map_err(|e| fail(e.to_string()))?;
        Ok(Self { player, facts, records: BTreeMap::new(), asked: None })
    }

    fn tell(&mut self, at: usize, fact: &Fact) -> Result<(), String> {
        self.asked = None;
        match fact {
            Fact::Run(..) => {}
            Fact::Event(what) => self.player.tell(u32::try_from(at).unwrap_or(u32::MAX), what),
            Fact::Attest { rule, statement, refs, waived } => {
                let refs = self.nodes(refs)?;
                let before = self.player.witness.refused.len();
                self.player.witness.attested(rule, statement, refs, waived.as_deref());
                if let Some(why) = self.player.witness.refused.get(before) {
                    return Err(why.to_string());
                }
            }
            Fact::Record { id, kind, what, refs } => {
                let refs = self.nodes(refs)?;
                let data = serde_json::Value::from(what.as_str()).to_string();
                let node = self.player.witness.recorded(kind, &data, refs).ok_or("the ledger refused the record")?;
                self.records.insert(id.clone(), node);
            }
            Fact::Rule => self.asked = Some(self.player.witness.rule().map_err(|e| e.to_string())?),
        }
        Ok(())
    }

    fn nodes(&self, names: &[String]) -> Result<Vec<NodeId>, String> {
        let node = |name: &String| self.records.get(name).copied().or_else(|| self.player.witness.known_as(name));
        names.iter().map(|n| node(n).ok_or_else(|| format!("no call, job, sub-agent reply or record is known as `{n}`"))).collect()
    }

    fn is_ruled_on(&self, at: usize) -> bool {
        let mut index = None;
        let mut whats: Vec<&What> = Vec::new();
        for (n, fact) in self.facts.iter().enumerate() {
            if let Fact::Event(what) = fact {
                if n + 1 == at {
                    index = Some(whats.len());
                }
                whats.push(what);
            }
        }
        index.is_some_and(|i| is_ruled_on(&whats, i))
    }

    /// Asks for good where the answer is a final: later facts find the run ended.
    fn rule_if_final(&mut self) -> Result<usize, String> {
        if !self.player.witness.decide().finalizable {
            return Ok(0);
        }
        let decision = self.player.witness.rule().map_err(|e| e.to_string())?;
        let made = usize::from(decision.final_text.is_some());
        self.asked = Some(decision);
        Ok(made)
    }
}

/// The words of `run` that the cases do not have.
fn adjust(mut rules: ModeRules, mut policy: Policy, own: &[(String, String)]) -> Result<(ModeRules, Policy), String> {
    for (key, value) in own {
        match (key.as_str(), value.as_str()) {
            ("policy", name) => {
                let profile = Policy::profile(name).map_err(|e| e.to_string())?;
                policy.require_execution_evidence |= profile.require_execution_evidence;
                policy.governance = profile.governance;
            }
            ("on_cap_spent", "block") => policy.on_cap_spent = OnCapSpent::Block,
            ("on_cap_spent", "deliver") => policy.on_cap_spent = OnCapSpent::Deliver,
            ("on_missing_evidence", "nudge") => policy.on_missing_evidence = OnMissingEvidence::Nudge,
            ("on_missing_evidence", "continue") => policy.on_missing_evidence = OnMissingEvidence::Continue,
            ("relay", "allowed") => rules.relay = Relay::Allowed,
            ("relay", "refused") => rules.relay = Relay::Refused,
            ("reconciliation", "explicit") => policy.reconciliation = Some(Reconciliation::Explicit),
            ("reconciliation", "delivered") => policy.reconciliation = Some(Reconciliation::Delivered),
            (key, value) => {
                return Err(format!(
                    "`{key}={value}` is not known; `on_cap_spent=` is block or deliver, `on_missing_evidence=` nudge or continue, `relay=` allowed or refused, `reconciliation=` explicit or delivered"
                ));
            }
        }
    }
    Ok((rules, policy))
}
