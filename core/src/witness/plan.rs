//! Plans and their steps, as a foreign loop tells them.

use super::Witness;
use crate::event::{Event, StepOutcome, StepSpec};
use crate::ledger::StepState;
use crate::node::{ROOT, Str};
use indexmap::IndexMap;

impl Witness {
    /// A plan, or a revision of one. Steps that the plan already has stay where they are done or denied; any
    /// other that is listed again is planned anew. A name given twice counts once, and a need that names no
    /// step is refused alone: the rest of the plan stands.
    pub fn plan(&mut self, by: &str, steps: Vec<StepSpec>, dropped: Vec<(Str, Str)>) {
        let Some(author) = self.agent(by) else { return };
        let live = |w: &Self, id: &Str| w.ledger().live_step_named(ROOT, id).and_then(|n| w.ledger().step(n)).cloned();
        let (mut dropped, unknown): (Vec<_>, Vec<_>) = dropped.into_iter().partition(|(id, _)| live(self, id).is_some());
        unknown.iter().for_each(|(id, _)| self.unknown("plan step", id));
        let mut new: IndexMap<Str, StepSpec> = IndexMap::new();
        for step in steps {
            let old = live(self, &step.id).filter(|_| !dropped.iter().any(|(id, _)| *id == step.id));
            match old {
                Some(old) if old.state == StepState::Done || old.denied => {}
                Some(_) if new.contains_key(&step.id) => {}
                Some(_) => {
                    dropped.push((step.id.clone(), "planned anew".into()));
                    new.insert(step.id.clone(), step);
                }
                None => drop(new.entry(step.id.clone()).or_insert(step)),
            }
        }
        let names: Vec<Str> = new.keys().cloned().collect();
        for step in new.values_mut() {
            let (needs, lost): (Vec<_>, Vec<_>) = step.needs.drain(..).partition(|need| names.contains(need) || live(self, need).is_some());
            step.needs = needs;
            lost.iter().for_each(|need| self.unknown("plan step", need));
        }
        self.plans += 1;
        let key: Str = format!("plan/{}", self.plans).into();
        let steps = new.into_values().collect();
        self.put(Event::PlanMade { scope: ROOT, key, by: author, steps, dropped });
    }

    /// Whether the plan in force has a step of this name.
    pub fn step_known(&self, id: &str) -> bool {
        self.step(id).is_some()
    }

    /// A step that had ended is open again.
    pub fn step_reopened(&mut self, id: &str, why: &str) {
        let Some(step) = self.step(id) else { return self.unknown("plan step", id) };
        if self.ledger().step(step).is_some_and(|s| s.state != StepState::Open) {
            self.put(Event::StepReopened { step, why: why.into() });
        }
    }

    /// A step came to an end; one that had ended is opened again first.
    pub fn step_settled(&mut self, id: &str, outcome: StepOutcome, why: &str) {
        let Some(step) = self.ledger().live_step_named(ROOT, id) else { return self.unknown("plan step", id) };
        let state = self.ledger().step(step).map(|s| s.state);
        if matches!((state, outcome), (Some(StepState::Done), StepOutcome::Done)) {
            return;
        }
        if matches!(state, Some(StepState::Done | StepState::Blocked)) {
            self.put(Event::StepReopened { step, why: why.into() });
        }
        self.put(Event::StepSettled { step, outcome, why: why.into() });
    }
}
