//! The heart of Countersign: events fold into a ledger, the gate reads it and rules.
//!
//! ```text
//! event ──▶ ledger ──▶ checks ──▶ gate ──▶ decision ──▶ event
//! ```
//!
//! Pure: no clock, no I/O, no task. Time, randomness and ids arrive inside events.
//!
//! | module | what it is |
//! |---|---|
//! | [`gate`] | precedence, and the sealed [`Final`]; read it first |
//! | [`decision`] | what the gate says |
//! | [`event`] | the closed vocabulary of facts |
//! | [`ledger`] | the evidence graph and its indexes |
//! | [`check`] | one rule a file |
//! | [`policy`], [`governance`] | what a run requires |
//! | [`run`] | the one door: append, rule, replay |
//! | [`witness`] | facts of a loop that is not ours, by their own names |
//! | [`explain`](mod@explain), [`report`], [`graph`] | views |

pub mod check;
pub mod decision;
pub mod event;
pub mod explain;
pub mod gate;
pub mod governance;
pub mod graph;
pub mod ledger;
pub mod node;
pub mod policy;
pub mod report;
pub mod run;
pub mod witness;

pub use check::{Check, View};
pub use decision::{Decision, Finding, Form, Next, Reason, Status, Verification};
pub use event::{
    Call, CallKind, CancelWhen, CandidateMade, Cause, Claim, Cut, Declared, Disposed, Disposition, Effect, Event, Finish, GuardVerdict, NudgeBy,
    Outcome, Record, ReplyExtra, Report, Resolution, ResumedBy, RunStarted, StepOutcome, StepSpec, Usage, Verdict, Via,
};
pub use explain::explain;
pub use gate::{Final, Gate};
pub use governance::Governance;
pub use graph::{GraphView, Picture};
pub use ledger::{AppendError, Ledger, RunState};
pub use node::{NodeId, NodeKind, ROOT, Ref, Str};
pub use policy::{Deliverable, Limits, ModeRules, OnCapSpent, OnGuardPanic, OnLost, OnMissingEvidence, Policy, PolicyError, Reconciliation, Relay};
pub use report::RunReport;
pub use run::{ReplayError, Run};
