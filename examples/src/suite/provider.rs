//! What a provider does.

use super::Live;
use super::cast::{looker, say, stage_with};
use countersign::testing::{Fault, FaultyModel, ScriptedModel};
use countersign::{BuildError, Policy, Reason, Runner, Single, Status};

pub(super) const LIVE: &[Live] = &[
    Live {
        name: "provider/fails_once",
        about: "an error of the provider is tried again",
        task: "Say hello.",
        runner: || failing(1, None, Policy::conversation()),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[],
    },
    Live {
        name: "provider/fails_for_good",
        about: "it fails for good, with half an answer: that half is no answer",
        task: "Say hello.",
        runner: || failing(9, Some("Hel"), Policy::conversation()),
        outside: &[],
        must: (Status::Failed, Reason::ProviderError),
        refused: &[],
    },
    Live {
        name: "provider/filtered",
        about: "its filter takes the answer away",
        task: "Say hello.",
        runner: || faulty(vec![(1, Fault::Filtered)], Policy::conversation()),
        outside: &[],
        must: (Status::Failed, Reason::ContentFiltered),
        refused: &[],
    },
    Live {
        name: "provider/fails_twice",
        about: "as often as the policy tries again, and then it works",
        task: "Say hello.",
        runner: || failing(2, None, Policy { retries: 2, ..Policy::conversation() }),
        outside: &[],
        must: (Status::Completed, Reason::NotRequired),
        refused: &[],
    },
];

/// A provider that fails so many times.
fn failing(times: u32, partial: Option<&str>, policy: Policy) -> Result<Runner, BuildError> {
    faulty((1..=times).map(|call| (call, Fault::Error(partial.map(str::to_owned)))).collect(), policy)
}

fn faulty(faults: Vec<(u32, Fault)>, policy: Policy) -> Result<Runner, BuildError> {
    let model = FaultyModel::new(ScriptedModel(|_: &_| say("Hello.")), faults);
    stage_with(Single::default(), model).agent(looker("main")).policy(policy).build()
}
