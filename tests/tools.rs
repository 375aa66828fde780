//! Built-in tools: arguments come from a model, and are not trusted.

mod commands;
mod files;
mod jobs;
mod lost;

use countersign::{NodeId, Tool, ToolError, ToolRequest};
use countersign_connect::tool::{Folder, WritableFolder};
use countersign_examples::fix::scratch::Scratch;

fn scratch(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new().expect("a scratch folder can be made");
    for (path, text) in files {
        scratch.write(path, text).expect("a file can be written");
    }
    scratch
}

fn open(scratch: &Scratch) -> Folder {
    scratch.folder().expect("a scratch folder can be opened")
}

fn writable(scratch: &Scratch) -> WritableFolder {
    open(scratch).writable().expect("a scratch folder can be written to")
}

/// Runs one tool as the driver would.
async fn call(tool: &impl Tool, args: serde_json::Value) -> Result<String, ToolError> {
    let request = ToolRequest::alone(NodeId(1), args.to_string());
    let done = tool.run(request);
    match tool.timeout() {
        Some(limit) => tokio::time::timeout(limit, done).await.unwrap_or(Err(ToolError::TimedOut(limit))).map(|o| o.text.to_string()),
        None => done.await.map(|o| o.text.to_string()),
    }
}

fn failure(said: Result<impl std::fmt::Debug, ToolError>) -> String {
    said.expect_err("this is refused").to_string()
}
