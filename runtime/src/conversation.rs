//! Several runs in one conversation: what a new one is told of those before it.

use crate::journal::projection::{RunQuery, RunSummary};
use crate::journal::{Journal, JournalError};
use countersign_core::event::{Exchange, History};
use countersign_core::{Event, Limits, Str};

/// What was said in a conversation so far, as its journal has it: the newest runs, as many as the limits take, the
/// oldest first. With an owner, among that one's runs alone. `None` where there are none, as in a conversation that begins.
///
/// An answer comes from a message that is finalized, and from nothing else. A run that does not fit as a whole is left
/// out with all that are older.
pub async fn history(journal: &dyn Journal, conversation: &str, owner: Option<&Str>, limits: &Limits) -> Result<Option<History>, JournalError> {
    let most = limits.history_runs as usize;
    // One more than are told shows whether there are more.
    let query = RunQuery { conversation: Some(conversation.into()), owner: owner.cloned(), most: most.saturating_add(1), ..RunQuery::default() };
    let runs = journal.list(&query).await?;
    let mut history = History { cut: runs.len() > most, exchanges: Vec::new() };
    let mut room = limits.history_bytes as usize;
    for run in runs.iter().take(most) {
        let Some(said) = exchange(journal, run).await? else { continue };
        let Some(left) = room.checked_sub(said.task.len() + said.answer.as_deref().map_or(0, str::len)) else {
            history.cut = true;
            break;
        };
        room = left;
        history.exchanges.push(said);
    }
    history.exchanges.reverse();
    Ok(Some(history).filter(|history| history.cut || !history.exchanges.is_empty()))
}

/// One run as the conversation has it. A summary has only the beginning of its task: the whole is in its first event.
async fn exchange(journal: &dyn Journal, run: &RunSummary) -> Result<Option<Exchange>, JournalError> {
    let first = journal.read(&run.run, 0, 1).await?;
    let Some(Event::RunStarted(start)) = first.first().map(|record| &record.event) else { return Ok(None) };
    let message = journal.message(&run.run).await?;
    let answer: Option<Str> = message.filter(|message| message.finalized).and_then(|message| message.content);
    let images = u32::try_from(start.images.len()).unwrap_or(u32::MAX);
    Ok(Some(Exchange { run: run.run.clone(), task: start.task.clone(), images, answer, status: run.status }))
}
