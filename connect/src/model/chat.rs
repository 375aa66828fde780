//! A model that answers over HTTP.

use super::fault::{self, Fault};
use super::key::{Key, NoKey};
use super::protocol::{self, Said};
use super::refusal::Refusals;
use super::reply;
use super::request;
use super::settings::{Api, Settings};
use super::turns::talk;
use super::window::{Compaction, KeepNewest, Turn};
use crate::http;
use async_trait::async_trait;
use countersign::{Deltas, Model, ModelError, ModelReply, ModelRequest};
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatResponseFormat, JsonSpec, ReasoningEffort, ToolChoice};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use std::sync::Arc;
use std::time::Duration;

/// A model of a provider. Cheap to clone.
#[derive(Clone)]
pub struct ChatModel {
    client: Client,
    target: ServiceTarget,
    settings: Arc<Settings>,
    key: Option<Key>,
    compaction: Arc<dyn Compaction>,
}

/// A model that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Its key is not there.
    #[error(transparent)]
    Key(#[from] NoKey),
    /// Its address cannot be read.
    #[error("`{0}` is no address of a provider; write it as `https://host/v1`")]
    BaseUrl(String),
    /// There is no HTTP client.
    #[error("no HTTP client can be made: {0}")]
    Http(String),
}

impl ChatModel {
    /// Sets a model up, with its key from the environment. Nothing is sent yet.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        let key = settings.key_env.as_deref().map(Key::from_env).transpose()?;
        Self::with_key(settings, key)
    }

    /// As [`new`](Self::new), with a key from elsewhere.
    pub fn with_key(settings: Settings, key: Option<Key>) -> Result<Self, SetupError> {
        let base = settings.base();
        if !reqwest::Url::parse(&base).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
            return Err(SetupError::BaseUrl(base));
        }
        let kind = match settings.api {
            Api::Openai => AdapterKind::OpenAI,
            Api::Anthropic => AdapterKind::Anthropic,
        };
        let http = http::client().build().map_err(|e| SetupError::Http(http::said(&e)))?;
        let client = Client::builder().with_reqwest(http).build().map_err(|e| SetupError::Http(e.to_string()))?;
        // Servers on one's own machine take any key, and the crate sends one always.
        let auth = AuthData::from_single(key.as_ref().map_or("none", Key::reveal));
        let target = ServiceTarget { endpoint: Endpoint::from_owned(base), auth, model: ModelIden::new(kind, settings.model.clone()) };
        Ok(Self { client, target, settings: Arc::new(settings), key, compaction: Arc::new(KeepNewest::default()) })
    }

    /// Shortens transcripts in another way than by [`KeepNewest`].
    #[must_use]
    pub fn compaction(mut self, compaction: impl Compaction + 'static) -> Self {
        self.compaction = Arc::new(compaction);
        self
    }

    /// What was said, shorter where it is longer than the model's window.
    fn turns(&self, request: &ModelRequest) -> Result<Vec<Turn>, Fault> {
        let talk = talk(request);
        match self.settings.window_tokens {
            Some(most) if talk.tokens() > most => {
                let talk = self.compaction.compact(talk, most);
                if talk.is_paired() { Ok(talk.joined()) } else { Err(Fault::unpaired()) }
            }
            _ => Ok(talk.joined()),
        }
    }

    /// How this turn is asked for.
    fn options(&self, said: &Said, refusals: &Arc<Refusals>) -> ChatOptions {
        let patience = self.settings.patience;
        let mut options = ChatOptions::default()
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(true)
            .with_capture_usage(true)
            .with_stream_header_timeout(Duration::from_millis(patience.first_ms))
            .with_stream_read_timeout(Duration::from_millis(patience.between_ms))
            .with_raw_frame_sink_arc(refusals.clone());
        options.max_tokens = self.settings.max_tokens;
        options.temperature = self.settings.temperature;
        options.seed = self.settings.seed;
        if self.settings.api == Api::Openai {
            // Said so that the crate takes no `-high` at the end of a model's name for an effort, and sends none.
            options.reasoning_effort = Some(ReasoningEffort::Budget(0));
        }
        options.response_format = said.shape.clone().map(|schema| ChatResponseFormat::JsonSpec(JsonSpec::new("reply", schema)));
        options.tool_choice = said.must_call.then_some(ToolChoice::Required);
        options
    }

    async fn ask(&self, request: &ModelRequest, deltas: &Deltas) -> Result<ModelReply, Fault> {
        let said = protocol::write(request, &self.settings, self.turns(request)?);
        let refusals = Arc::new(Refusals::default());
        let options = self.options(&said, &refusals);
        let whole = Duration::from_millis(self.settings.patience.whole_ms);
        let wanted = request::chat(&said);
        let asked = async {
            let answer = self.client.exec_chat_stream(self.target.clone(), wanted, Some(&options)).await.map_err(fault::of)?;
            reply::read(answer.stream, deltas).await
        };
        let mut reply = tokio::time::timeout(whole, asked).await.unwrap_or_else(|_| Err(Fault::slow(whole)))?;
        refusals.mark(&mut reply.reply);
        reply.reply.usage = reply.usage.map(|(input, output)| countersign::Usage {
            input_tokens: input,
            output_tokens: output,
            cost_micros: self.settings.price.of(input, output),
        });
        Ok(protocol::read(request, &self.settings, reply.reply))
    }
}

#[async_trait]
impl Model for ChatModel {
    async fn reply(&self, request: ModelRequest, deltas: &Deltas) -> Result<ModelReply, ModelError> {
        let asked = self.ask(&request, deltas).await;
        asked.map_err(|fault| fault.into_error(request.attempt, self.settings.patience, self.key.as_ref()))
    }

    fn name(&self) -> &str {
        &self.settings.model
    }
}
