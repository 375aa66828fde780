//! A mode of one's own: two sides argue for a few rounds, side by side, and a judge concludes.
//!
//! What to look at: the whole mode is `Debate`. It holds no state and reads like ordinary code: `?` yields until
//! an answer is there, `all` asks side by side, `within` keeps the keys of each round apart. Concurrency,
//! resuming and replay come with it. `rules` says that only the judge may conclude, and the gate sees to it.

use countersign::testing::ScriptedModel;
use countersign::{Agent, Answer, Event, Flow, Mode, ModeRules, ModelReply, ModelRequest, Runner, Work, all};

/// A debate of so many rounds.
struct Debate {
    rounds: usize,
}

impl Mode for Debate {
    fn name(&self) -> &str {
        "debate"
    }

    fn rules(&self) -> ModeRules {
        ModeRules::owner("judge")
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let mut said = String::new();
        for round in 1..=self.rounds {
            let mut work = work.within(round);
            let prompt = format!("{task}\n\nSaid so far:{said}\n\nRound {round}: make your case.");
            let both = all([work.ask("pro", "pro", prompt.as_str()), work.ask("con", "con", prompt.as_str())])?;
            for reply in both {
                said.push_str("\n- ");
                said.push_str(reply.text());
            }
        }
        let verdict = work.ask("judge", "verdict", format!("{task}\n\nThe debate:{said}\n\nWho is right?"))?;
        work.answer(verdict)
    }
}

/// Each side has one line; the judge counts them.
fn model(request: &ModelRequest) -> ModelReply {
    let asked = countersign::transcript::question(&request.transcript);
    match &*request.agent.name {
        "pro" => ModelReply::text("Trams are quiet."),
        "con" => ModelReply::text("Trams are dear."),
        _ => ModelReply::text(format!("After {} arguments: build one line and see.", asked.matches("\n- ").count())),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runner = Runner::builder(Debate { rounds: 2 }, ScriptedModel(model))
        .agent(Agent::new("pro", "You are for it."))
        .agent(Agent::new("con", "You are against it."))
        .agent(Agent::new("judge", "You decide."))
        .build()?;

    let result = runner.run("Should the town build a tram?").await?;

    for record in result.run.ledger().log() {
        match &record.event {
            Event::ActivationStarted { agent, key, .. } => println!("{key}: {agent} is asked"),
            Event::Decided { decision, .. } => println!("ruling: {}", decision.completion_reason.name()),
            _ => {}
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    Ok(())
}
