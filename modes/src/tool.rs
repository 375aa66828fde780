//! What an agent may call. A specification says what a call means; running a tool is the runtime's part.

use crate::output::{Conclusion, Ended, ReportOutput};
use countersign_core::{CallKind, Declared, Effect, Ledger, NodeId, Str};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// One tool, as a model is offered it.
#[derive(Clone)]
pub struct ToolSpec {
    /// The name by which it is called. Unique within an agent.
    pub name: Str,
    /// What it is for, in a sentence.
    pub description: Str,
    /// JSON schema of its arguments.
    pub schema: Arc<Value>,
    /// What a call of it means.
    pub kind: ToolKind,
}

/// What a call means.
#[derive(Clone)]
pub enum ToolKind {
    /// The runtime runs it.
    Run(Declared),
    /// A sub-agent works on it.
    Delegate {
        /// Which.
        agent: Str,
    },
    /// A specialist takes over.
    Transfer {
        /// Which.
        agent: Str,
        /// Whether it hands the answer over for good, where the policy allows that.
        terminal: bool,
    },
    /// It ends the activation.
    Terminal {
        /// Reads the arguments.
        parse: Parse,
        /// Whether the agent can end in no other way.
        required: bool,
    },
    /// It puts a question to the user.
    AskUser,
    /// It attests that a governance rule is met.
    Attest,
    /// It records a fact.
    Record,
}

/// Reads the arguments of a terminal call against what is known: what the activation ends with, or what is
/// wrong with them, in words for the model.
pub type Parse = Arc<dyn Fn(&Ledger, NodeId, &str) -> Result<Ended, String> + Send + Sync>;

impl ToolSpec {
    /// A tool that the runtime runs, with the schema of its arguments.
    pub fn run(name: &str, description: &str, schema: Value, declared: Declared) -> Self {
        Self { name: name.into(), description: description.into(), schema: Arc::new(schema), kind: ToolKind::Run(declared) }
    }

    /// As `run`, with the schema of a type.
    pub fn typed<T: JsonSchema>(name: &str, description: &str, declared: Declared) -> Self {
        Self::run(name, description, schema_of::<T>(), declared)
    }

    /// A sub-agent as a tool: it works on a task, and its result comes back as evidence.
    pub fn delegate(name: &str, agent: &str) -> Self {
        let description = format!("Give `{agent}` a task. Its result comes back with an id; say of each result what became of it.");
        Self { name: name.into(), description: description.into(), schema: Arc::new(task_schema()), kind: ToolKind::Delegate { agent: agent.into() } }
    }

    /// A transfer to a specialist, who takes over and gives control back. Named `transfer_to_<agent>`.
    pub fn transfer(agent: &str) -> Self {
        let description = format!("Hand a task over to `{agent}`. Control comes back with its result.");
        Self {
            name: format!("transfer_to_{agent}").into(),
            description: description.into(),
            schema: Arc::new(task_schema()),
            kind: ToolKind::Transfer { agent: agent.into(), terminal: false },
        }
    }

    /// A transfer that hands the answer over for good where the policy allows it, and comes back where not.
    pub fn terminal_transfer(agent: &str) -> Self {
        Self { kind: ToolKind::Transfer { agent: agent.into(), terminal: true }, ..Self::transfer(agent) }
    }

    /// The end of a concluding agent: its answer, and an account of everything that it was given.
    pub fn conclude() -> Self {
        Self::terminal::<Conclusion>(
            "conclude",
            "End with the answer, saying of each sub-agent result what became of it.",
            false,
            Arc::new(Conclusion::parse),
        )
    }

    /// The end of a sub-agent: what it found, as claims.
    pub fn report() -> Self {
        Self::terminal::<ReportOutput>(
            "report",
            "End with what you found: a summary, and each fact as a claim.",
            false,
            Arc::new(ReportOutput::parse),
        )
    }

    /// Structured output: the agent ends by calling this, and what does not parse goes back to the model.
    pub fn output<T: DeserializeOwned + JsonSchema + 'static>(name: &str, description: &str) -> Self {
        let parse = |_: &Ledger, _: NodeId, args: &str| {
            let _: T = serde_json::from_str(args).map_err(|e| e.to_string())?;
            Ok(Ended { text: args.into(), data: Some(args.into()), ..Ended::default() })
        };
        Self::terminal::<T>(name, description, true, Arc::new(parse))
    }

    /// A terminal tool with a parser of its own, which may look at the ledger.
    pub fn terminal<T: JsonSchema>(name: &str, description: &str, required: bool, parse: Parse) -> Self {
        Self { name: name.into(), description: description.into(), schema: Arc::new(schema_of::<T>()), kind: ToolKind::Terminal { parse, required } }
    }

    /// A question to the user: the run parks until it is answered.
    pub fn ask_user() -> Self {
        let schema = serde_json::json!({"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]});
        let description = "Ask the user, and wait for the answer.";
        Self { name: "ask_user".into(), description: description.into(), schema: Arc::new(schema), kind: ToolKind::AskUser }
    }

    /// A statement that a governance rule is met.
    pub fn attest() -> Self {
        let schema = schema_of::<crate::output::AttestArgs>();
        let description = "State that a rule is met, pointing at the results that show it, or say why it was waived.";
        Self { name: "attest".into(), description: description.into(), schema: Arc::new(schema), kind: ToolKind::Attest }
    }

    /// A fact for the record, such as a finding.
    pub fn record() -> Self {
        let schema = schema_of::<crate::output::RecordArgs>();
        Self { name: "record".into(), description: "Record a fact, such as a finding.".into(), schema: Arc::new(schema), kind: ToolKind::Record }
    }

    /// What is copied into the log with each call.
    pub fn declared(&self) -> Declared {
        match &self.kind {
            ToolKind::Run(declared) => *declared,
            ToolKind::Delegate { .. } => Declared::of(CallKind::Delegate),
            ToolKind::Transfer { terminal, .. } => Declared { terminal: *terminal, ..Declared::of(CallKind::Transfer) },
            ToolKind::Terminal { .. } => Declared::of(CallKind::Terminal),
            ToolKind::AskUser | ToolKind::Attest | ToolKind::Record => Declared::of(CallKind::Loop),
        }
    }
}

/// What is recorded for a call of a tool that does not exist: it counts for nothing and runs nothing.
pub fn unknown_tool() -> Declared {
    Declared { evidence: false, ..Declared::run(Effect::Control) }
}

fn task_schema() -> Value {
    serde_json::json!({"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]})
}

pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    serde_json::to_value(schemars::schema_for!(T)).unwrap_or_default()
}
