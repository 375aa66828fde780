//! Hand-written loops: a history, boxed ports, nothing recorded, nothing ruled. The floor, and the same
//! loop with the history copied for every call, as most frameworks do.

use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// One message. What a model reads of it is its business.
#[derive(Clone)]
#[allow(dead_code, reason = "a history holds what a model would read")]
pub(crate) enum Message {
    User(Arc<str>),
    Assistant(Arc<str>, Vec<Call>),
    Tool(Arc<str>),
}

/// One call.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) name: Arc<str>,
    pub(crate) args: Arc<str>,
}

/// One reply.
pub(crate) struct Reply {
    pub(crate) text: Arc<str>,
    pub(crate) calls: Vec<Call>,
}

/// A model.
#[async_trait]
pub(crate) trait Model: Send + Sync {
    async fn reply(&self, history: Arc<Vec<Message>>) -> Reply;
}

/// A tool.
#[async_trait]
pub(crate) trait Tool: Send + Sync {
    async fn run(&self, args: Arc<str>) -> String;
}

/// Calls one tool `n` times, then answers.
pub(crate) struct Script {
    pub(crate) name: Arc<str>,
    pub(crate) args: Arc<[Arc<str>]>,
    pub(crate) latency: Duration,
}

#[async_trait]
impl Model for Script {
    async fn reply(&self, history: Arc<Vec<Message>>) -> Reply {
        let turn = history.len() / 2;
        drop(history);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        match self.args.get(turn) {
            Some(args) => Reply { text: Arc::default(), calls: vec![Call { name: self.name.clone(), args: args.clone() }] },
            None => Reply { text: "done".into(), calls: Vec::new() },
        }
    }
}

/// A tool that is done at once.
pub(crate) struct Quick;

#[async_trait]
impl Tool for Quick {
    async fn run(&self, _args: Arc<str>) -> String {
        "ok: 12 lines".into()
    }
}

/// Tools by name.
pub(crate) type Tools = HashMap<Arc<str>, Arc<dyn Tool>>;

/// The loop. `copied` hands the model a copy of the history instead of a share.
pub(crate) async fn run(model: &dyn Model, tools: &Tools, copied: bool) -> Arc<str> {
    let mut history = Arc::new(vec![Message::User("task".into())]);
    loop {
        let shown = if copied { Arc::new((*history).clone()) } else { history.clone() };
        let reply = model.reply(shown).await;
        if reply.calls.is_empty() {
            return reply.text;
        }
        let calls = reply.calls.clone();
        Arc::make_mut(&mut history).push(Message::Assistant(reply.text, reply.calls));
        for call in calls {
            let result = match tools.get(&call.name) {
                Some(tool) => tool.run(call.args).await,
                None => "no such tool".into(),
            };
            Arc::make_mut(&mut history).push(Message::Tool(result.into()));
        }
    }
}
