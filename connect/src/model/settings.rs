//! Which provider, which model, and how it is asked.

use serde::Deserialize;
use std::time::Duration;

/// A model, as a file says it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What the provider speaks.
    #[serde(default)]
    pub api: Api,
    /// Where it is, up to and with the version, such as `http://127.0.0.1:8080/v1`. Where it is left out, what
    /// `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL` says, else the provider's own.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The model, as the provider calls it.
    pub model: String,
    /// The variable of the environment that holds the key. None is sent where it is left out, which is right for
    /// servers on this machine.
    #[serde(default)]
    pub key_env: Option<String>,
    /// How tools are written out.
    #[serde(default)]
    pub protocol: Protocol,
    /// Most tokens of one reply; the provider's limit where it is left out.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// How many tokens the model can be given. A transcript that is longer is made shorter for each call; the
    /// ledger keeps the whole. No limit where it is left out.
    #[serde(default)]
    pub window_tokens: Option<usize>,
    /// Sampling temperature.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Seed, for providers that keep to one.
    #[serde(default)]
    pub seed: Option<u64>,
    /// What tokens cost.
    #[serde(default)]
    pub price: Price,
    /// How long is waited for what.
    #[serde(default)]
    pub patience: Patience,
    /// Limits that are added to schemas.
    #[serde(default)]
    pub bounds: Option<Bounds>,
}

/// What a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// OpenAI's chat completions, which Ollama, vLLM, llama.cpp, Groq, OpenRouter and others speak as well.
    #[default]
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

/// How tools are written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// As the provider's own tools.
    #[default]
    Native,
    /// As JSON whose schema the provider enforces, for servers that ignore tools and know schemas.
    Schema,
    /// As fenced blocks of text, for servers that know neither.
    Fenced,
}

/// What tokens cost, in millionths of the provider's currency unit for a million tokens: two dollars are
/// `2_000_000`. Nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    /// Tokens given.
    pub input_micros: u64,
    /// Tokens made.
    pub output_micros: u64,
}

/// How long is waited for what, in milliseconds. How often a failed call is made again is the policy's to say
/// (`retries`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Patience {
    /// For the provider to begin an answer.
    pub first_ms: u64,
    /// Between two pieces of an answer.
    pub between_ms: u64,
    /// For the whole of an answer.
    pub whole_ms: u64,
    /// Before the first new attempt; twice as long before each further one, and a random part more.
    pub retry_ms: u64,
    /// Longest wait before a new attempt, whatever the provider asks for.
    pub retry_max_ms: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { first_ms: 120_000, between_ms: 60_000, whole_ms: 600_000, retry_ms: 500, retry_max_ms: 30_000 }
    }
}

/// Limits that are added to schemas where they have none: a small model under a schema may never come to an end
/// by itself. Some providers refuse schemas that have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Most items of a list.
    pub items: u32,
    /// Most characters of a text.
    pub chars: u32,
}

impl Settings {
    /// A model of OpenAI; the key is in `OPENAI_API_KEY`.
    pub fn openai(model: &str) -> Self {
        Self { key_env: Some("OPENAI_API_KEY".to_owned()), ..Self::of(Api::Openai, model) }
    }

    /// A model of Anthropic; the key is in `ANTHROPIC_API_KEY`.
    pub fn anthropic(model: &str) -> Self {
        Self { key_env: Some("ANTHROPIC_API_KEY".to_owned()), ..Self::of(Api::Anthropic, model) }
    }

    /// A model at any address that speaks OpenAI's chat completions, without a key.
    pub fn at(base_url: &str, model: &str) -> Self {
        Self { base_url: Some(base_url.to_owned()), ..Self::of(Api::Openai, model) }
    }

    fn of(api: Api, model: &str) -> Self {
        Self {
            api,
            base_url: None,
            model: model.to_owned(),
            key_env: None,
            protocol: Protocol::Native,
            max_tokens: None,
            window_tokens: None,
            temperature: None,
            seed: None,
            price: Price::default(),
            patience: Patience::default(),
            bounds: None,
        }
    }

    /// Where the provider is.
    pub(super) fn base(&self) -> String {
        let (variable, own) = match self.api {
            Api::Openai => ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            Api::Anthropic => ("ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1"),
        };
        let base = self.base_url.clone().or_else(|| std::env::var(variable).ok()).unwrap_or_else(|| own.to_owned());
        // The last part of an address without a slash behind it would be replaced.
        format!("{}/", base.trim_end_matches('/'))
    }
}

impl Price {
    /// What so many tokens cost, in millionths.
    pub(super) fn of(self, input: u64, output: u64) -> u64 {
        let part = |tokens: u64, micros: u64| tokens.saturating_mul(micros) / 1_000_000;
        part(input, self.input_micros).saturating_add(part(output, self.output_micros))
    }
}

impl Patience {
    /// How long to wait after so many failures: a random time between half of the step and the whole of it.
    pub(super) fn pause(self, failures: u32) -> Duration {
        let step = self.retry_ms.saturating_mul(1 << failures.min(20)).min(self.retry_max_ms);
        Duration::from_millis(step / 2 + fastrand::u64(0..=step.div_ceil(2)))
    }

    /// As long as the provider asks for, if that is not longer than anybody waits.
    pub(super) fn asked(self, wait: Duration) -> Duration {
        wait.min(Duration::from_millis(self.retry_max_ms))
    }
}
