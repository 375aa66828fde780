//! `@copilotkit/aimock`: replies by script, and fails on demand.

use crate::server::{Server, installed};
use countersign::{Deltas, Model};
use countersign_connect::model::settings::{Patience, Price};
use countersign_connect::model::{Api, ChatModel, Settings};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A server that plays a script.
pub struct Mock {
    server: Server,
    _script: tempfile::NamedTempFile,
}

/// Faults that the server can be started with: the flag, and what it does to every request.
pub const CHAOS: &[(&str, &str)] = &[
    ("--chaos-drop", "500"),
    ("--chaos-ratelimit", "429"),
    ("--chaos-malformed", "what comes cannot be read"),
    ("--chaos-disconnect", "the connection is closed"),
];

impl Mock {
    /// Plays this script: a list of fixtures, each a match and a response.
    pub fn play(fixtures: &Value) -> Self {
        Self::start(fixtures, &[])
    }

    /// As `play`, with this fault on every request.
    pub fn chaos(fixtures: &Value, flag: &str) -> Self {
        Self::start(fixtures, &[flag, "1"])
    }

    fn start(fixtures: &Value, flags: &[&str]) -> Self {
        let script = tempfile::Builder::new().suffix(".json").tempfile().expect("a script can be written");
        std::fs::write(script.path(), json!({"fixtures": fixtures}).to_string()).expect("a script can be written");
        let program = installed("npm/node_modules/@copilotkit/aimock/dist/cli.js");
        let mut command = Command::new("node");
        command
            .arg(program)
            .args(["--port", "0", "--strict", "--validate-on-load", "--fixtures"])
            .arg(script.path())
            .args(flags)
            .stderr(Stdio::null())
            .env("AIMOCK_STRICT_TURN_INDEX", "1");
        Self { server: Server::start(command, "listening on "), _script: script }
    }

    /// An address there.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.url)
    }

    /// A model there, that is impatient.
    pub fn settings(&self, api: Api) -> Settings {
        let patience = Patience { retry_ms: 1, retry_max_ms: 5, ..Patience::default() };
        let price = Price { input_micros: 2_000_000, output_micros: 8_000_000 };
        Settings { api, patience, price, ..Settings::at(&self.url("/v1"), "test-model") }
    }

    /// The same, set up.
    pub fn model(&self, api: Api) -> ChatModel {
        ChatModel::new(self.settings(api)).expect("it can be set up")
    }
}

/// Asks a model one thing, as the runtime would.
pub async fn ask(model: &impl Model, agent: countersign::Agent, task: &str) -> Result<countersign::ModelReply, countersign::ModelError> {
    let seen = crate::providers::request(agent, task);
    model.reply(seen, &Deltas::none()).await
}
