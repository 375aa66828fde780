//! Bring your own loop: a hand-written agent loop, without our driver, that asks the gate before it answers.
//!
//! What to look at: the loop tells a `Witness` what happens, in its own names: it was called, it came back, here
//! is what I would answer. `rule` is the one question. The first answer is refused with what is missing; the
//! second is final, and the log can be ruled on again by anybody.

use countersign::witness::{ForeignCall, ForeignCandidate, Witness};
use countersign::{Declared, Effect, Gate, ModeRules, Next, Outcome, Policy, Run, RunStarted};
use std::sync::Arc;

/// What the loop's model says, turn by turn: an answer at once, a call, an answer.
enum Said {
    Answer(&'static str),
    Call(&'static str),
}

/// What the loop knows of its run.
fn started(task: &str) -> RunStarted {
    RunStarted::new("own-loop", task, "own_loop", ModeRules::owner("me"), Policy::execution())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gate = Arc::new(Gate::default());
    let mut witness = Witness::new(gate.clone(), started("How many lines has the file?"), 0)?;
    let model = [Said::Answer("About a hundred."), Said::Call("count_lines"), Said::Answer("97 lines.")];

    for said in model {
        match said {
            Said::Call(tool) => {
                println!("call: {tool}");
                let declared = Declared::run(Effect::Read);
                witness.call(&ForeignCall { agent: "me", id: "call_1", name: tool, args: "{}", declared, step: None, reads: None });
                witness.result("call_1", Outcome::Completed, "97", None);
            }
            Said::Answer(text) => {
                witness.candidate(&ForeignCandidate { agent: "me", text, ..ForeignCandidate::default() });
                let decision = witness.rule()?;
                println!("would answer: {text}\n  ruling: {}", decision.completion_reason.name());
                decision.missing_checks.iter().for_each(|f| println!("  {}: {}", f.check, f.remedy));
                match (decision.next, decision.final_text.clone()) {
                    (Next::Deliver, Some(answer)) => println!("final: {answer}"),
                    (Next::Nudge, _) => println!("  one more turn, and this is what to tell the model"),
                    (next, _) => println!("  the loop does: {next:?}"),
                }
            }
        }
    }

    // Nothing that was told could not be placed, and the log gives the same answer again.
    println!("\nrefused facts: {}", witness.refused.len());
    let again = Run::replay(gate, witness.run().ledger().log().iter().cloned())?;
    println!("on replay: {}", again.final_answer().map_or("nothing", |answer| &**answer.text()));
    Ok(())
}
