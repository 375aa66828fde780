//! Frames of a stream of server-sent events.

use super::event::WireEvent;
use bytes::Bytes;

/// Says that the stream is alive, and nothing else.
pub const BEAT: Bytes = Bytes::from_static(b": beat\n\n");

/// What one record is on the wire: its last event carries the record's number, so that whoever comes back with it
/// has seen all of the record. Nothing where there are no events.
pub fn frame(seq: u32, events: &[WireEvent]) -> Option<Bytes> {
    let (last, rest) = events.split_last()?;
    let mut text = Vec::with_capacity(256 * events.len());
    rest.iter().for_each(|event| write(&mut text, event, None));
    write(&mut text, last, Some(seq));
    Some(text.into())
}

/// Events that stand for no record: none has an id.
pub fn preview_frame(events: &[WireEvent]) -> Bytes {
    let mut text = Vec::with_capacity(96 * events.len());
    events.iter().for_each(|event| write(&mut text, event, None));
    text.into()
}

fn write(text: &mut Vec<u8>, event: &WireEvent, id: Option<u32>) {
    text.extend_from_slice(b"event: ");
    text.extend_from_slice(event.name().as_bytes());
    if let Some(id) = id {
        text.extend_from_slice(b"\nid: ");
        text.extend_from_slice(id.to_string().as_bytes());
    }
    text.extend_from_slice(b"\ndata: ");
    // JSON has no raw line breaks, so it is one line of data. These types have no maps with keys of other kinds, so
    // writing them does not fail.
    let _ = serde_json::to_writer(&mut *text, event);
    text.extend_from_slice(b"\n\n");
}
