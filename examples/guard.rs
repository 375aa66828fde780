//! A finish guard: user code that looks at a finished answer and may ask for a second look, a bounded number of
//! times.
//!
//! What to look at: the guard is asked only after the gate has found nothing else missing. Its nudge is told to
//! the agent and never shown to the user. A guard that is never satisfied blocks the run; it does not loop, and
//! the answer that it refused does not go out.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Event, Guard, GuardPlugin, GuardSaid, GuardState, ModelReply, Runner, Single};

/// Wants a word in every answer.
struct Wants(&'static str);

impl Guard for Wants {
    fn name(&self) -> &str {
        "wants_a_word"
    }

    fn check(&self, state: &GuardState<'_>) -> GuardSaid {
        if state.final_text.contains(self.0) { GuardSaid::Accept } else { GuardSaid::Nudge(format!("Say `{}` somewhere.", self.0)) }
    }
}

/// A run whose model becomes more polite each time.
fn runner(word: &'static str) -> Result<Runner, countersign::BuildError> {
    let model = ScriptedModel(|request: &countersign::ModelRequest| {
        let drafts = ["Monday.", "On Monday, please.", "On Monday, please, at nine."];
        ModelReply::text(drafts.get(replies(&request.transcript)).copied().unwrap_or("I have said all that I can."))
    });
    let guard = GuardPlugin { max_nudges: 2, ..GuardPlugin::new(Wants(word)) };
    Runner::builder(Single::default(), model).agent(Agent::new("main", "You write letters.")).guard(guard).build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for word in ["please", "thanks"] {
        println!("a guard that wants `{word}`:");
        let result = runner(word)?.run("When shall we meet?").await?;
        for record in result.run.ledger().log() {
            match &record.event {
                Event::CandidateMade(made) => println!("  would answer: {}", made.text),
                Event::GuardSpoke { verdict, .. } => println!("  the guard says: {verdict:?}"),
                _ => {}
            }
        }
        println!("  {}: {}\n", result.reason().name(), result.text().unwrap_or("no answer"));
    }
    Ok(())
}
