//! A mode of one's own: a writer drafts, a critic scores, and the writer mends until a bar is met, a bounded
//! number of times.
//!
//! What to look at: the mode stops by itself where the bar is never met. That ends the run as blocked, which
//! never looks like an answer. Guards do something else: they look at a finished answer from outside.

use countersign::testing::ScriptedModel;
use countersign::transcript::question;
use countersign::{Agent, Answer, Cause, Flow, Mode, ModeRules, ModelReply, ModelRequest, Runner, ToolSpec, Work};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the critic ends with.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Score {
    /// From 0 to 10.
    points: u32,
    /// What would make it better.
    advice: String,
}

/// Drafts until the critic gives so many points.
struct Improve {
    bar: u32,
    rounds: usize,
}

impl Mode for Improve {
    fn name(&self) -> &str {
        "improve"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("writer")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let mut prompt = task.to_string();
        for round in 1..=self.rounds {
            let draft = work.ask("writer", format_args!("draft/{round}"), prompt)?;
            let score = work.ask_as::<Score>("critic", format_args!("score/{round}"), format!("{task}\n\n{}", draft.text()))?.value;
            if score.points >= self.bar {
                return work.answer(draft);
            }
            prompt = format!("{task}\n\nYour draft: {}\nMend it: {}", draft.text(), score.advice);
        }
        Err(work.stop(Cause::Repeating, format!("no draft in {} came up to {} points", self.rounds, self.bar)))
    }
}

/// A writer who takes advice, and a critic who wants an example.
fn model(request: &ModelRequest) -> ModelReply {
    let asked = question(&request.transcript);
    match &*request.agent.name {
        "writer" if asked.contains("Mend it") => ModelReply::text("A ledger is a list that only grows, such as a ship's log."),
        "writer" => ModelReply::text("A ledger is a list that only grows."),
        _ if asked.contains("such as") => ModelReply::call("score", r#"{"points":9,"advice":""}"#),
        _ => ModelReply::call("score", r#"{"points":6,"advice":"give an example"}"#),
    }
}

fn runner(bar: u32) -> Result<Runner, countersign::BuildError> {
    Runner::builder(Improve { bar, rounds: 3 }, ScriptedModel(model))
        .agent(Agent::new("writer", "You explain."))
        .agent(Agent::new("critic", "You judge.").tool(ToolSpec::output::<Score>("score", "End with the score.")))
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for bar in [9, 10] {
        let result = runner(bar)?.run("What is a ledger?").await?;
        println!("a bar of {bar}: {} after {} replies", result.reason().name(), result.run.ledger().totals().turns);
        println!("  {}", result.text().unwrap_or("no answer"));
    }
    Ok(())
}
