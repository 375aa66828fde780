//! A run whose one tool appends a line to a file: each line is a time that it really ran.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the tool stands still, for ever.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stops {
    Never,
    Before,
    After,
}

/// A runner with the tool `read`, `idempotent` or `write`, which may stand still inside.
pub(crate) fn runner(effects: PathBuf, tool: &str, stops: Stops, journal: Arc<dyn Journal>, policy: Policy) -> Runner {
    let declared = match tool {
        "read" => Declared::run(Effect::Read),
        "idempotent" => Declared { idempotent: true, ..Declared::run(Effect::Write) },
        _ => Declared::run(Effect::Write),
    };
    let run = move |_: serde_json::Value| {
        let effects = effects.clone();
        async move {
            if stops == Stops::Before {
                stand_still().await;
            }
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&effects).unwrap();
            file.write_all(b"ran\n").unwrap();
            if stops == Stops::After {
                stand_still().await;
            }
            Ok::<_, ToolError>("appended".to_owned())
        }
    };
    let append = FnTool::new("append", "Appends a line.", declared, run);
    let agent = Agent::new("main", "").tool(append.spec());
    let model =
        ScriptedModel(|r: &ModelRequest| if replies(&r.transcript) == 0 { ModelReply::call("append", "{}") } else { ModelReply::text("appended") });
    Runner::builder(Single::default(), model).agent(agent).tool(append).policy(policy).journal(journal).build().unwrap()
}

async fn stand_still() {
    println!("here");
    std::io::stdout().flush().unwrap();
    std::future::pending::<()>().await;
}
