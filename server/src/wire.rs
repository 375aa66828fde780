//! What a reader of a run sees: events on the wire, made of the records of its log and of nothing else.
//!
//! ```text
//! record ──▶ Projection (a run folded under its own gate) ──▶ WireEvent ──▶ frame
//! delta  ──▶ Previews ──────────────────────────────────────▶ WireEvent ──▶ frame without an id
//! ```
//!
//! Only `response` with `finalized: true`, made of a [`Final`](countersign::Final), and `error` and `cancelled` with
//! their reason, may fill a message. What an agent is told by the gate or a guard is not among it.

mod event;
mod frame;
mod phase;
mod preview;
mod projection;
mod shown;

pub use event::WireEvent;
pub use frame::{BEAT, frame, preview_frame};
pub use phase::Phase;
pub use preview::Previews;
pub use projection::Projection;
pub(crate) use projection::clipped;
pub use shown::shown;
