//! Which findings follow from which. What is said once is said by its cause.
//!
//! Whatever is open below an activation keeps that activation open, and with it the transfer or the
//! delegation that waits for it, the plan step that it carries out, and every step that needs this one. So
//! each open thing is followed upwards, once: the cost is what is open times its depth.

use crate::decision::Finding;
use crate::event::{CallKind, Effect, Via};
use crate::ledger::{Ledger, target};
use crate::node::{NodeId, NodeKind};
use rustc_hash::FxHashMap;

/// One finding about one node; about the run where it names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Point {
    /// Its place among the findings.
    pub(super) finding: usize,
    /// What it is about.
    pub(super) node: Option<NodeId>,
}

/// What stands first, and what waits for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Group {
    /// What has no cause among the findings.
    pub(super) causes: Vec<Point>,
    /// What follows from these.
    pub(super) follows: Vec<Point>,
}

/// Every point of every finding, once, under its cause.
pub(super) fn groups(ledger: &Ledger, findings: &[Finding]) -> Vec<Group> {
    let points: Vec<Point> = findings.iter().enumerate().flat_map(|(at, f)| points_of(at, f)).collect();
    let mut because = Because::new(ledger, findings, &points);
    because.work_in_progress();
    because.wrong_producer();
    because.evidence_to_come();
    because.into_groups()
}

fn points_of(finding: usize, said: &Finding) -> Vec<Point> {
    if said.subjects.is_empty() {
        return vec![Point { finding, node: None }];
    }
    said.subjects.iter().map(|r| Point { finding, node: Some(r.node) }).collect()
}

/// Cause and effect between points, by their place.
struct Because<'a> {
    ledger: &'a Ledger,
    findings: &'a [Finding],
    points: &'a [Point],
    /// Points about open nodes.
    open: FxHashMap<NodeId, Vec<usize>>,
    /// Open activations, and transfers that nobody was seen to take up, by the agent they wait for.
    awaited: FxHashMap<&'a str, Vec<NodeId>>,
    /// Effect, cause.
    edges: Vec<(usize, usize)>,
}

impl<'a> Because<'a> {
    fn new(ledger: &'a Ledger, findings: &'a [Finding], points: &'a [Point]) -> Self {
        let mut open: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        for (at, point) in points.iter().enumerate() {
            if let Some(node) = point.node.filter(|n| is_open(ledger, *n)) {
                open.entry(node).or_default().push(at);
            }
        }
        let mut awaited: FxHashMap<&str, Vec<NodeId>> = FxHashMap::default();
        for node in open.keys() {
            let call = ledger.tool_run(*node).filter(|r| r.declared.kind != CallKind::Run && r.child.is_none()).and_then(|r| ledger.call(r));
            let agent = ledger.activation(*node).map(|a| &*a.agent).or(call.map(|c| target(&c.name)));
            if let Some(agent) = agent {
                awaited.entry(agent).or_default().push(*node);
            }
        }
        Self { ledger, findings, points, open, awaited, edges: Vec::new() }
    }

    fn check(&self, point: usize) -> &str {
        self.points.get(point).and_then(|p| self.findings.get(p.finding)).map_or("", |f| &f.check)
    }

    fn node(&self, point: usize) -> Option<NodeId> {
        self.points.get(point)?.node
    }

    /// An open thing keeps open whatever waits for it.
    fn work_in_progress(&mut self) {
        let needs = needs(self.ledger, &self.open);
        let mut found = Vec::new();
        for (node, points) in &self.open {
            let mut speaking = points.iter().copied().filter(|p| self.check(*p) != "candidate_owner");
            // Of a call the last check speaks: that it was lost says more than that it has no result.
            let is_call = self.ledger.tool_run(*node).is_some();
            let Some(cause) = (if is_call { speaking.next_back() } else { speaking.next() }) else { continue };
            found.extend(points.iter().filter(|p| is_call && **p != cause).map(|earlier| (*earlier, cause)));
            let waiting = self.above(*node).into_iter().chain(needs.get(node).cloned().unwrap_or_default());
            found.extend(waiting.filter_map(|n| self.open.get(&n)).flatten().map(|effect| (*effect, cause)));
        }
        self.edges.extend(found);
    }

    /// A specialist's words are the newest because control still lies with it.
    fn wrong_producer(&mut self) {
        let mut found = Vec::new();
        for point in (0..self.points.len()).filter(|p| self.check(*p) == "candidate_owner") {
            let above = self.node(point).map(|n| self.above(n)).unwrap_or_default();
            let transfers = above.iter().filter_map(|n| self.open.get(n)).flatten().filter(|p| self.check(**p) == "transfers_returned");
            found.extend(transfers.map(|cause| (point, *cause)));
        }
        self.edges.extend(found);
    }

    /// What stays open as long as this does. An agent of which only its deeds are known stands for whoever
    /// is awaited under its name.
    fn above(&self, node: NodeId) -> Vec<NodeId> {
        let mut found = above(self.ledger, node);
        let owner = self.ledger.activation(self.ledger.owner(node)).filter(|a| a.via == Via::Observed);
        for awaited in owner.and_then(|a| self.awaited.get(&*a.agent)).into_iter().flatten() {
            found.push(*awaited);
            found.extend(above(self.ledger, *awaited));
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|n| *n != node);
        found
    }

    /// Missing evidence, and a missing check, may be what the work under way will bring: said of the oldest.
    fn evidence_to_come(&mut self) {
        for point in 0..self.points.len() {
            let wanted = match self.check(point) {
                "evidence_ok" => |ledger: &Ledger, node| brings(ledger, node, false),
                "checks_pass" => |ledger: &Ledger, node| brings(ledger, node, true),
                _ => continue,
            };
            let is_cause = |p: &usize| !self.edges.iter().any(|(effect, _)| effect == p);
            let work = (0..self.points.len()).filter(|p| self.node(*p).is_some_and(|n| self.open.contains_key(&n) && wanted(self.ledger, n)));
            if let Some(cause) = work.filter(is_cause).min_by_key(|p| self.node(*p)) {
                self.edges.push((point, cause));
            }
        }
    }

    /// Points that hang together stand together; lone ones of one finding as well.
    fn into_groups(self) -> Vec<Group> {
        let mut heads = Heads((0..self.points.len()).collect());
        for (effect, cause) in &self.edges {
            heads.join(*effect, *cause);
        }
        let follows: rustc_hash::FxHashSet<usize> = self.edges.iter().map(|(effect, _)| *effect).collect();
        let tied: rustc_hash::FxHashSet<usize> = self.edges.iter().flat_map(|(effect, cause)| [*effect, *cause]).collect();
        let mut groups: indexmap::IndexMap<(bool, usize), Group> = indexmap::IndexMap::new();
        for (at, point) in self.points.iter().enumerate() {
            let key = if tied.contains(&at) { (true, heads.of(at)) } else { (false, point.finding) };
            let group = groups.entry(key).or_default();
            if follows.contains(&at) { group.follows.push(*point) } else { group.causes.push(*point) }
        }
        groups.into_values().map(without_circle).collect()
    }
}

/// Steps that need each other have no cause outside: all of them stand first.
fn without_circle(mut group: Group) -> Group {
    if group.causes.is_empty() {
        std::mem::swap(&mut group.causes, &mut group.follows);
    }
    group
}

/// Union-find over places.
struct Heads(Vec<usize>);

impl Heads {
    fn of(&mut self, at: usize) -> usize {
        let mut head = at;
        while let Some(next) = self.0.get(head).copied().filter(|next| *next != head) {
            head = next;
        }
        if let Some(known) = self.0.get_mut(at) {
            *known = head;
        }
        head
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        if let Some(head) = self.0.get_mut(a.max(b)) {
            *head = a.min(b);
        }
    }
}

/// Whether a node is an obligation that is open.
pub(crate) fn is_open(ledger: &Ledger, node: NodeId) -> bool {
    let open = ledger.open();
    match ledger.data(node).map(|d| d.kind) {
        Some(NodeKind::Activation) => ledger.activation(node).is_some_and(|a| a.open && a.parent.is_some() && a.via != Via::Observed),
        Some(NodeKind::ToolRun | NodeKind::Delegation) => open.tools.contains(node),
        Some(NodeKind::Transfer) => open.transfers.contains(node),
        Some(NodeKind::Job) => open.jobs.contains(node),
        Some(NodeKind::Step) => open.steps.contains(node),
        Some(NodeKind::Approval) => open.approvals.contains(node),
        Some(NodeKind::Question) => open.questions.contains(node),
        _ => false,
    }
}

/// What stands above a node in the log: its step, and its activation and those above with what waits for them.
fn above(ledger: &Ledger, node: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    let behind = match ledger.data(node).map(|d| d.kind) {
        Some(NodeKind::Approval) => ledger.approval(node).map(|a| a.on),
        Some(NodeKind::Question) => ledger.question(node).and_then(|q| q.call),
        Some(NodeKind::Job) => ledger.job(node).and_then(|j| j.call),
        _ => None,
    };
    found.extend(behind);
    found.extend(ledger.tool_run(behind.unwrap_or(node)).and_then(|r| r.step));
    let mut at = Some(ledger.owner(node));
    while let Some(activation) = at.and_then(|n| ledger.activation(n)) {
        found.push(activation.id);
        if let Via::Call(by) | Via::Step(by) = activation.via {
            found.push(by);
            found.extend(ledger.tool_run(by).and_then(|r| r.step));
        }
        at = activation.parent;
    }
    found
}

/// For each open step, the open steps of its plan that need it.
fn needs(ledger: &Ledger, open: &FxHashMap<NodeId, Vec<usize>>) -> FxHashMap<NodeId, Vec<NodeId>> {
    let mut steps: Vec<_> = open.keys().filter_map(|n| ledger.step(*n)).filter_map(|s| ledger.step_spec(s).map(|spec| (s, spec))).collect();
    steps.sort_unstable_by_key(|(s, _)| s.id);
    let named: FxHashMap<_, _> = steps.iter().map(|(s, spec)| ((s.scope, &spec.id), s.id)).collect();
    let mut found: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
    for (step, spec) in &steps {
        for needed in spec.needs.iter().filter_map(|name| named.get(&(step.scope, name))) {
            found.entry(*needed).or_default().push(step.id);
        }
    }
    found
}

/// Whether the end of this could be evidence, or a check.
fn brings(ledger: &Ledger, node: NodeId, check: bool) -> bool {
    let on = ledger.approval(node).map(|a| a.on).or_else(|| ledger.job(node).and_then(|j| j.call)).unwrap_or(node);
    match ledger.tool_run(on) {
        Some(run) if run.child.is_none() => {
            if check {
                run.declared.effect == Effect::Check
            } else {
                run.declared.evidence
            }
        }
        _ => {
            !check
                && ledger.data(on).is_some_and(|d| matches!(d.kind, NodeKind::Activation | NodeKind::Transfer | NodeKind::Delegation | NodeKind::Job))
        }
    }
}
