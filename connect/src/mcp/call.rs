//! Calling a foreign tool.

use super::definition::Definition;
use super::server::Link;
use async_trait::async_trait;
use countersign::{Declared, Tool, ToolError, ToolOutput, ToolRequest, ToolSpec};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam, ClientRequest, ContentBlock,
    RequestId, ResourceContents, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use std::sync::Arc;

/// One tool of a server.
pub(super) struct McpTool {
    link: Arc<Link>,
    spec: ToolSpec,
    definition: Definition,
}

impl McpTool {
    pub(super) fn new(link: Arc<Link>, name: String, definition: Definition, declared: Declared) -> Self {
        let spec = ToolSpec::run(&name, &definition.description, definition.schema.clone(), declared);
        Self { link, spec, definition }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn run(&self, request: ToolRequest) -> Result<ToolOutput, ToolError> {
        let args: Value = serde_json::from_str(&request.args).map_err(|e| ToolError::Arguments(e.to_string()))?;
        let Value::Object(args) = args else { return Err(ToolError::Arguments("they are no object".to_owned())) };
        let server = &self.link.server;
        if self.link.peer.is_transport_closed() {
            // Nothing was sent: nothing can have happened.
            return Err(ToolError::failed(format!("server `{server}` is gone; the call was not made")));
        }
        match self.link.is_unchanged(&self.definition).await {
            Ok(true) => {}
            Ok(false) => {
                let why = format!(
                    "the definition of `{}` has changed since it was offered; have a person look at it, and connect again",
                    self.definition.name
                );
                return Err(ToolError::failed(why));
            }
            Err(why) => return Err(ToolError::failed(format!("server `{server}` is gone, and the call was not made: {why}"))),
        }
        let wanted = CallToolRequestParams::new(self.definition.name.clone()).with_arguments(args);
        self.ask(wanted).await
    }
}

impl McpTool {
    async fn ask(&self, wanted: CallToolRequestParams) -> Result<ToolOutput, ToolError> {
        let patience = self.link.patience;
        let options = PeerRequestOptions::with_timeout(patience.silence).reset_timeout_on_progress().with_max_total_timeout(patience.whole);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(wanted));
        let asked = self.link.peer.send_request_with_option(request, options).await.map_err(|e| self.failure(e))?;
        let mut cancel = Cancel { peer: Some(self.link.peer.clone()), id: asked.id.clone() };
        let answer = asked.await_response().await;
        cancel.peer = None;
        match answer.map_err(|e| self.failure(e))? {
            ServerResult::CallToolResult(result) => read(result),
            _ => Err(ToolError::failed("the server asks for something that it cannot be given here")),
        }
    }

    /// What a call that was sent and not answered comes to.
    fn failure(&self, error: ServiceError) -> ToolError {
        let server = &self.link.server;
        match error {
            ServiceError::Timeout { timeout } => ToolError::TimedOut(timeout),
            ServiceError::McpError(said) => ToolError::failed(format!("server `{server}` says: {}", said.message)),
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                ToolError::Lost(format!("server `{server}` died under the call: nobody knows whether it happened"))
            }
            other => ToolError::failed(format!("server `{server}`: {other}")),
        }
    }
}

/// Tells the server that nobody waits any more, where a call is given up. It may heed that or not; what it says
/// later is not read.
struct Cancel {
    peer: Option<Peer<RoleClient>>,
    id: RequestId,
}

impl Drop for Cancel {
    fn drop(&mut self) {
        let (Some(peer), Ok(tasks)) = (self.peer.take(), tokio::runtime::Handle::try_current()) else { return };
        let params = CancelledNotificationParam::new(Some(self.id.clone()), Some("nobody waits for it any more".to_owned()));
        // Where the server is gone there is nobody to tell.
        tasks.spawn(async move { peer.send_notification(CancelledNotification::new(params).into()).await });
    }
}

/// What a model reads of a result. One that the server calls an error is a failed run.
fn read(result: CallToolResult) -> Result<ToolOutput, ToolError> {
    let parts: Vec<String> = result.content.iter().map(part).collect();
    let text = match result.structured_content {
        Some(value) if parts.is_empty() => value.to_string(),
        _ => parts.join("\n"),
    };
    if result.is_error == Some(true) { Err(ToolError::failed(text)) } else { Ok(text.into()) }
}

fn part(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image, {}, {} characters of base64]", image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => format!("[audio, {}, {} characters of base64]", audio.mime_type, audio.data.len()),
        ContentBlock::ResourceLink(link) => format!("[resource {}]", link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => format!("[resource {uri}, {} characters of base64]", blob.len()),
            _ => "[a resource of a kind that is not known]".to_owned(),
        },
        _ => "[content of a kind that is not known]".to_owned(),
    }
}
