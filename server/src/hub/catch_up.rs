//! Frames that are not at hand any more, made again from the journal.

use super::Hub;
use crate::wire::{Projection, frame};
use bytes::Bytes;
use countersign::Record;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many records are read at a time.
const PAGE: usize = 256;

/// A reader's own fold of a log, from its beginning: what is shown of an event depends on those before it.
pub(super) struct CatchUp {
    projection: Projection,
    page: VecDeque<Arc<Record>>,
}

impl CatchUp {
    pub(super) fn new(hub: &Hub) -> Self {
        Self { projection: Projection::new(hub.gate.clone()), page: VecDeque::new() }
    }

    /// The next frame after an event; `None` once there is nothing more in the journal.
    pub(super) async fn next(&mut self, hub: &Hub, after: u32) -> Result<Option<(u32, Bytes)>, String> {
        loop {
            let Some(record) = self.page.pop_front() else {
                let page = hub.journal.read(&hub.run, self.projection.seq(), PAGE).await.map_err(|e| e.to_string())?;
                if page.is_empty() {
                    return Ok(None);
                }
                self.page = page.into();
                continue;
            };
            let events = self.projection.take(&record).map_err(|e| e.to_string())?;
            if let Some(bytes) = frame(record.seq, &events, &hub.redactor).filter(|_| record.seq > after) {
                return Ok(Some((record.seq, bytes)));
            }
        }
    }
}
