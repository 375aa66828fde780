//! What a plain list of events comes to: vectors and names, no graph.

use super::log::{Ev, Name, Start};

#[derive(Clone, Debug)]
pub struct Call {
    pub id: &'static str,
    pub name: Name,
    pub effect: Name,
    pub scratch: bool,
    pub step: Option<Name>,
    pub reads: Option<Name>,
    pub at: usize,
    /// Its outcome, and when it came.
    pub end: Option<(Name, usize)>,
    pub waits: bool,
    pub denied: bool,
    /// A receipt came: the work goes on as a job.
    pub receipt: bool,
    pub job: Option<usize>,
    pub child: bool,
    pub lost: bool,
}

impl Call {
    pub fn is_open(&self) -> bool {
        self.end.is_none() && !self.denied && !self.receipt
    }

    pub fn is_good(&self) -> bool {
        matches!(self.end, Some(("ok", _)))
    }
}

#[derive(Clone, Debug)]
pub struct Job {
    pub id: Name,
    pub call: Option<usize>,
    pub open: bool,
    /// Known only because a call's result said that it goes on.
    pub implied: bool,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub out: Name,
    pub reconciled: bool,
    pub cut: bool,
}

#[derive(Clone, Debug)]
pub struct Child {
    pub id: Name,
    pub agent: Name,
    pub direct: bool,
    pub call: Option<usize>,
    pub transfer: Option<usize>,
    pub open: bool,
    pub reply: Option<Reply>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub id: Name,
    pub needs: Vec<Name>,
    pub state: &'static str,
    pub denied: bool,
}

#[derive(Clone, Debug)]
pub struct Transfer {
    pub id: Name,
    pub to: Name,
    pub terminal: bool,
    pub back: bool,
    pub replied: bool,
}

#[derive(Clone, Debug)]
pub struct Approval {
    pub id: Name,
    pub calls: Vec<usize>,
    pub step: Option<Name>,
    pub open: bool,
}

#[derive(Clone, Debug)]
pub struct Candidate {
    pub agent: Name,
    pub text: Name,
    pub uses: Vec<Name>,
    pub finish: Name,
    pub form: &'static str,
    /// When its words were said.
    pub said: usize,
    pub at: usize,
    pub rejected: bool,
}

#[derive(Clone, Debug)]
pub struct Said {
    pub at: usize,
    pub agent: Name,
    pub text: Name,
    pub finish: Name,
    pub reasoning: bool,
    pub markup: bool,
}

#[derive(Clone, Debug, Default)]
pub struct State {
    pub terminal_policy: bool,
    pub calls: Vec<Call>,
    pub jobs: Vec<Job>,
    pub children: Vec<Child>,
    pub steps: Vec<Step>,
    pub planned: bool,
    pub transfers: Vec<Transfer>,
    pub approvals: Vec<Approval>,
    pub questions: Vec<(Name, bool)>,
    /// When children told of good calls of their own.
    pub evidence: Vec<(Name, usize)>,
    pub claims: Vec<(Name, Name, Name)>,
    pub conflicts: Vec<(String, Vec<Name>)>,
    pub candidate: Option<Candidate>,
    /// Replies that may stand behind a candidate: all, and the newest of each agent.
    pub said: Vec<Said>,
    pub newest: Vec<Said>,
    pub filtered: bool,
    pub stop: Option<Name>,
    pub cancelled: bool,
    pub nudges: u32,
    pub errors: u32,
    pub just_resumed: bool,
    pub resume_failed: bool,
    pub killed: bool,
    pub breach: bool,
    pub edited: Option<usize>,
    pub result: Option<usize>,
    pub check: Option<bool>,
    pub good_check: Option<usize>,
    pub write: Option<usize>,
    at: usize,
}

impl State {
    pub fn new(start: &Start) -> Self {
        Self { terminal_policy: start.terminal, ..Self::default() }
    }

    /// Takes in one event; `false` where it makes no sense there and was not taken in.
    pub fn take(&mut self, at: usize, ev: &Ev) -> bool {
        if self.cancelled && self.stop == Some("user_cancelled") {
            return true;
        }
        self.at = at;
        let taken = self.happened(ev);
        if taken && *ev != Ev::ClientLeft {
            self.just_resumed = *ev == Ev::Resumed { ok: true };
        }
        taken
    }

    fn happened(&mut self, ev: &Ev) -> bool {
        match ev {
            Ev::Reply { agent, text, finish, parts } => self.reply(agent, text, finish, parts),
            Ev::Call { id, name, agent, effect, scratch, step, reads } => {
                self.newest.retain(|s| s.agent != *agent);
                self.turn();
                let step = step.filter(|s| self.step(s).is_some());
                let reads = reads.filter(|r| self.child(r).is_some_and(|c| c.reply.is_some()));
                let call = Call {
                    id: id.trim(),
                    name,
                    effect,
                    scratch: *scratch,
                    step,
                    reads,
                    at: self.at,
                    end: None,
                    waits: false,
                    denied: false,
                    receipt: false,
                    job: None,
                    child: false,
                    lost: false,
                };
                self.calls.push(call);
                true
            }
            Ev::Result { id, out, cut_of } => self.result(id.trim(), out, *cut_of),
            Ev::Job { id, call } => self.job(id, *call),
            Ev::JobEnd { id, out } => self.job_end(id, out),
            Ev::Child { id, agent, parent, call } => self.child_began(id, agent, *parent, *call),
            Ev::ChildReply { .. } => self.child_replied(ev),
            Ev::Plan { steps } => self.plan(steps, &[]),
            Ev::Replan { steps, dropped } => self.planned && self.plan(steps, dropped),
            Ev::StepDone { id, limited } => self.settle_step(id, if *limited { "limited" } else { "done" }),
            Ev::StepBlocked { id } => self.settle_step(id, "blocked"),
            Ev::Transfer { id, to, terminal } => {
                // Who has handed the answer over for good has nothing more to hand over.
                if self.transfers.iter().any(|t| t.id == *id || t.terminal) {
                    return false;
                }
                self.newest.retain(|s| s.agent != "supervisor" || s.finish != "tool_calls");
                self.turn();
                self.transfers.push(Transfer { id, to, terminal: *terminal && self.terminal_policy, back: false, replied: false });
                true
            }
            Ev::Back { id, .. } => match self.transfers.iter_mut().find(|t| t.id == *id && !t.back) {
                Some(transfer) => {
                    transfer.back = true;
                    true
                }
                None => false,
            },
            Ev::Reconciled { replies, resolved } => {
                for child in self.children.iter_mut().filter(|c| replies.contains(&c.id)) {
                    child.reply.iter_mut().for_each(|r| r.reconciled = true);
                }
                self.conflicts.retain(|(key, _)| !resolved.contains(&key.as_str()));
                true
            }
            Ev::Approval { id, of } => self.approval(id, of),
            Ev::Granted { id } => self.approved(id, true),
            Ev::Denied { id } => self.approved(id, false),
            Ev::Candidate { .. } => self.candidate(ev),
            _ => self.course(ev),
        }
    }

    fn course(&mut self, ev: &Ev) -> bool {
        match ev {
            Ev::Stop { cause } => {
                self.stop = Some(cause);
                self.cancelled |= *cause == "user_cancelled";
            }
            Ev::Nudge => self.nudges += 1,
            Ev::Resumed { ok } => {
                self.resume_failed = !ok;
                if *ok {
                    self.stop = None;
                    self.errors = 0;
                }
            }
            Ev::Crashed => {
                for call in &mut self.calls {
                    let job_runs = call.job.is_some_and(|j| self.jobs[j].open);
                    call.lost |= call.is_open() && !call.waits && !call.child && !job_runs && call.effect == "write";
                }
            }
            Ev::Verdict { accept, .. } => match &mut self.candidate {
                Some(candidate) => candidate.rejected = !accept,
                None => return false,
            },
            Ev::Ask { id } => self.questions.push((id, true)),
            Ev::Answered { id } => match self.questions.iter_mut().rev().find(|(q, _)| q == id) {
                Some((_, open)) if *open => *open = false,
                _ => return false,
            },
            Ev::Cancel => self.cancelled = true,
            Ev::Edited => self.edited = Some(self.at),
            _ => {}
        }
        true
    }

    /// A model spoke: whatever failed before it is over.
    fn turn(&mut self) {
        self.errors = 0;
        self.filtered = false;
    }

    fn reply(&mut self, agent: Name, text: Name, finish: Name, parts: &[Name]) -> bool {
        let reasoning = parts.contains(&"reasoning") && text.trim().is_empty();
        let markup = parts.contains(&"call_markup") && !parts.contains(&"text");
        // An errored text is a text that was cut.
        let as_finish = if finish == "error" && text.trim().is_empty() { "stop" } else { finish };
        let said = Said { at: self.at, agent, text, finish: as_finish, reasoning, markup };
        self.newest.retain(|s| s.agent != agent);
        self.newest.push(said.clone());
        if finish == "error" {
            self.errors += 1;
        } else {
            self.turn();
            self.filtered = finish == "content_filter" && text.trim().is_empty();
            self.said.push(said);
        }
        true
    }

    fn candidate(&mut self, ev: &Ev) -> bool {
        let Ev::Candidate { agent, text, uses, finish, synthetic, reasoning, from } = ev else { return false };
        let from = from.and_then(|at| self.said.iter().find(|s| s.at == at).cloned());
        let behind = from.clone().or_else(|| self.newest.iter().find(|s| s.agent == *agent && s.text.trim() == text.trim()).cloned());
        let form = match &behind {
            _ if *synthetic => "placeholder",
            _ if *reasoning => "reasoning",
            Some(s) if s.reasoning => "reasoning",
            Some(s) if s.markup => "markup",
            _ => "text",
        };
        // Where an error stopped the run, that says it all.
        let inherited = behind.as_ref().map(|s| s.finish).filter(|f| *f != "error" || self.stop != Some("error"));
        let finish = finish.or(inherited).unwrap_or("stop");
        let said = from.map_or(self.at, |s| s.at);
        let uses = uses.iter().copied().filter(|u| self.child(u).is_some_and(|c| c.reply.is_some())).collect();
        self.candidate = Some(Candidate { agent, text, uses, finish, form, said, at: self.at, rejected: false });
        true
    }

    fn result(&mut self, id: &str, out: Name, cut_of: Option<Name>) -> bool {
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
            _ => self.end_call(index, out),
        }
        true
    }

    /// A result for a call that is closed: ignored, but for what it says of a denied call or of a job.
    fn late(&mut self, id: &str, out: Name) -> bool {
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

    fn end_call(&mut self, index: usize, out: Name) {
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

    fn rests_on_denied(&self, step: Name, seen: &mut Vec<Name>) -> bool {
        if seen.contains(&step) {
            return false;
        }
        seen.push(step);
        let Some(step) = self.steps.iter().rev().find(|s| s.id == step) else { return false };
        step.denied || step.needs.iter().any(|need| self.rests_on_denied(need, seen))
    }

    fn job(&mut self, id: Name, call: Option<Name>) -> bool {
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

    fn job_end(&mut self, id: Name, out: Name) -> bool {
        let Some(index) = self.jobs.iter().position(|j| j.id == id && j.open) else { return false };
        self.jobs[index].open = false;
        self.killed |= out == "cancelled";
        self.result = Some(self.at);
        if let Some(call) = self.jobs[index].call
            && self.calls[call].end.is_none()
        {
            self.end_call(call, out);
        }
        true
    }

    pub fn child(&self, id: &str) -> Option<&Child> {
        self.children.iter().find(|c| c.id == id)
    }

    fn child_began(&mut self, id: Name, agent: Name, parent: Option<Name>, call: Option<Name>) -> bool {
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
    fn forget(&mut self, id: Name) {
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

    fn child_replied(&mut self, ev: &Ev) -> bool {
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

    fn hear(&mut self, id: Name, claim: Option<(Name, Name)>, review: Option<(Name, bool)>) {
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

    fn plan(&mut self, steps: &[(Name, Vec<Name>)], dropped: &[Name]) -> bool {
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

    fn settle_step(&mut self, id: Name, state: &'static str) -> bool {
        match self.steps.iter_mut().find(|s| s.id == id && s.state != "dropped") {
            Some(step) => {
                step.state = state;
                true
            }
            None => false,
        }
    }

    fn approval(&mut self, id: Name, of: Name) -> bool {
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

    fn approved(&mut self, id: Name, granted: bool) -> bool {
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
