//! Calling a foreign tool.

use super::definition::Definition;
use super::server::Link;
use async_trait::async_trait;
use countersign::{Declared, Line, Outcome, Tool, ToolError, ToolOutput, ToolRequest, ToolSpec};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientNotification, ClientRequest, ContentBlock, CustomNotification, RequestId,
    ResourceContents, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

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
                    "the definition of `{}` has changed since it was offered; have a person look at it, and list the tools again",
                    self.definition.name
                );
                return Err(ToolError::failed(why));
            }
            Err(why) => return Err(ToolError::failed(format!("server `{server}` is gone, and the call was not made: {why}"))),
        }
        let wanted = CallToolRequestParams::new(self.definition.name.clone()).with_arguments(args);
        self.ask(wanted, request.line).await
    }
}

impl McpTool {
    async fn ask(&self, wanted: CallToolRequestParams, line: Line) -> Result<ToolOutput, ToolError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(wanted));
        let peer = &self.link.peer;
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await.map_err(|e| self.failure(e))?;
        let RequestHandle { rx, id, progress_token, .. } = sent;
        let signs = self.link.signs.listen(progress_token, line.clone());
        let patience = self.link.patience;
        let mut open = Open { peer: peer.clone(), id, answer: Some(rx), line, patience: patience.whole };
        let whole = tokio::time::sleep(patience.whole);
        tokio::pin!(whole);
        loop {
            let Some(answer) = open.answer.as_mut() else { return Err(ToolError::failed("the answer was read before")) };
            tokio::select! {
                biased;
                answer = answer => {
                    open.answer = None;
                    return self.answered(answer.unwrap_or(Err(ServiceError::TransportClosed)));
                }
                () = signs.next() => {}
                () = tokio::time::sleep(patience.silence) => return Err(ToolError::TimedOut(patience.silence)),
                () = &mut whole => return Err(ToolError::TimedOut(patience.whole)),
            }
        }
    }

    fn answered(&self, answer: Result<ServerResult, ServiceError>) -> Result<ToolOutput, ToolError> {
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

/// A call that waits for its answer.
struct Open {
    peer: Peer<RoleClient>,
    id: RequestId,
    answer: Option<oneshot::Receiver<Result<ServerResult, ServiceError>>>,
    line: Line,
    patience: Duration,
}

/// A call that is given up is still listened to: the server is told that nobody waits any more, and may heed that or
/// not. What it says all the same comes late, and changes nothing.
impl Drop for Open {
    fn drop(&mut self) {
        let (Some(answer), Ok(tasks)) = (self.answer.take(), tokio::runtime::Handle::try_current()) else { return };
        let (peer, line, patience) = (self.peer.clone(), self.line.clone(), self.patience);
        // By its name: the crate's own notification would make it forget the call, and with it the answer.
        let params = json!({"requestId": self.id, "reason": "nobody waits for it any more"});
        let cancel = CustomNotification::new("notifications/cancelled", Some(params));
        tasks.spawn(async move {
            // Where the server is gone there is nobody to tell.
            let _ = peer.send_notification(ClientNotification::CustomNotification(cancel)).await;
            let Ok(Ok(Ok(ServerResult::CallToolResult(result)))) = tokio::time::timeout(patience, answer).await else { return };
            let (outcome, text) = match read(result) {
                Ok(said) => (Outcome::Completed, said.text),
                Err(why) => (Outcome::Failed, why.to_string().into()),
            };
            if let Err(why) = line.late(outcome, &text).await {
                tracing::warn!(%why, "a late result could not be recorded");
            }
        });
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
