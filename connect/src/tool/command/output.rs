//! What is kept of a program's output.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The beginning of an output, and how long the whole is so far. Shared with whoever looks while it grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    all: usize,
}

impl Output {
    /// Reads to the end. What is over the limit is read all the same, so that nobody waits for a full pipe.
    pub(crate) async fn fill(&self, from: Option<impl AsyncRead + Unpin>, bytes_max: usize) {
        let Some(mut from) = from else { return };
        let mut buffer = vec![0_u8; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = bytes_max.saturating_sub(kept.bytes.len()).min(read);
            kept.bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
            kept.all += read;
        }
    }

    /// What is kept so far, as text; says where it was cut.
    pub(crate) fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = if kept.all > kept.bytes.len() { format!("\n[cut: {} bytes in all]\n", kept.all) } else { String::new() };
        String::from_utf8_lossy(&kept.bytes).into_owned() + &cut
    }
}
