//! Mends a small Rust project and checks it with the compiler: `cargo run --example fix_and_check [-- FOLDER]`.
//!
//! Works on a scratch copy: of a sample that does not compile, or of the folder given. Prints the ruling and,
//! where the run may be final, the answer; exit status 1 where it was refused. The model is scripted, so no
//! key is needed.

use countersign::explain::explain;
use countersign_connect::tool::Folder;
use countersign_examples::fix::scratch::Scratch;
use countersign_examples::fix::{TASK, compiler, fix_runner, scripted};
use std::error::Error;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let scratch = match std::env::args_os().nth(1) {
        Some(folder) => Folder::open(folder).and_then(|folder| Scratch::copy_of(&folder)),
        None => Scratch::sample(),
    };
    let scratch = match scratch {
        Ok(scratch) => scratch,
        Err(why) => {
            eprintln!("cannot make a scratch copy: {why}");
            return Ok(ExitCode::from(2));
        }
    };
    let folder = scratch.folder()?.writable()?;
    let runner = fix_runner(&folder, compiler(&folder)?, scripted::model())?;
    let result = runner.run(TASK).await?;
    println!("{}", explain(result.run.ledger(), &result.decision));
    let Some(answer) = &result.final_response else { return Ok(ExitCode::FAILURE) };
    println!("{}", answer.text());
    Ok(ExitCode::SUCCESS)
}
