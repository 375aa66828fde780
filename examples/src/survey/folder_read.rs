//! A check of our own: a survey of files that nobody read is no survey.

use countersign::ledger::ToolRun;
use countersign::{Check, Event, Finding, Outcome, RunState, View};

/// At least one file was read. Where none was, the finding says what the tools said instead.
pub(super) struct FolderRead;

impl Check for FolderRead {
    fn name(&self) -> &str {
        "folder_read"
    }

    fn examine(&self, view: &View<'_>) -> Result<Option<Finding>, String> {
        let ledger = view.ledger;
        let named = |run: &ToolRun, name: &str| ledger.call(run).is_some_and(|call| &*call.name == name);
        let ended = |run: &ToolRun, outcome| run.state == RunState::Settled(outcome);
        let runs = ledger.tool_runs();
        if runs.iter().any(|run| named(run, "read_file") && ended(run, Outcome::Completed)) {
            return Ok(None);
        }
        let failed: Vec<&ToolRun> = runs.iter().filter(|run| ended(run, Outcome::Failed) || ended(run, Outcome::TimedOut)).collect();
        let said = failed.iter().find_map(|run| {
            ledger.log().iter().find_map(|record| match &record.event {
                Event::ToolSettled { call, text, .. } if *call == run.id => Some(text),
                _ => None,
            })
        });
        let why = said.map(|text| format!(": {text}")).unwrap_or_default();
        Ok(Some(Finding {
            check: self.name().into(),
            subjects: view.refs(failed.iter().map(|run| run.id)),
            message: format!("no file of the folder was read{why}"),
            remedy: "survey a folder that holds files and can be read".into(),
        }))
    }
}
