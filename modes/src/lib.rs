//! Ways of working: pure functions of the ledger.
//!
//! ```text
//! ledger ──▶ machine::step ──▶ facts to record, acts to perform, a candidate
//!               │
//!               ├─ agent_loop   one agent: model, tools, transcript
//!               └─ Mode::advance   single, deep, plan_execute, supervisor, or yours
//! ```
//!
//! A mode holds no state. It is run again from the top when something that it asked for has ended, and
//! reads like ordinary code: write it once, and concurrency, durability and replay come with it.
//!
//! | module | what it is |
//! |---|---|
//! | [`mode`], [`work`] | the trait, and all that a mode needs |
//! | [`agent`], [`tool`] | who works, and with what |
//! | [`machine`], [`want`] | what happens next in an activation |
//! | [`single`], [`deep`], [`plan_execute`], [`supervisor`] | the four modes |
//! | [`output`] | what agents end with: conclusions, reports, plans, verdicts |
//! | [`transcript`] | what a model is shown |

pub mod agent;
mod agent_loop;
mod closing;
pub mod deep;
pub mod machine;
pub mod mode;
pub mod output;
pub mod plan_execute;
pub mod single;
pub mod supervisor;
pub mod tool;
pub mod transcript;
pub mod want;
pub mod work;

pub use agent::{Agent, Agents, Machine};
pub use closing::closing;
pub use deep::Deep;
pub use machine::{step, touched};
pub use mode::{Answer, Mode};
pub use output::{Conclusion, Ended, PlanOutput, ReplanVerdict, ReportOutput};
pub use plan_execute::PlanExecute;
pub use single::Single;
pub use supervisor::Supervisor;
pub use tool::{ToolKind, ToolSpec};
pub use want::{Act, Out};
pub use work::{Flow, Halt, Key, PlanView, Reply, StepView, Typed, Work, all};
