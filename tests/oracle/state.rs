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
    pub at: usize,
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
}
