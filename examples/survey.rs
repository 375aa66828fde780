//! A survey of a folder, with real tools: `cargo run --example survey -- FOLDER`.
//!
//! Prints the ruling, then the report of a run that may be final, or why a run may not be. Exit status 1 where
//! it was refused. The model is scripted, so no key is needed; its answer is made from what the tools return.

use countersign::explain::explain;
use countersign::report::RunReport;
use countersign_connect::tool::Folder;
use countersign_examples::survey::{TASK, scripted, survey_runner};
use std::error::Error;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: survey FOLDER");
        return Ok(ExitCode::from(2));
    };
    let folder = match Folder::open(folder) {
        Ok(folder) => folder,
        Err(why) => {
            eprintln!("{why}");
            return Ok(ExitCode::from(2));
        }
    };
    let runner = survey_runner(&folder, scripted::model())?;
    let result = runner.run(TASK).await?;
    let ledger = result.run.ledger();
    println!("{}", explain(ledger, &result.decision));
    if result.final_response.is_none() {
        return Ok(ExitCode::FAILURE);
    }
    println!("{}", RunReport::of(ledger, &result.decision).to_markdown());
    Ok(ExitCode::SUCCESS)
}
