//! What an importer tells: facts in the words of the trace, each with its place in the source.

use super::check::{AVOWED, COLLEAGUES};
use super::speech::{Avowal, Owed, avowals, avows, owed};
use super::sub_agents::{InnerCall, SubAgent};
use super::tool::declared;
use super::verdict::{Looks, Verdict};
use countersign_core::ledger::ToolRun;
use countersign_core::witness::{ForeignCall, ForeignCandidate, Witness};
use countersign_core::{
    AppendError, CallKind, Cause, Declared, Finish, Form, Gate, ModeRules, NodeId, Outcome, Policy, ReplyExtra, RunStarted, RunState,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Bytes of a text that are kept where it is no answer: the gate rules on facts, not on outputs.
const KEPT_BYTES: usize = 600;

/// Where a fact stands in its source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The element of the document's list of messages, steps or events, from 0, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// Which of the files beside the trace's own, where it is one of those: see [`Verdict::beside`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<u32>,
}

/// The agent whose words would be the answer, where a trace has one agent and gives it no name.
pub const OWNER: &str = "assistant";

/// One trace, as it is told.
pub struct Tale {
    witness: Witness,
    owner: String,
    place: Place,
    places: Vec<Place>,
    words: Option<Words>,
    ending: Option<(Cause, String, Place)>,
    pub(super) open: Vec<String>,
    /// Jobs by the names that the host gave them.
    jobs: Vec<String>,
    /// The call that handed the newest words in.
    handed_in: Option<String>,
    /// Those whose transcripts stand in files of their own.
    pub(super) sub_agents: Vec<SubAgent>,
    /// Names of the files in which they stand.
    pub(super) beside: Vec<String>,
    /// Whether agents speak to one another here.
    colleagues: bool,
    /// Whether the request itself is about data that are made up.
    make_up: bool,
}

/// The newest words of the owner since the newest input.
struct Words {
    text: String,
    reply: NodeId,
    form: Form,
    finish: Finish,
    place: Place,
}

impl Tale {
    /// Begins a tale under a policy. `owner` is the agent whose words may be the answer.
    pub(super) fn new(gate: Arc<Gate>, policy: Policy, id: &str, owner: &str) -> Result<Self, AppendError> {
        let start = RunStarted::new(id, "", "trace", ModeRules::owner(owner), policy);
        let witness = Witness::new(gate, start, 0)?;
        Ok(Self {
            witness,
            owner: owner.into(),
            place: Place::default(),
            places: vec![Place::default()],
            words: None,
            ending: None,
            open: Vec::new(),
            jobs: Vec::new(),
            handed_in: None,
            sub_agents: Vec::new(),
            beside: Vec::new(),
            colleagues: false,
            make_up: false,
        })
    }

    /// Agents speak to one another here, and a person only asks: what they ask for, announce or avow is theirs to do.
    pub fn is_among_colleagues(&mut self) {
        self.colleagues = true;
        self.tell(|w| w.recorded(COLLEAGUES, "", Vec::new()));
    }

    /// The agent whose words may be the answer.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Where what is told from here on stands.
    pub fn at(&mut self, line: u32, item: Option<u32>) {
        self.stands(Place { line, item, beside: None });
    }

    /// As `at`; returns where what was told before stood.
    pub(super) fn stands(&mut self, place: Place) -> Place {
        self.mark();
        std::mem::replace(&mut self.place, place)
    }

    /// Tells the witness something that has no word of its own here.
    pub fn tell<T>(&mut self, fact: impl FnOnce(&mut Witness) -> T) -> T {
        let told = fact(&mut self.witness);
        self.mark();
        told
    }

    /// The run so far.
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Whether the trace told of a job by this name: one that goes on, or one that was looked at.
    pub fn knows_job(&self, id: &str) -> bool {
        self.jobs.iter().any(|job| job == id) || self.witness.known_as(id).is_some()
    }

    /// A call goes on as a job of this name; what it returned is a receipt.
    pub fn goes_on(&mut self, call: &str, job: &str) {
        self.jobs.push(job.into());
        // Its call is answered: a new request gives up calls, and no jobs.
        self.open.retain(|open| open != call.trim());
        self.tell(|w| w.goes_on(call, ""));
    }

    /// The agent wrote its todo list anew, and so many items of it are open.
    pub fn todos(&mut self, open: usize) {
        self.tell(|w| w.recorded(super::check::TODO_LIST, &open.to_string(), Vec::new()));
    }

    /// A person asked for something. What was said before is no answer to it, and calls that are still open were
    /// given up.
    pub fn asked(&mut self, text: &str) {
        for id in std::mem::take(&mut self.open) {
            self.tell(|w| w.result(&id, Outcome::Cancelled, "", None));
        }
        self.tell(|w| w.asked(clip(text)));
        self.make_up = self.colleagues && avows(text, Avowal::MadeUp);
        self.words = None;
        self.ending = None;
    }

    /// An agent said something.
    pub fn said(&mut self, agent: &str, text: &str) {
        self.said_as(agent, text, Form::Text, Finish::Stop);
    }

    /// An agent said something of which more is known.
    pub fn said_as(&mut self, agent: &str, text: &str, form: Form, finish: Finish) {
        let answer = agent == self.owner;
        let kept = if answer { text } else { clip(text) };
        let Some(reply) = self.tell(|w| w.reply(agent, kept, finish, ReplyExtra::default())) else { return };
        self.avows(text, reply);
        if answer {
            self.ending = None;
            self.words = Some(Words { text: text.into(), reply, form, finish, place: self.place });
        }
    }

    /// An agent thought something, which is no answer: a step that it announces is owed until something is done.
    pub fn thought(&mut self, agent: &str, text: &str) {
        let Some(reply) = self.tell(|w| w.reply(agent, clip(text), Finish::Stop, ReplyExtra::default())) else { return };
        self.avows(text, reply);
        if owed(text) == Some(Owed::Step) {
            self.tell(|w| w.recorded(AVOWED, Avowal::Announced.name(), vec![reply]));
        }
    }

    /// Keeps what words own up to.
    fn avows(&mut self, text: &str, reply: NodeId) {
        if !self.colleagues {
            return;
        }
        let make_up = self.make_up;
        for avowal in avowals(text).filter(|avowal| *avowal != Avowal::MadeUp || !make_up) {
            self.tell(|w| w.recorded(AVOWED, avowal.name(), vec![reply]));
        }
    }

    /// An agent called a tool; its name tells what the tool is.
    pub fn called(&mut self, agent: &str, id: &str, name: &str, args: &str) {
        self.called_as(agent, id, name, args, declared(name));
    }

    /// An agent called a tool of which more is known.
    pub fn called_as(&mut self, agent: &str, id: &str, name: &str, args: &str, declared: Declared) {
        self.ending = None;
        self.open.push(id.trim().into());
        let call = self.tell(|w| w.call(&ForeignCall { agent, id, name, args: clip(args), declared, step: None, reads: None }));
        if declared.kind == CallKind::Terminal
            && agent == self.owner
            && let (Some(call), Some(text)) = (call, handed_in(args))
        {
            let reply = NodeId(call.0.saturating_sub(1));
            self.words = Some(Words { text, reply, form: Form::Text, finish: Finish::Stop, place: self.place });
        }
        self.handed_in = (declared.kind == CallKind::Terminal).then(|| id.trim().into()).or(self.handed_in.take());
    }

    /// A call has its outcome.
    pub fn returned(&mut self, id: &str, outcome: Outcome, text: &str) {
        self.open.retain(|open| open != id.trim());
        if outcome != Outcome::Completed && self.handed_in.as_deref() == Some(id.trim()) {
            // What hands an answer in and is refused has handed nothing in.
            self.words = None;
        }
        self.tell(|w| w.result(id, outcome, clip(text), None));
    }

    /// A command ran to its end, with this exit status; `None` where it is not told, and was not 0. Other than 0
    /// counts as failed, and that it was a status is kept: a search that finds nothing exits so too.
    pub fn exited(&mut self, id: &str, status: Option<i64>, text: &str) {
        let call = self.witness.known_as(id);
        self.returned(id, if status == Some(0) { Outcome::Completed } else { Outcome::Failed }, text);
        if let Some(call) = call.filter(|_| status != Some(0)) {
            let status = status.map_or_else(|| "null".to_owned(), |status| status.to_string());
            self.tell(|w| w.recorded(super::check::EXIT_STATUS, &status, vec![call]));
        }
    }

    /// A model call failed. Unless the owner of the answer goes on, that is how the run ended.
    pub fn failed(&mut self, agent: &str, why: &str) {
        self.tell(|w| w.model_failed(agent, clip(why), None));
        if agent == self.owner {
            self.words = None;
            self.ends(Cause::ProviderError, "");
        }
    }

    /// Whether the owner has said something since the newest request.
    pub fn has_words(&self) -> bool {
        self.words.is_some()
    }

    /// How the run ended, unless something follows. `why` is of our own words: never text of the trace.
    pub fn ends(&mut self, cause: Cause, why: &str) {
        self.ending = Some((cause, why.into(), self.place));
    }

    /// An agent lets the newest words stand, whoever said them.
    pub fn seconded(&mut self, agent: &str) {
        let reply = self.tell(|w| w.reply(agent, "", Finish::Stop, ReplyExtra::default()));
        if let (Some(words), Some(reply)) = (self.words.as_mut(), reply) {
            words.reply = reply;
        }
    }

    /// Nothing that was said so far is offered as the answer.
    pub fn takes_back(&mut self) {
        self.words = None;
    }

    /// Nothing follows: the newest words are the candidate, and the gate is asked.
    pub(super) fn end(mut self, looks: Looks) -> Verdict {
        if let Some(id) = self.handed_in.take().filter(|id| self.open.contains(id)) {
            // Nothing has to come back from the call that ends it all.
            self.returned(&id, Outcome::Completed, "");
        }
        self.leaves_sub_agents();
        if let Some(words) = self.words.take() {
            self.place = words.place;
            let (agent, from) = (self.owner.clone(), Some(words.reply));
            let said = ForeignCandidate { agent: &agent, text: &words.text, form: words.form, finish: words.finish, from, uses: Vec::new() };
            self.tell(|w| w.candidate(&said));
        }
        if let Some((cause, why, place)) = self.ending.take() {
            self.place = place;
            self.tell(|w| w.stopped(cause, &why));
        }
        Verdict::of(&self.witness, &self.places, self.beside, looks)
    }

    /// Calls of this trace, with their places: for the tale of which it is a part.
    pub(super) fn calls(&self) -> Vec<InnerCall> {
        let ledger = self.witness.run().ledger();
        let place = |run: &ToolRun| self.places.get((ledger.data(run.id)?.seq as usize).saturating_sub(1)).copied();
        let outcome = |run: &ToolRun| match run.state {
            RunState::Settled(outcome) => Some(outcome),
            RunState::Background => Some(Outcome::Completed),
            _ => None,
        };
        let call = |run: &ToolRun| {
            let name = ledger.call(run)?.name.clone();
            Some(InnerCall { line: place(run)?.line, name, declared: run.declared, outcome: outcome(run) })
        };
        ledger.tool_runs().iter().filter_map(call).collect()
    }

    /// Every event that was told since belongs to the place that is told from.
    fn mark(&mut self) {
        self.places.resize(self.witness.run().ledger().seq() as usize, self.place);
    }
}

/// The beginning of a text.
fn clip(text: &str) -> &str {
    text.get(..text.floor_char_boundary(KEPT_BYTES)).unwrap_or_default()
}

/// The answer that a terminal call hands in: the longest text among its arguments.
fn handed_in(args: &str) -> Option<String> {
    let args: serde_json::Value = serde_json::from_str(args).unwrap_or_else(|_| args.into());
    let texts: Vec<&str> = match &args {
        serde_json::Value::Object(fields) => fields.values().filter_map(|v| v.as_str()).collect(),
        serde_json::Value::String(text) => vec![text],
        _ => Vec::new(),
    };
    texts.into_iter().max_by_key(|t| t.len()).filter(|t| !t.trim().is_empty()).map(str::to_owned)
}

/// Arguments as text, whatever JSON they are.
pub(super) fn args_text(args: &serde_json::Value) -> Cow<'_, str> {
    match args {
        serde_json::Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
