//! What agents end with. Parsed in the loop: what does not fit goes back to the model, never to the mode.

use countersign_core::{Claim, Disposed, Disposition, Ledger, NodeId, Report, Resolution, Str, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a terminal call comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// The words.
    pub text: String,
    /// The structured output, as JSON text.
    pub data: Option<String>,
    /// Claims and the like.
    pub report: Option<Report>,
    /// What became of each result.
    pub dispositions: Vec<Disposition>,
    /// What was settled by name.
    pub resolved: Vec<Resolution>,
}

/// The end of a concluding agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    /// The answer, in the agent's own words.
    pub answer: String,
    /// What became of each sub-agent result.
    #[serde(default)]
    pub dispositions: Vec<DispositionArgs>,
    /// Disagreements between results, settled by name.
    #[serde(default)]
    pub resolved: Vec<ResolutionArgs>,
    /// What is uncertain.
    #[serde(default)]
    pub uncertainties: Vec<String>,
    /// What should come next.
    #[serde(default)]
    pub next_actions: Vec<String>,
}

/// What became of one result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DispositionArgs {
    /// The id with which the result came back.
    pub result: u32,
    /// What was done with it.
    pub disposition: DisposedArg,
    /// Why; needed where it is not adopted.
    #[serde(default)]
    pub why: String,
}

/// What was done with a result.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisposedArg {
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

/// A disagreement, settled.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResolutionArgs {
    /// The key on which results disagree.
    pub key: String,
    /// How it was settled, and why.
    pub why: String,
}

impl Conclusion {
    pub(crate) fn parse(ledger: &Ledger, _by: NodeId, args: &str) -> Result<Ended, String> {
        let said: Self = serde_json::from_str(args).map_err(|e| e.to_string())?;
        let mut dispositions = Vec::new();
        for d in &said.dispositions {
            let result = NodeId(d.result);
            if ledger.result(result).is_none() {
                return Err(format!("no result has the id {}; the ids stand beside the results", d.result));
            }
            let disposition = d.disposition.into();
            if disposition != Disposed::Adopted && d.why.trim().is_empty() {
                return Err(format!("say why result {} is not adopted", d.result));
            }
            dispositions.push(Disposition { result, disposition, why: d.why.as_str().into() });
        }
        let settled = |r: &ResolutionArgs| Resolution { key: r.key.as_str().into(), why: r.why.as_str().into() };
        let resolved = said.resolved.iter().map(settled).collect();
        Ok(Ended { text: said.answer, data: Some(args.into()), report: None, dispositions, resolved })
    }
}

impl From<DisposedArg> for Disposed {
    fn from(arg: DisposedArg) -> Self {
        match arg {
            DisposedArg::Adopted => Self::Adopted,
            DisposedArg::Rejected => Self::Rejected,
            DisposedArg::Duplicate => Self::Duplicate,
            DisposedArg::Superseded => Self::Superseded,
            DisposedArg::Unresolved => Self::Unresolved,
        }
    }
}

/// The end of a sub-agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReportOutput {
    /// What was found, in a few sentences.
    pub summary: String,
    /// Each fact, under a key that another agent would use for it too.
    #[serde(default)]
    pub claims: Vec<ClaimArgs>,
    /// A verdict, where the work was a review.
    #[serde(default)]
    pub verdict: Option<VerdictArg>,
    /// Its criteria.
    #[serde(default)]
    pub criteria: Vec<CriterionArgs>,
    /// Files or other things made.
    #[serde(default)]
    pub artefacts: Vec<String>,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// One fact.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClaimArgs {
    /// What it is about.
    pub key: String,
    /// What is claimed.
    pub value: String,
    /// From 0 to 100.
    #[serde(default)]
    pub confidence: Option<u8>,
}

/// A review's verdict.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictArg {
    /// Every criterion is met.
    Approved,
    /// At least one is not.
    Rejected,
}

/// One criterion of a review.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CriterionArgs {
    /// What was looked at.
    pub name: String,
    /// Whether it is met.
    pub met: bool,
}

impl ReportOutput {
    pub(crate) fn parse(_: &Ledger, _: NodeId, args: &str) -> Result<Ended, String> {
        let said: Self = serde_json::from_str(args).map_err(|e| e.to_string())?;
        let report = report_of(&said);
        Ok(Ended { text: said.summary, data: Some(args.into()), report: Some(report), ..Ended::default() })
    }
}

/// Arguments of `attest`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttestArgs {
    /// The rule.
    pub rule: String,
    /// The statement.
    #[serde(default)]
    pub statement: String,
    /// Ids of the results that show it.
    #[serde(default)]
    pub refs: Vec<u32>,
    /// Why the thing itself was not done.
    #[serde(default)]
    pub waived: Option<String>,
}

/// Arguments of `record`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordArgs {
    /// What kind of fact, such as `finding`.
    pub kind: String,
    /// The fact.
    pub fact: String,
    /// Ids of the results on which it rests.
    #[serde(default)]
    pub refs: Vec<u32>,
}

/// A plan, as a planner writes it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanOutput {
    /// Its steps.
    #[serde(default)]
    pub steps: Vec<StepArgs>,
    /// Why nothing is to be done; an empty plan needs this.
    #[serde(default)]
    pub noop: Option<String>,
}

/// One step, as a planner writes it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StepArgs {
    /// Its name within the plan.
    pub id: String,
    /// What is to be done.
    pub text: String,
    /// Steps that must be done before it.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// What a replanner says when every step that could run has run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum ReplanVerdict {
    /// The task is done: this is the answer.
    Respond {
        /// The answer.
        answer: String,
        /// What is uncertain.
        #[serde(default)]
        uncertainties: Vec<String>,
        /// What should come next.
        #[serde(default)]
        next_actions: Vec<String>,
        /// Steps that cannot be done, with the reason.
        #[serde(default)]
        blocked: Vec<StepReason>,
    },
    /// The plan changes.
    Revise {
        /// Every step from here on: old ones that are kept, by name, and new ones.
        steps: Vec<StepArgs>,
        /// Old steps that are given up, with the reason.
        #[serde(default)]
        dropped: Vec<StepReason>,
        /// Old steps that cannot be done, with the reason.
        #[serde(default)]
        blocked: Vec<StepReason>,
    },
}

/// A step, and why.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StepReason {
    /// The step.
    pub id: String,
    /// The reason.
    pub why: String,
}

impl StepArgs {
    /// In the ledger's form.
    pub fn spec(&self) -> countersign_core::StepSpec {
        let need = |n: &String| Str::from(n.as_str());
        countersign_core::StepSpec { id: self.id.as_str().into(), text: self.text.as_str().into(), needs: self.needs.iter().map(need).collect() }
    }
}

/// Claims and verdict in the ledger's form.
fn report_of(said: &ReportOutput) -> Report {
    let claim = |c: &ClaimArgs| Claim { key: c.key.as_str().into(), value: c.value.as_str().into(), confidence: c.confidence };
    Report {
        claims: said.claims.iter().map(claim).collect(),
        verdict: said.verdict.map(|v| match v {
            VerdictArg::Approved => Verdict::Approved,
            VerdictArg::Rejected => Verdict::Rejected,
        }),
        criteria: said.criteria.iter().map(|c| (c.name.as_str().into(), c.met)).collect(),
        artefacts: said.artefacts.iter().map(|a| a.as_str().into()).collect(),
        evidence: said.evidence.iter().map(|e| e.as_str().into()).collect(),
        executed: 0,
    }
}
