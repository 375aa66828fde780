//! What only the log tells: reasons, dispositions, settled disagreements. One pass.

use crate::event::{Disposed, Event, Via};
use crate::ledger::{Ledger, ResultState};
use crate::node::{NodeId, NodeKind, Str};
use rustc_hash::FxHashMap;

/// Reasons by node, and what was settled.
#[derive(Default)]
pub(super) struct History {
    disposed: FxHashMap<NodeId, (Disposed, Str)>,
    /// Why a step is blocked or was dropped.
    whys: FxHashMap<NodeId, Str>,
    /// Disagreements settled by name in this scope: key, how, by whom.
    pub(super) settled: Vec<(Str, Str, NodeId)>,
    /// Steps, oldest first.
    pub(super) steps: Vec<NodeId>,
    /// Attestations and notes, oldest first.
    pub(super) asserted: Vec<NodeId>,
    /// Jobs, oldest first.
    pub(super) jobs: Vec<NodeId>,
}

impl History {
    /// Reads the log once, and the kinds of the nodes.
    pub(super) fn of(ledger: &Ledger, scope: NodeId) -> Self {
        let mut history = Self::default();
        let mut by_plan: FxHashMap<u32, Vec<NodeId>> = FxHashMap::default();
        for node in (0..ledger.node_count()).map(NodeId) {
            let Some(data) = ledger.data(node) else { continue };
            match data.kind {
                NodeKind::Step => {
                    by_plan.entry(data.seq).or_default().push(node);
                    history.steps.push(node);
                }
                NodeKind::Attestation | NodeKind::Note => history.asserted.push(node),
                NodeKind::Job => history.jobs.push(node),
                _ => {}
            }
        }
        let mut named: FxHashMap<(NodeId, Str), NodeId> = FxHashMap::default();
        for record in ledger.log() {
            history.hear(ledger, scope, &record.event, &mut named, by_plan.get(&record.seq).map(Vec::as_slice).unwrap_or_default());
        }
        history
    }

    fn hear(&mut self, ledger: &Ledger, scope: NodeId, event: &Event, named: &mut FxHashMap<(NodeId, Str), NodeId>, made: &[NodeId]) {
        match event {
            Event::Reconciled { by, dispositions, resolved } => {
                self.disposed.extend(dispositions.iter().map(|d| (d.result, (d.disposition, d.why.clone()))));
                if ledger.within(*by, scope) {
                    self.settled.extend(resolved.iter().map(|r| (r.key.clone(), r.why.clone(), *by)));
                }
            }
            Event::PlanMade { scope: of, steps, dropped, .. } => {
                for (id, why) in dropped {
                    if let Some(step) = named.get(&(*of, id.clone())) {
                        self.whys.insert(*step, why.clone());
                    }
                }
                named.extend(steps.iter().zip(made).map(|(spec, node)| ((*of, spec.id.clone()), *node)));
            }
            Event::StepSettled { step, why, .. } | Event::StepReopened { step, why } => {
                self.whys.insert(*step, why.clone());
            }
            _ => {}
        }
    }

    /// What was last done with a result, and why.
    pub(super) fn disposed(&self, result: NodeId) -> Option<(Disposed, &str)> {
        self.disposed.get(&result).map(|(disposition, why)| (*disposition, &**why))
    }

    /// Why a step is as it is.
    pub(super) fn why(&self, step: NodeId) -> &str {
        self.whys.get(&step).map_or("", |why| why)
    }

    /// Whether a result is a sub-agent's: of somebody who was asked by a call, or known only by start and end.
    pub(super) fn is_sub_agent(&self, ledger: &Ledger, result: &ResultState) -> bool {
        ledger.activation(result.activation).is_some_and(|a| matches!(a.via, Via::Call(_) | Via::Child))
    }

    /// The text of the ruling that delivered.
    pub(super) fn final_text(&self, ledger: &Ledger, scope: NodeId) -> Option<Str> {
        ledger.log().iter().rev().find_map(|record| match &record.event {
            Event::Decided { scope: of, decision, .. } if *of == scope => decision.final_text.clone(),
            _ => None,
        })
    }
}
