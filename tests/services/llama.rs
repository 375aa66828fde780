//! llama.cpp with SmolLM2-135M: both from packages, and small enough to be asked in a test.

use crate::server::{Server, installed};
use countersign_connect::model::settings::Bounds;
use countersign_connect::model::{ChatModel, Protocol, Settings};
use std::path::Path;
use std::process::{Command, Stdio};

/// A real model.
pub struct Llama {
    server: Server,
}

impl Llama {
    /// Loads the model and serves it. Takes a few seconds.
    pub fn start() -> Self {
        let mut command = Command::new(installed("venv/bin/python"));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve.py")).stderr(Stdio::null());
        Self { server: Server::start(command, "listening on ") }
    }

    /// Asked under a schema: this server ignores tools. Always the same answer to the same question, and a short one.
    pub fn model(&self) -> ChatModel {
        let settings = Settings {
            protocol: Protocol::Schema,
            max_tokens: Some(300),
            temperature: Some(0.0),
            seed: Some(1),
            bounds: Some(Bounds { items: 2, chars: 40 }),
            ..Settings::at(&format!("{}/v1", self.server.url), "smollm2")
        };
        ChatModel::new(settings).expect("it can be set up")
    }
}
