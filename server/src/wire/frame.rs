//! Frames of a stream of server-sent events.

use super::event::WireEvent;
use crate::redact::Redactor;
use bytes::Bytes;

/// Says that the stream is alive, and nothing else.
pub const BEAT: Bytes = Bytes::from_static(b": beat\n\n");

/// What one record is on the wire, without secrets: its last event carries the record's number, so that whoever comes
/// back with it has seen all of the record. Nothing where there are no events.
pub fn frame(seq: u32, events: &[WireEvent], redactor: &Redactor) -> Option<Bytes> {
    let (last, rest) = events.split_last()?;
    let mut text = String::with_capacity(256 * events.len());
    rest.iter().for_each(|event| write(&mut text, event, None, redactor));
    write(&mut text, last, Some(seq), redactor);
    Some(text.into())
}

/// Events that stand for no record: none has an id.
pub fn preview_frame(events: &[WireEvent], redactor: &Redactor) -> Bytes {
    let mut text = String::with_capacity(96 * events.len());
    events.iter().for_each(|event| write(&mut text, event, None, redactor));
    text.into()
}

fn write(text: &mut String, event: &WireEvent, id: Option<u32>, redactor: &Redactor) {
    text.push_str("event: ");
    text.push_str(event.name());
    if let Some(id) = id {
        text.push_str("\nid: ");
        text.push_str(&id.to_string());
    }
    text.push_str("\ndata: ");
    // JSON has no raw line breaks, so it is one line of data. These types have no maps with keys of other kinds, so
    // writing them does not fail.
    let data = serde_json::to_string(event).unwrap_or_default();
    text.push_str(&redactor.strike(&data));
    text.push_str("\n\n");
}
