//! What hosts send: one shape for all of them.

use super::Host;
use serde::Deserialize;
use std::path::PathBuf;

/// At which point the host asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// The agent is about to stop.
    Stop,
    /// A sub-agent is about to stop.
    SubagentStop,
    /// A task is about to be called done, in the middle of a turn.
    TaskCompleted,
}

/// What is known when the host asks.
pub(super) struct Payload {
    pub(super) host: Host,
    pub(super) event: Event,
    /// The session, or the sub-agent in it: what was said is remembered by it.
    pub(super) session: String,
    pub(super) transcript: PathBuf,
    /// What the agent said last; it may not stand in the transcript yet.
    pub(super) last_words: Option<String>,
    /// Shells that are running, by their ids; `None` where the host does not say.
    pub(super) shells: Option<Vec<String>>,
    /// Whether the agent goes on because a hook said so.
    pub(super) is_continuation: bool,
    /// Whether it stops of its own accord.
    pub(super) ended_well: bool,
}

/// The fields of every host; each sends some of them.
#[derive(Deserialize)]
struct Fields {
    hook_event_name: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    conversation_id: Option<String>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    task_id: Option<String>,
    #[serde(default)]
    turn_id: Option<String>,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
    #[serde(default)]
    agent_transcript_path: Option<PathBuf>,
    #[serde(default)]
    last_assistant_message: Option<String>,
    #[serde(default)]
    stop_hook_active: bool,
    #[serde(default)]
    loop_count: u32,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    background_tasks: Option<Vec<Task>>,
}

/// Work that the host has running.
#[derive(Deserialize)]
struct Task {
    #[serde(default)]
    id: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    status: String,
}

impl Payload {
    /// Reads it. The error says what is the matter, in words for the user.
    pub(super) fn read(text: &str, host: Option<Host>) -> Result<Self, String> {
        let fields: Fields = serde_json::from_str(text).map_err(|why| format!("the payload of the hook is not what a host sends: {why}"))?;
        let event = match fields.hook_event_name.as_str() {
            "Stop" | "stop" => Event::Stop,
            "SubagentStop" | "subagentStop" => Event::SubagentStop,
            "TaskCompleted" => Event::TaskCompleted,
            other => return Err(format!("`{other}` is not an event at which there is something to rule on")),
        };
        let cursor = fields.hook_event_name.starts_with('s');
        let told = match () {
            () if cursor => Host::Cursor,
            () if fields.turn_id.is_some() => Host::Codex,
            () => Host::ClaudeCode,
        };
        let own = fields.agent_transcript_path.filter(|_| event == Event::SubagentStop);
        let transcript = own.or(fields.transcript_path).ok_or("the host named no transcript")?;
        let of = [fields.session_id, fields.conversation_id, fields.agent_id, fields.task_id];
        Ok(Self {
            host: host.unwrap_or(told),
            event,
            session: of.into_iter().flatten().chain([transcript.display().to_string()]).collect::<Vec<_>>().join("\n"),
            transcript,
            last_words: fields.last_assistant_message,
            shells: fields.background_tasks.map(shells),
            is_continuation: fields.stop_hook_active || fields.loop_count > 0,
            ended_well: fields.status.is_none_or(|status| status == "completed"),
        })
    }
}

/// Shells that run: the model can look at them. Whatever else runs tells the model by itself when it has ended.
fn shells(tasks: Vec<Task>) -> Vec<String> {
    let runs = |t: &Task| t.kind.contains("shell") || t.kind.contains("bash");
    tasks.into_iter().filter(|t| runs(t) && !matches!(t.status.as_str(), "completed" | "failed" | "killed")).map(|t| t.id).collect()
}
