//! A run that somebody is busy with: its driver, and its readers.

use crate::hub::Hub;
use countersign::Handle;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A run that somebody is busy with.
#[derive(Default)]
pub(super) struct Slot {
    /// The driver of this process, where there is one. Held by whoever starts, tells or ends one: one at a time.
    pub(super) handle: tokio::sync::Mutex<Option<Handle>>,
    hub: Mutex<Weak<Hub>>,
}

impl Slot {
    /// The hub of the run's readers, opened for the first of them.
    pub(super) fn hub(&self, open: impl FnOnce() -> Arc<Hub>, driver: Option<&Handle>) -> Arc<Hub> {
        let mut known = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hub) = known.upgrade() {
            return hub;
        }
        let hub = open();
        *known = Arc::downgrade(&hub);
        if let Some(driver) = driver {
            hub.attach(driver.events(0));
        }
        hub
    }

    /// Tells readers of a new driver.
    pub(super) fn attach(&self, driver: &Handle) {
        let hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        if let Some(hub) = hub {
            hub.attach(driver.events(hub.seq()));
        }
    }

    /// Whether neither a driver nor a reader is there.
    pub(super) fn is_free(&self) -> bool {
        let driven = self.handle.try_lock().map_or(true, |handle| handle.is_some());
        !driven && self.hub.lock().unwrap_or_else(PoisonError::into_inner).strong_count() == 0
    }
}
