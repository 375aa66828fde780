//! What a writer waits with until the thread that writes has answered.
//!
//! One commit answers many at once. To wake each of them from another thread costs more than its write did. So of
//! every async runtime only the first is woken from there; it wakes the rest from within, which is a push to a queue.

use crate::journal::JournalError;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::runtime::{Handle, Id};

/// What became of a write.
type Answer = Result<(), JournalError>;

/// Somebody who waits, and the runtime in which that is.
struct Waiting {
    waker: Waker,
    runtime: Option<Id>,
}

/// Those whom one commit has answered and nobody has woken yet.
#[derive(Default)]
struct Round(Mutex<Vec<Waiting>>);

impl Round {
    /// Wakes those who wait in a runtime.
    fn wake(&self, runtime: Option<Id>) {
        let found: Vec<Waiting> = {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.extract_if(.., |other| other.runtime == runtime).collect()
        };
        found.into_iter().for_each(|other| other.waker.wake());
    }
}

enum Slot {
    Waiting(Option<Waiting>),
    Answered(Answer, Arc<Round>),
    Over,
}

type Shared = Arc<Mutex<Slot>>;

fn swap(shared: &Shared, slot: Slot) -> Slot {
    std::mem::replace(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner), slot)
}

/// Both ends of a wait.
pub(super) fn slip() -> (Teller, Asker) {
    let shared = Arc::new(Mutex::new(Slot::Waiting(None)));
    (Teller(Some(shared.clone())), Asker { shared, runtime: None })
}

/// The end that answers. Dropped without an answer, it says that the writer is gone.
pub(super) struct Teller(Option<Shared>);

impl Teller {
    /// Answers, and returns who is to be woken.
    fn answer(&mut self, answer: Answer, round: &Arc<Round>) -> Option<Waiting> {
        let shared = self.0.take()?;
        match swap(&shared, Slot::Answered(answer, round.clone())) {
            Slot::Waiting(waiting) => waiting,
            Slot::Answered(..) | Slot::Over => None,
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        let gone = Err(JournalError::Store("the writer thread is gone".into()));
        if let Some(waiting) = self.answer(gone, &Arc::default()) {
            waiting.waker.wake();
        }
    }
}

/// Answers all that one commit settled.
pub(super) fn answer_all(answers: impl Iterator<Item = (Teller, Answer)>) {
    let round = Arc::<Round>::default();
    let mut first: Vec<Waiting> = Vec::new();
    // Held until all are in: nobody is woken by one of the round before that.
    let mut rest = round.0.lock().unwrap_or_else(PoisonError::into_inner);
    for (mut teller, answer) in answers {
        let Some(waiting) = teller.answer(answer, &round) else { continue };
        let led = waiting.runtime.is_some() && first.iter().any(|leader| leader.runtime == waiting.runtime);
        if led { rest.push(waiting) } else { first.push(waiting) }
    }
    drop(rest);
    first.into_iter().for_each(|leader| leader.waker.wake());
}

/// The end that waits.
pub(super) struct Asker {
    shared: Shared,
    runtime: Option<Id>,
}

impl Future for Asker {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let runtime = Handle::try_current().ok().map(|handle| handle.id());
        let mut slot = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Over) {
            Slot::Answered(answer, round) => {
                drop(slot);
                round.wake(self.runtime);
                Poll::Ready(answer)
            }
            Slot::Waiting(_) | Slot::Over => {
                *slot = Slot::Waiting(Some(Waiting { waker: context.waker().clone(), runtime }));
                drop(slot);
                self.runtime = runtime;
                Poll::Pending
            }
        }
    }
}

impl Drop for Asker {
    /// Whoever was to wake the others, and waits no more, wakes them all the same.
    fn drop(&mut self) {
        if let Slot::Answered(_, round) = swap(&self.shared, Slot::Over) {
            round.wake(self.runtime);
        }
    }
}
