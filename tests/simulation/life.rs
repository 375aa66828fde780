//! One world from its beginning to its end: process after process takes the run up until nobody can go on.

use super::cast;
use super::dice::Dice;
use super::watch::Watch;
use countersign::live::Command;
use countersign::testing::{FaultyJournal, JournalFault};
use countersign::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// More lives than any run here needs.
const LIVES_MAX: u32 = 60;

/// A world that has come to its end.
pub struct World {
    journal: Arc<Watch>,
    /// How many processes it took.
    pub lives: u32,
}

impl World {
    pub fn run(&self) -> Run {
        Run::read(Arc::new(Gate::default()), &self.log()).expect("what is kept can be read")
    }

    /// The log as text.
    pub fn log(&self) -> String {
        let text = |run: &Run| run.ledger().log().iter().map(|r| serde_json::to_string(&**r).unwrap() + "\n").collect();
        self.journal.look(text).unwrap_or_default()
    }

    /// Whether a call or a job was lost on the way: then the run may come to something else.
    pub fn lost_something(&self) -> bool {
        let lost = |event: &Event| matches!(event, Event::Retried { .. } | Event::BackgroundEnded { outcome: Outcome::Lost, .. });
        let resolved = |run: &Run| {
            let by_hand = |r: &Arc<Record>| matches!(&r.event, Event::ToolSettled { text, .. } if text.starts_with(BY_HAND));
            run.ledger().log().iter().any(|r| lost(&r.event) || by_hand(r))
        };
        self.journal.look(resolved).unwrap_or(false)
    }
}

const BY_HAND: &str = "somebody looked";

/// What every process of a world shares: its disk, and the world outside.
#[derive(Clone)]
struct Outside {
    seed: u64,
    journal: Arc<Watch>,
    /// How often each call has really run.
    effects: Arc<Mutex<BTreeMap<NodeId, u32>>>,
}

/// Lives a seed through. Undisturbed, nothing fails and nothing dies.
pub fn live(seed: u64, disturbed: bool) -> World {
    let outside = Outside { seed, journal: Arc::new(Watch::new()), effects: Arc::default() };
    let (mut now_ms, mut lives, mut say) = (0, 0, Vec::new());
    loop {
        lives += 1;
        assert!(lives < LIVES_MAX, "seed {seed} never comes to an end:\n{}", World { journal: outside.journal, lives }.log());
        let disturbed = disturbed && lives < LIVES_MAX / 2;
        let (end, lived_ms) = one_life(&outside, lives, now_ms, disturbed, std::mem::take(&mut say));
        now_ms += lived_ms + 1;
        let Some(result) = end else { continue };
        outside.journal.look(|kept| agree(kept, &result));
        match words(seed, &result) {
            Some(words) => say = words,
            None => return World { journal: outside.journal, lives },
        }
    }
}

/// What was live is what is kept.
fn agree(kept: &Run, live: &RunResult) {
    assert_eq!(kept.ledger().log(), live.run.ledger().log());
    assert_eq!(kept.final_answer(), live.final_response.as_ref());
    assert_eq!(format!("{:?}", kept.ledger().open()), format!("{:?}", live.run.ledger().open()));
}

/// What a person says to a run that stands so; `None` where there is nothing more to say.
fn words(seed: u64, result: &RunResult) -> Option<Vec<Command>> {
    assert!(result.reason() != Reason::ModeError, "nobody could go on: {:?}", result.decision);
    let ledger = result.run.ledger();
    let approve = |approval: NodeId| {
        let granted = !Dice::of(&(seed, approval, "grant")).once_in(4);
        Command::Approve { approval, granted, by: "ann".into(), why: "so".into(), args: None }
    };
    let resolve = |call: NodeId| {
        let outcome = [None, Some(Outcome::Completed), Some(Outcome::Failed)][usize::try_from(Dice::of(&(seed, call)).up_to(3)).unwrap()];
        Command::Resolve { call, outcome, text: BY_HAND.into(), by: "ann".into() }
    };
    let said: Vec<Command> = match result.status() {
        Status::AwaitingApproval => ledger.open().approvals.iter().map(approve).collect(),
        Status::Blocked if result.reason() == Reason::UnknownOutcome => ledger.open().lost.iter().map(resolve).collect(),
        _ => Vec::new(),
    };
    (!said.is_empty()).then_some(said)
}

/// A process: it starts the run or takes it up, and dies of a crash, of its journal, or when the run rests.
fn one_life(outside: &Outside, life: u32, now_ms: u64, disturbed: bool, say: Vec<Command>) -> (Option<RunResult>, u64) {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio.block_on(async {
        let began = tokio::time::Instant::now();
        let clock = Arc::new(move || now_ms + u64::try_from(began.elapsed().as_millis()).unwrap());
        let runner = process(outside, life, disturbed, clock);
        let run = if outside.journal.look(|_| ()).is_none() { runner.start("r", "a task") } else { runner.resume("r", say, None).await };
        let dies_ms = if disturbed { Dice::of(&(outside.seed, life, "dies")).up_to(400) } else { u64::MAX / 2 };
        let end = match run {
            Ok(run) => tokio::select! {
                biased;
                result = run.result() => match result {
                    Ok(result) => Some(result),
                    // Its journal failed it, as far as it could tell.
                    Err(DriveError::Journal(_)) => None,
                    Err(why) => panic!("{why}\n{}", World { journal: outside.journal.clone(), lives: life }.log()),
                },
                () = tokio::time::sleep(Duration::from_millis(dies_ms)) => None,
            },
            Err(DriveError::Ended(_)) => Some(ended(outside)),
            // Before it was taken up, as far as anybody could tell.
            Err(DriveError::Journal(_)) => None,
            Err(why) => panic!("{why}"),
        };
        (end, u64::try_from(began.elapsed().as_millis()).unwrap())
    })
}

/// A run that had ended although its last process never knew.
fn ended(outside: &Outside) -> RunResult {
    let log = outside.journal.look(|kept| kept.ledger().log().to_vec()).unwrap_or_default();
    let run = Run::replay(Arc::new(Gate::default()), log).unwrap();
    let decision = Arc::new(run.ledger().last_decision(ROOT).cloned().unwrap());
    RunResult { final_response: run.final_answer().cloned(), candidate_response: None, decision, run }
}

fn process(outside: &Outside, life: u32, disturbed: bool, clock: Clock) -> Runner {
    let seed = outside.seed;
    let faults = move |append| if disturbed { fault(&mut Dice::of(&(seed, life, append, "fault"))) } else { JournalFault::None };
    let journal = Arc::new(FaultyJournal::new(outside.journal.clone(), faults));
    let builder = cast::stage(seed, Slow(seed));
    let tools = cast::TOOLS.iter().map(|name| Work { name, outside: outside.clone() });
    let policy = Policy { retries: 0, ..Policy::conversation() };
    tools.fold(builder, RunnerBuilder::tool).policy(policy).journal(journal).clock(clock).build().unwrap()
}

fn fault(dice: &mut Dice) -> JournalFault {
    match dice.up_to(60) {
        0 => JournalFault::Fails,
        1 => JournalFault::Unacknowledged,
        2 => JournalFault::Torn(usize::try_from(dice.up_to(4)).unwrap()),
        3..10 => JournalFault::Slow(Duration::from_millis(dice.up_to(20))),
        _ => JournalFault::None,
    }
}

/// A model that takes its time.
struct Slow(u64);

#[async_trait::async_trait]
impl Model for Slow {
    async fn reply(&self, request: ModelRequest, _: &Deltas) -> Result<ModelReply, ModelError> {
        let takes = Dice::of(&(self.0, &*request.agent.name, request.activation, request.transcript.len())).up_to(50);
        tokio::time::sleep(Duration::from_millis(takes)).await;
        Ok(cast::reply(self.0, &request))
    }

    fn name(&self) -> &str {
        "slow"
    }
}

/// A tool that changes the world, somewhere in the middle of its time.
struct Work {
    name: &'static &'static str,
    outside: Outside,
}

#[async_trait::async_trait]
impl Tool for Work {
    fn spec(&self) -> ToolSpec {
        ToolSpec::run(self.name, "", serde_json::json!({ "type": "object" }), cast::declared(self.name))
    }

    async fn run(&self, request: ToolRequest) -> Result<ToolOutput, ToolError> {
        let mut dice = Dice::of(&(self.outside.seed, request.call, &*request.args));
        tokio::time::sleep(Duration::from_millis(dice.up_to(40))).await;
        self.allowed(request.call);
        *self.outside.effects.lock().unwrap().entry(request.call).or_default() += 1;
        tokio::time::sleep(Duration::from_millis(dice.up_to(40))).await;
        if dice.once_in(8) { Err(ToolError::Failed("it did not work".into())) } else { Ok(format!("{}({})", self.name, request.args).into()) }
    }
}

impl Work {
    /// Whether the disk knows, at the moment of the change, that it is about to be made, and may be.
    fn allowed(&self, call: NodeId) {
        let ran = self.outside.effects.lock().unwrap().get(&call).copied().unwrap_or(0);
        let look = |kept: &Run| {
            let ledger = kept.ledger();
            let run = ledger.tool_run(call).expect("the intent is kept before the act");
            let declared = run.declared;
            assert!(!declared.approval || run.granted, "{call} runs ungranted");
            if declared.effect.changes() && !declared.idempotent && !declared.background {
                assert_eq!(run.state, RunState::Running, "a write is kept as running before it runs");
            }
            let retried = ledger.log().iter().filter(|r| matches!(r.event, Event::Retried { call: again, .. } if again == call)).count();
            let once = declared.effect.changes() && !declared.idempotent;
            assert!(!once || ran <= u32::try_from(retried).unwrap(), "{call} ({}) runs again by itself", self.name);
        };
        self.outside.journal.look(look).expect("there is a log before anything runs");
    }
}
