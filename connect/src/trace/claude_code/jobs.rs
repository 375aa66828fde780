//! Work in the background of a session: shells and agents that go on after their call returned.
//!
//! A job is no open end any more once the model has looked at it: it read the output, asked for it, stopped it, or
//! was told that it ended. Whether a server that it left running was meant to run on, nobody can tell.

use crate::trace::Tale;
use countersign_core::Outcome;
use serde_json::Value;

/// Jobs that the model has not looked at since they began.
#[derive(Default)]
pub(super) struct Jobs {
    /// The id of each, and the call that began it.
    unseen: Vec<(String, String)>,
}

impl Jobs {
    /// A result, with what the program keeps of it: does it say that its call goes on?
    pub(super) fn begins(&mut self, call: &str, kept: &str, tale: &mut Tale) -> bool {
        let bytes = kept.as_bytes();
        let goes_on = memchr::memmem::find(bytes, b"\"backgroundTaskId\"").is_some() || memchr::memmem::find(bytes, b"\"async_launched\"").is_some();
        if !goes_on {
            return false;
        }
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        let id = ["backgroundTaskId", "agentId"].into_iter().find_map(|field| kept.get(field)?.as_str());
        let Some(id) = id else { return false };
        tale.goes_on(call, id);
        self.unseen.push((id.to_owned(), call.to_owned()));
        true
    }

    /// A call whose arguments name a job looks at it.
    pub(super) fn looked_at(&mut self, args: &str, tale: &mut Tale) {
        self.end(|id| args.contains(id), Outcome::Completed, tale);
    }

    /// What the program tells the model of a job that ended.
    pub(super) fn notified(&mut self, said: &str, tale: &mut Tale) {
        if !said.contains("<task-notification>") {
            return;
        }
        let failed = said.contains("<status>failed</status>");
        let killed = said.contains("<status>killed</status>");
        let outcome = if failed || killed { Outcome::Failed } else { Outcome::Completed };
        self.end(|id| said.contains(&format!("<task-id>{id}</task-id>")), outcome, tale);
    }

    fn end(&mut self, is: impl Fn(&str) -> bool, outcome: Outcome, tale: &mut Tale) {
        for (_, call) in self.unseen.extract_if(.., |(id, _)| is(id)) {
            tale.tell(|w| w.job_ended(&call, outcome, ""));
        }
    }
}
