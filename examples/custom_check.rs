//! A check of one's own, beside the gate's: an answer that names a price has looked one up.
//!
//! What to look at: a check reads the ledger and reports; it never decides. It is a peer of the built-in ones,
//! its name and version are written into the log, and a run that it refused is refused again on every replay.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::{Agent, Check, Declared, Effect, Event, Finding, FnTool, ModelReply, ModelRequest, Runner, Single, Tool, View};
use schemars::JsonSchema;
use serde::Deserialize;

/// Whoever names a price has called `price`.
struct PricesLookedUp;

impl Check for PricesLookedUp {
    fn name(&self) -> &str {
        "prices_looked_up"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let Some((node, _)) = view.candidate.filter(|(_, made)| made.text.contains("EUR")) else { return Ok(None) };
        // What the answer rests on in the evidence graph: a call that failed, or that it never read, is not there.
        let evidence = view.ledger.evidence(node);
        let looked_up = evidence.iter().filter_map(|n| view.ledger.tool_run(*n)).filter_map(|run| view.ledger.call(run));
        if looked_up.into_iter().any(|call| &*call.name == "price") {
            return Ok(None);
        }
        Ok(Some(Finding {
            check: self.name().into(),
            subjects: vec![view.ledger.reference(node)],
            message: "the answer names a price that nobody looked up".into(),
            remedy: "call `price`, then answer".into(),
        }))
    }
}

/// What the tool takes.
#[derive(Deserialize, JsonSchema)]
struct Item {
    /// What is to be bought.
    item: String,
}

/// A model that knows prices by heart until it is told not to.
fn model(request: &ModelRequest) -> ModelReply {
    match replies(&request.transcript) {
        0 => ModelReply::text("A lamp is 20 EUR."),
        1 => ModelReply::call("price", r#"{"item":"lamp"}"#),
        _ => ModelReply::text("A lamp is 35 EUR."),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let price = FnTool::plain("price", "Looks a price up.", Declared::run(Effect::Read), |args: Item| Ok(format!("{}: 35 EUR", args.item)));
    let runner = Runner::builder(Single::default(), ScriptedModel(model))
        .agent(Agent::new("main", "You sell lamps.").tool(price.spec()))
        .tool(price)
        .check(PricesLookedUp)
        .build()?;

    let result = runner.run("What is a lamp?").await?;

    for record in result.run.ledger().log() {
        if let Event::Decided { decision, .. } = &record.event {
            println!("ruling: {}", decision.completion_reason.name());
            decision.missing_checks.iter().for_each(|f| println!("  {}: {}; {}", f.check, f.message, f.remedy));
        }
    }
    println!("\nfinal: {}", result.text().unwrap_or("nothing"));
    Ok(())
}
