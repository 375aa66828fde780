//! Live scenarios: runs of the real driver, with scripted models, that must come to a given ruling.
//!
//! ```text
//! Live ──▶ Runner ──▶ RunResult ──┐
//!                                 ├──▶ Row ──▶ table, JSON
//! scenarios/*.txt ──▶ play ───────┘
//! ```
//!
//! | module | what it shows |
//! |---|---|
//! | [`cast`] | the agents, tools and lines that scenarios share |
//! | `single`, `deep`, `plan_execute`, `supervisor` | the four modes |
//! | `custom` | modes of one's own, nested modes, a check of one's own |
//! | `calls`, `people`, `limits`, `provider`, `guards`, `governance` | what happens to a run |
//! | [`row`], [`mod@table`] | what a scenario came to, as data and as a table |

mod calls;
pub mod cast;
mod custom;
mod deep;
mod governance;
mod guards;
mod limits;
mod people;
mod plan_execute;
mod provider;
pub mod row;
mod single;
mod supervisor;
pub mod table;

pub use row::{Row, rows};
pub use table::table;

use countersign::live::Command;
use countersign::{BuildError, CancelWhen, Decision, DriveError, Event, JournalError, Limits, LiveRun, Reason, RunResult, Runner, Status, Streamed};

/// What somebody outside says to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Grants every approval that the run waits for.
    Grant,
    /// Denies every approval that the run waits for, with this reason.
    Deny(&'static str),
    /// Answers every question that the run waits for.
    Answer(&'static str),
    /// Takes the run up again, with so many turns in all.
    MoreTurns(u32),
    /// Cancels at once, as soon as a model has called a tool.
    CancelOnceCalled,
}

/// One live scenario.
pub struct Live {
    /// Its name: the area, then what happens.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// What the user asks for.
    pub task: &'static str,
    /// Builds its runner.
    pub runner: fn() -> Result<Runner, BuildError>,
    /// What is said to it from outside, in order.
    pub outside: &'static [Outside],
    /// What it must come to.
    pub must: (Status, Reason),
    /// What must be refused on the way, in order.
    pub refused: &'static [Reason],
}

/// A scenario that could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Its runner cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Its run could not go on.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// Its events could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Every live scenario, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Live> {
    let areas: [&'static [Live]; 11] = [
        single::LIVE,
        deep::LIVE,
        plan_execute::LIVE,
        supervisor::LIVE,
        custom::LIVE,
        calls::LIVE,
        people::LIVE,
        limits::LIVE,
        provider::LIVE,
        guards::LIVE,
        governance::LIVE,
    ];
    areas.into_iter().flatten()
}

impl Live {
    /// Runs it to its end, or to where it parks with nobody left to say anything.
    pub async fn run(&self) -> Result<RunResult, SuiteError> {
        self.run_with(&(self.runner)()?).await
    }

    /// The same with a runner that is there.
    pub async fn run_with(&self, runner: &Runner) -> Result<RunResult, SuiteError> {
        let live = runner.start(self.name, self.task)?;
        if self.outside.contains(&Outside::CancelOnceCalled) {
            cancel_once_called(&live).await?;
        }
        let result = live.result().await?;
        self.hear(runner, result).await
    }

    /// Says to a run, as it stands, what has not been said to it yet.
    pub async fn hear(&self, runner: &Runner, mut result: RunResult) -> Result<RunResult, SuiteError> {
        for word in self.outside {
            if result.decision.status.is_terminal() {
                break;
            }
            let (commands, limits) = (word.commands(&result.decision), word.limits());
            if !commands.is_empty() || limits.is_some() {
                result = runner.resume(self.name, commands, limits).await?.result().await?;
            }
        }
        Ok(result)
    }
}

impl Outside {
    /// The same, as commands to a run that stands so.
    fn commands(self, decision: &Decision) -> Vec<Command> {
        let settle = |granted: bool, why: &str| {
            let one = |r: &countersign::Ref| Command::Approve { approval: r.node, granted, by: "a person".into(), why: why.into(), args: None };
            decision.pending_approvals.iter().map(one).collect()
        };
        match self {
            Self::Grant => settle(true, ""),
            Self::Deny(why) => settle(false, why),
            Self::Answer(text) => {
                let one = |r: &countersign::Ref| Command::Answer { question: r.node, text: text.into() };
                decision.pending_questions.iter().map(one).collect()
            }
            Self::MoreTurns(_) | Self::CancelOnceCalled => Vec::new(),
        }
    }

    /// The limits that it raises.
    fn limits(self) -> Option<Limits> {
        match self {
            Self::MoreTurns(turns) => Some(Limits { turns, ..Limits::default() }),
            Self::Grant | Self::Deny(_) | Self::Answer(_) | Self::CancelOnceCalled => None,
        }
    }
}

/// Follows the events of a run until a model has called a tool, and cancels.
async fn cancel_once_called(live: &LiveRun) -> Result<(), JournalError> {
    let mut events = live.events(0);
    while let Some(streamed) = events.next().await {
        if let Streamed::Event(record) = streamed?
            && matches!(&record.event, Event::ModelReplied { calls, .. } if !calls.is_empty())
        {
            live.cancel(CancelWhen::AtOnce);
            break;
        }
    }
    Ok(())
}
