//! The verbs of a scenario: which event of the vocabulary each tells, and with which words.

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A name or a number of its own kind; quoted where it is blank or has spaces.
    Word,
    /// Words for people, always quoted.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// `a,b`.
    List,
    /// `x:4,y:"two words"`: typed claims, or dropped steps with their reasons.
    Pairs,
    /// `tests:true,docs:false`.
    Marks,
}

/// One word of a verb: how it is called in a scenario and in a case, and how its value is written.
pub type Word = (&'static str, &'static str, Shape);

/// One verb.
#[derive(Debug)]
pub struct Verb {
    /// The verb.
    pub name: &'static str,
    /// The event that it tells.
    pub event: &'static str,
    /// Values by position.
    pub places: &'static [Word],
    /// How many of them must be there.
    pub needed: usize,
    /// Values by key.
    pub keys: &'static [Word],
}

use Shape::{Flag, List, Marks, Number, Pairs, Text, Word as W};

const ID: Word = ("id", "id", W);
const BY_AGENT: Word = ("by", "agent", W);
const BY: Word = ("by", "by", W);
const WHY: Word = ("why", "why", Text);

const fn verb(name: &'static str, event: &'static str, needed: usize, places: &'static [Word], keys: &'static [Word]) -> Verb {
    Verb { name, event, places, needed, keys }
}

/// Every verb that tells an event. `plan` and `replan` go on with their steps.
pub const VERBS: &[Verb] = &[
    verb("run", "run_started", 1, &[("mode", "mode", W)], POLICY),
    verb("reply", "model_reply", 1, &[("agent", "agent", W), ("text", "text", Text)], &[("finish", "finish", W), ("parts", "parts", List)]),
    verb("call", "tool_call", 2, &[ID, ("tool", "name", W)], CALL),
    verb("result", "tool_result", 2, &[ID, ("outcome", "outcome", W)], RESULT),
    verb("job", "background_started", 1, &[ID], &[("call", "call", W), ("owner", "owner", W), ("what", "what", Text)]),
    verb("job-end", "background_finished", 2, &[ID, ("outcome", "outcome", W)], &[]),
    verb("child", "sub_agent_started", 2, &[ID, ("agent", "agent", W)], &[("parent", "parent", W), ("depth", "depth", Number), ("call", "call", W)]),
    verb("child-reply", "sub_agent_reply", 2, &[ID, ("outcome", "outcome", W)], CHILD_REPLY),
    verb("plan", "plan_created", 1, &[BY], &[]),
    verb("replan", "replanned", 1, &[BY], &[("carried", "carried", List), ("dropped", "dropped", Pairs)]),
    verb("step-done", "step_done", 1, &[ID], &[("outcome", "outcome", W)]),
    verb("step-blocked", "step_blocked", 1, &[ID, WHY], &[]),
    verb("transfer", "transfer", 3, &[ID, ("from", "from", W), ("to", "to", W)], &[("call", "call", W), ("terminal", "terminal", Flag)]),
    verb("transfer-back", "transfer_returned", 2, &[ID, ("outcome", "outcome", W)], &[]),
    verb("reconcile", "reconciled", 1, &[BY], &[("replies", "replies", List), ("resolved", "resolved", List)]),
    verb("approval", "approval_requested", 2, &[ID, ("for", "for", W)], &[]),
    verb("granted", "approval_granted", 1, &[ID], &[]),
    verb("denied", "approval_denied", 1, &[ID, WHY], &[]),
    verb("candidate", "candidate", 2, &[("agent", "agent", W), ("text", "text", Text)], CANDIDATE),
    verb("stop", "stopped", 1, &[("cause", "cause", W)], &[]),
    verb("nudge", "nudge", 1, &[BY], &[("to", "agent", W)]),
    verb("resumed", "resumed", 0, &[], &[("from", "from", W), ("ok", "ok", Flag)]),
    verb("crashed", "crashed", 0, &[], &[]),
    verb("verdict", "guard_verdict", 2, &[BY, ("verdict", "verdict", W), WHY], &[]),
    verb("ask-user", "ask_user", 1, &[ID], &[]),
    verb("user-answered", "user_answered", 1, &[ID], &[]),
    verb("cancel", "cancel_requested", 1, &[BY], &[]),
    verb("edited", "edited", 1, &[BY], &[]),
    verb("streamed", "streamed", 1, &[("agent", "agent", W)], &[("chars", "chars", Number), ("ended", "ended", Flag)]),
    verb("client-left", "client_left", 1, &[("client", "client", W)], &[("last_seen", "last_seen", Number)]),
    verb("client-back", "client_back", 1, &[("client", "client", W)], &[("last_seen", "last_seen", Number)]),
];

/// Verbs that scenarios alone know.
pub const OWN: &[(&str, &str)] = &[
    ("attest", "attest RULE \"statement\" [refs=ID,...] [waived=\"why\"]"),
    ("record", "record ID KIND \"what\" [refs=ID,...]"),
    ("rule", "rule    (the gate is asked for good, whatever it says)"),
];

/// Words of `run` that are not in the cases' policies.
pub const OWN_POLICY: &[&str] = &["policy", "on_cap_spent", "on_missing_evidence", "relay", "reconciliation"];

const POLICY: &[Word] = &[
    ("evidence", "evidence", W),
    ("checks", "checks", W),
    ("nudges", "nudges", Number),
    ("retries", "retries", Number),
    ("deliverable", "deliverable", W),
    ("terminal_transfer", "terminal_transfer", Flag),
    ("max_depth", "max_depth", Number),
    ("max_transfers", "max_transfers", Number),
    ("max_replans", "max_replans", Number),
    ("output_limit", "output_limit", Number),
    ("policy", "policy", W),
    ("on_cap_spent", "on_cap_spent", W),
    ("on_missing_evidence", "on_missing_evidence", W),
    ("relay", "relay", W),
    ("reconciliation", "reconciliation", W),
];

const CALL: &[Word] =
    &[BY_AGENT, ("effect", "effect", W), ("step", "step", W), ("scope", "scope", W), ("reads", "reads", W), ("budget", "budget", Number)];

const RESULT: &[Word] = &[
    ("text", "text", Text),
    ("size", "size", Number),
    ("shown", "shown", Number),
    ("truncated", "truncated", Flag),
    ("marker", "marker", Flag),
    ("of", "of", W),
    ("full_ref", "full_ref", W),
];

const CHILD_REPLY: &[Word] = &[
    BY_AGENT,
    ("parent", "parent", W),
    ("transfer", "transfer", W),
    ("tools_ok", "tools_ok", Number),
    ("claims", "claims", Pairs),
    ("verdict", "verdict", W),
    ("criteria", "criteria", Marks),
    ("text", "text", Text),
];

const CANDIDATE: &[Word] = &[
    ("uses", "uses", List),
    ("finish", "finish", W),
    ("from", "from", Number),
    ("synthetic", "synthetic", Flag),
    ("reasoning_only", "reasoning_only", Flag),
    ("msg", "msg", W),
];

/// A verb by its name.
pub fn verb_named(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|v| v.name == name)
}

/// The verb that tells an event.
pub fn verb_for(event: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|v| v.event == event)
}

/// What may stand where a fact is expected.
pub fn legal() -> String {
    let verbs = VERBS.iter().map(|v| v.name).chain(OWN.iter().map(|(name, _)| *name));
    format!("legal here: {}, or `---`", verbs.collect::<Vec<_>>().join(", "))
}

/// How a verb is written.
pub fn usage(verb: &Verb) -> String {
    let mut words = vec![verb.name.to_owned()];
    words.extend(verb.places.iter().enumerate().map(|(at, (word, _, shape))| {
        let word = word.to_uppercase();
        let word = if *shape == Text { format!("\"{word}\"") } else { word };
        if at < verb.needed { word } else { format!("[{word}]") }
    }));
    if takes_steps(verb) {
        words.push("STEP(NEEDED,...)...".into());
    }
    words.extend(verb.keys.iter().map(|(key, _, _)| format!("[{key}=]")));
    words.join(" ")
}

/// Whether a verb goes on with the steps of a plan.
pub fn takes_steps(verb: &Verb) -> bool {
    matches!(verb.name, "plan" | "replan")
}
