//! Children, transfers and plans of a plain list of events.

use super::log::{Ev, Name};
use super::state::{Child, Reply, State, Step};

impl State {
    pub fn child(&self, id: &str) -> Option<&Child> {
        self.children.iter().find(|c| c.id == id)
    }

    pub fn child_began(&mut self, id: Name, agent: Name, parent: Option<Name>, call: Option<Name>) -> bool {
        if parent == Some(id) || parent.is_some_and(|p| self.child(p).is_none()) || self.child(id).is_some_and(|c| c.open) {
            return false;
        }
        let call = match call {
            Some(name) => {
                let Some(index) = self.calls.iter().position(|c| c.id == name && c.is_open()) else { return false };
                let call = &self.calls[index];
                if call.waits || call.child || call.job.is_some() || call.lost || call.effect != "control" {
                    return false;
                }
                Some(index)
            }
            None => None,
        };
        match self.children.iter_mut().find(|c| c.id == id) {
            // Nobody puts a child's child to work again behind its back.
            Some(again) if call.is_some() || parent.is_some() || !again.direct => return false,
            Some(again) => {
                again.open = true;
                again.reply = None;
                self.evidence.retain(|(by, _)| *by != id);
                // What a candidate used was the older reply.
                self.candidate.iter_mut().for_each(|c| c.uses.retain(|u| *u != id));
                self.forget(id);
            }
            None => {
                self.children.push(Child { id, agent, direct: parent.is_none(), call, transfer: None, open: true, reply: None });
                if let Some(call) = call {
                    self.calls[call].child = true;
                }
            }
        }
        true
    }

    /// What a reply claimed counts no more.
    pub fn forget(&mut self, id: Name) {
        self.claims.retain(|(by, _, _)| *by != id);
        let claims = self.claims.clone();
        self.conflicts.retain(|(key, by)| match key.strip_prefix("verdict:") {
            Some(_) => !by.contains(&id),
            None => {
                let said: Vec<Name> = claims.iter().filter(|(_, k, _)| k == key).map(|(_, _, v)| *v).collect();
                said.windows(2).any(|pair| pair[0] != pair[1])
            }
        });
    }

    pub fn child_replied(&mut self, ev: &Ev) -> bool {
        let Ev::ChildReply { id, agent, out, parent, transfer, tools_ok, claim, review, text } = ev else { return false };
        let transfer = match transfer {
            Some(name) => match self.transfers.iter().position(|t| t.id == *name && !t.replied) {
                Some(index) => Some(index),
                None => return false,
            },
            None if self.child(id).is_none() => self.transfers.iter().position(|t| t.to == *agent && !t.back && !t.replied),
            None => None,
        };
        let orphan = parent.is_some_and(|p| self.child(p).is_none()) || *parent == Some(id);
        match self.children.iter_mut().find(|c| c.id == *id) {
            Some(child) if !child.open => return false,
            Some(child) => child.open = false,
            None if orphan => return false,
            None => self.children.push(Child { id, agent, direct: parent.is_none(), call: None, transfer, open: false, reply: None }),
        }
        if let Some(index) = transfer {
            self.transfers[index].replied = true;
        }
        if *tools_ok > 0 {
            self.evidence.push((id, self.at));
        }
        let outcome = if *out == "ok" && text.is_some_and(|t| t.trim().is_empty()) { "empty" } else { out };
        let Some(child) = self.children.iter_mut().find(|c| c.id == *id) else { return false };
        child.reply = Some(Reply { out: outcome, reconciled: false, cut: false });
        let (direct, call) = (child.direct, child.call);
        if direct {
            self.hear(id, *claim, *review);
        }
        if let Some(call) = call.filter(|c| self.calls[*c].end.is_none()) {
            self.calls[call].end = Some((if outcome == "ok" { "ok" } else { "error" }, self.at));
        }
        true
    }

    pub fn hear(&mut self, id: Name, claim: Option<(Name, Name)>, review: Option<(Name, bool)>) {
        if let Some((key, value)) = claim {
            self.claims.push((id, key, value));
            if self.claims.iter().any(|(_, k, v)| *k == key && *v != value) && !self.conflicts.iter().any(|(k, _)| k == key) {
                self.conflicts.push((key.to_owned(), vec![id]));
            }
        }
        if matches!(review, Some(("approved", false) | ("rejected", true))) {
            self.conflicts.push((format!("verdict:{id}"), vec![id]));
        }
    }

    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|s| s.id == id && s.state != "dropped")
    }

    pub fn plan(&mut self, steps: &[(Name, Vec<Name>)], dropped: &[Name]) -> bool {
        self.planned = true;
        let known: Vec<Name> = self.steps.iter().filter(|s| s.state != "dropped").map(|s| s.id).chain(steps.iter().map(|s| s.0)).collect();
        for step in self.steps.iter_mut().filter(|s| dropped.contains(&s.id)) {
            step.state = "dropped";
        }
        let mut new: Vec<Name> = Vec::new();
        for (id, needs) in steps {
            if new.contains(id) {
                continue;
            }
            new.push(id);
            let needs: Vec<Name> = needs.iter().copied().filter(|n| known.contains(n)).collect();
            match self.steps.iter_mut().find(|s| s.id == *id && s.state != "dropped") {
                // Done stays done, and a denial stands; anything else is planned anew.
                Some(old) if old.state == "done" || old.denied => {}
                Some(old) => {
                    old.needs = needs;
                    old.state = "pending";
                }
                None => self.steps.push(Step { id, needs, state: "pending", denied: false }),
            }
        }
        true
    }

    pub fn settle_step(&mut self, id: Name, state: &'static str) -> bool {
        match self.steps.iter_mut().find(|s| s.id == id && s.state != "dropped") {
            Some(step) => {
                step.state = state;
                true
            }
            None => false,
        }
    }
}
