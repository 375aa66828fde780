//! Calls, jobs and approvals of a plain list of events.

use super::log::Name;
use super::state::{Approval, Job, State};

impl State {
    pub fn result(&mut self, id: &str, out: Name, cut_of: Option<Name>) -> bool {
        let free = self.calls.iter().position(|c| c.id == id && c.is_open() && !c.waits);
        let Some(index) = free.or_else(|| self.calls.iter().position(|c| c.id == id && c.is_open())) else {
            return self.late(id, out);
        };
        self.result = Some(self.at);
        if let Some(child) = cut_of.and_then(|of| self.children.iter_mut().find(|c| c.id == of)) {
            child.reply.iter_mut().for_each(|r| r.cut = out != "running" || r.cut);
        }
        let job_runs = self.calls[index].job.is_some_and(|j| self.jobs[j].open);
        match out {
            "running" => {
                if self.calls[index].job.is_none() {
                    let name = self.calls[index].id;
                    self.calls[index].job = Some(self.jobs.len());
                    self.jobs.push(Job { id: name, call: Some(index), open: true, implied: true });
                }
                self.calls[index].receipt = true;
            }
            "ok" if job_runs => self.calls[index].receipt = true,
            _ => {
                if out == "cancelled" {
                    // Nobody needs to grant what was called off.
                    self.approvals.iter_mut().filter(|a| a.calls == [index]).for_each(|a| a.open = false);
                }
                self.end_call(index, out);
            }
        }
        true
    }

    /// A result for a call that is closed: ignored, but for what it says of a denied call or of a job.
    pub fn late(&mut self, id: &str, out: Name) -> bool {
        let Some(index) = self.calls.iter().rposition(|c| c.id == id) else { return false };
        let call = &mut self.calls[index];
        if call.denied && call.end.is_none() && !call.receipt {
            let ran = matches!(out, "ok" | "running");
            self.breach |= ran && call.effect == "write";
            if !ran {
                call.end = Some((out, self.at));
            }
        } else if out != "running"
            && let Some(job) = call.job.filter(|j| self.jobs[*j].open && self.jobs[*j].implied)
        {
            let name = self.jobs[job].id;
            return self.job_end(name, out);
        }
        true
    }

    pub fn end_call(&mut self, index: usize, out: Name) {
        let at = self.at;
        let call = &mut self.calls[index];
        call.end = Some((out, at));
        call.lost = false;
        call.receipt = false;
        let call = call.clone();
        if call.effect == "check" {
            self.check = Some(out == "ok");
            if out == "ok" {
                self.good_check = Some(call.at);
            }
        }
        if out == "ok" && call.effect == "write" {
            if !call.scratch {
                self.write = Some(at);
            }
            self.breach |= call.denied || call.step.is_some_and(|s| self.rests_on_denied(s, &mut Vec::new()));
        }
        if out == "ok"
            && let Some(child) = call.reads.and_then(|r| self.children.iter_mut().find(|c| c.id == r))
        {
            child.reply.iter_mut().for_each(|r| r.cut = false);
        }
    }

    pub fn rests_on_denied(&self, step: Name, seen: &mut Vec<Name>) -> bool {
        if seen.contains(&step) {
            return false;
        }
        seen.push(step);
        let Some(step) = self.steps.iter().rev().find(|s| s.id == step) else { return false };
        step.denied || step.needs.iter().any(|need| self.rests_on_denied(need, seen))
    }

    pub fn job(&mut self, id: Name, call: Option<Name>) -> bool {
        if self.jobs.iter().any(|j| j.id == id) {
            return false;
        }
        let index = call.and_then(|c| self.calls.iter().rposition(|k| k.id == c));
        if call.is_some() && index.is_none() {
            return false;
        }
        if let Some(call) = index.map(|i| &self.calls[i])
            && (call.waits || call.denied || call.child || call.lost || call.end.is_some_and(|(out, _)| out != "ok"))
        {
            return false;
        }
        if let Some(job) = index.and_then(|i| self.calls[i].job) {
            // The job that a `running` result told of gets its name.
            let named = self.jobs[job].implied && self.jobs[job].open;
            if named {
                self.jobs[job].id = id;
                self.jobs[job].implied = false;
            }
            return named;
        }
        // A check or a write that was counted as good cannot be taken back in these logs.
        if index.is_some_and(|i| self.calls[i].end.is_some() && self.calls[i].effect != "read" && self.calls[i].effect != "control") {
            return false;
        }
        if let Some(index) = index {
            let call = &mut self.calls[index];
            call.job = Some(self.jobs.len());
            if call.end.take().is_some() {
                call.receipt = true;
            }
        }
        self.jobs.push(Job { id, call: index, open: true, implied: false });
        true
    }

    pub fn job_end(&mut self, id: Name, out: Name) -> bool {
        let Some(index) = self.jobs.iter().position(|j| j.id == id && j.open) else { return false };
        self.jobs[index].open = false;
        // Killed work brings no result that words could be older than.
        if out == "cancelled" {
            self.killed = true;
        } else {
            self.result = Some(self.at);
        }
        if let Some(call) = self.jobs[index].call
            && self.calls[call].end.is_none()
        {
            self.end_call(call, out);
        }
        true
    }

    pub fn approval(&mut self, id: Name, of: Name) -> bool {
        if self.approvals.iter().any(|a| a.id == id) {
            return false;
        }
        let calls: Vec<usize> = (0..self.calls.len()).filter(|i| self.calls[*i].id == of && self.calls[*i].is_open()).collect();
        let step = self.step(of).map(|s| s.id);
        let busy = |i: &usize| self.calls[*i].waits || self.calls[*i].child || self.calls[*i].job.is_some() || self.calls[*i].lost;
        if calls.iter().any(busy) || (calls.is_empty() && step.is_none()) {
            return false;
        }
        for index in &calls {
            self.calls[*index].waits = true;
        }
        let step = step.filter(|_| calls.is_empty());
        self.approvals.push(Approval { id, calls, step, open: true });
        true
    }

    pub fn approved(&mut self, id: Name, granted: bool) -> bool {
        let Some(approval) = self.approvals.iter_mut().find(|a| a.id == id && a.open) else { return false };
        approval.open = false;
        let approval = approval.clone();
        for index in approval.calls {
            let call = &mut self.calls[index];
            call.waits = false;
            if !granted {
                self.breach |= call.is_good() && call.effect == "write";
                call.denied |= call.end.is_none();
            }
        }
        if let Some(step) = approval.step.and_then(|s| self.steps.iter_mut().rev().find(|k| k.id == s)) {
            step.denied = !granted;
        }
        true
    }
}
