//! Claims that disagree. Found when the second one arrives, so that a ruling reads only what is open.

use crate::event::{Report, Verdict};
use crate::node::{NodeId, Str};
use rustc_hash::FxHashMap;

/// A key on which results disagree, and nobody has settled it by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The key; `verdict:<result>` for a verdict that contradicts its own criteria.
    pub key: Str,
    /// The results that disagree.
    pub results: Vec<NodeId>,
    /// What each of them says; nothing for a verdict, which contradicts itself.
    pub values: Vec<Str>,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Conflicts {
    claims: FxHashMap<Str, Vec<(NodeId, Str)>>,
    open: Vec<Conflict>,
}

impl Conflicts {
    pub(super) fn open(&self) -> &[Conflict] {
        &self.open
    }

    /// Takes in what a result claims.
    pub(super) fn hear(&mut self, result: NodeId, report: &Report) {
        for claim in &report.claims {
            let said = self.claims.entry(claim.key.clone()).or_default();
            said.push((result, claim.value.clone()));
            if said.iter().any(|(_, value)| *value != claim.value) {
                let (results, values) = said.iter().cloned().unzip();
                self.dispute(claim.key.clone(), results, values);
            }
        }
        if contradicts_itself(report) {
            self.dispute(format!("verdict:{result}").into(), vec![result], Vec::new());
        }
    }

    /// A result that was superseded claims nothing any more.
    pub(super) fn forget(&mut self, result: NodeId) {
        for said in self.claims.values_mut() {
            said.retain(|(node, _)| *node != result);
        }
        let claims = &self.claims;
        self.open.retain_mut(|conflict| {
            if conflict.key.starts_with("verdict:") {
                return !conflict.results.contains(&result);
            }
            let said = claims.get(&conflict.key).map(Vec::as_slice).unwrap_or_default();
            (conflict.results, conflict.values) = said.iter().cloned().unzip();
            said.windows(2).any(|pair| matches!(pair, [a, b] if a.1 != b.1))
        });
    }

    /// A disagreement was settled by name.
    pub(super) fn settle(&mut self, key: &str) {
        self.open.retain(|conflict| *conflict.key != *key);
    }

    fn dispute(&mut self, key: Str, results: Vec<NodeId>, values: Vec<Str>) {
        match self.open.iter_mut().find(|c| c.key == key) {
            Some(conflict) => (conflict.results, conflict.values) = (results, values),
            None => self.open.push(Conflict { key, results, values }),
        }
    }
}

/// Approved with a criterion unmet, or rejected with all of them met.
fn contradicts_itself(report: &Report) -> bool {
    let all_met = report.criteria.iter().all(|(_, met)| *met);
    match report.verdict {
        Some(Verdict::Approved) => !all_met,
        Some(Verdict::Rejected) => all_met && !report.criteria.is_empty(),
        None => false,
    }
}
