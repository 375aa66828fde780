//! Images that came with a task, by reference: a log says what was shown, and does not hold it.

use crate::node::Str;
use serde::{Deserialize, Serialize};

/// One image. Its bytes stand beside the log, in the journal; the digest is part of the log, so that a replay or an audit
/// can tell whether what stands there is what was shown.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ImageRef {
    /// What it is.
    pub media: MediaType,
    /// How long it is, in bytes.
    pub bytes: u32,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: Str,
}

/// The kinds of image that the providers take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum MediaType {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
    /// WebP.
    #[serde(rename = "image/webp")]
    Webp,
}

impl MediaType {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}
