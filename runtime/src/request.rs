//! What a run is asked: words, and images that come with them.

use crate::error::DriveError;
use crate::journal::Journal;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::event::{ImageRef, MediaType};
use countersign_core::{ROOT, RunStarted, Str};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What a run is asked. Plain words are one, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is to be done.
    pub task: Str,
    /// Images that come with it, shown to the agents that speak with the user.
    pub images: Vec<Image>,
}

impl Request {
    /// With an image more.
    #[must_use]
    pub fn image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }
}

impl<T: AsRef<str>> From<T> for Request {
    fn from(task: T) -> Self {
        Self { task: task.as_ref().into(), images: Vec::new() }
    }
}

/// The most bytes of one image: in base64 that is the 5 MB that providers take.
pub const IMAGE_BYTES_MAX: usize = 3_750_000;

/// The most images of one task.
pub const IMAGES_MAX: usize = 20;

/// Images that cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// It is none of the kinds that providers take.
    #[error("this is no PNG, JPEG, GIF or WebP, which are what models can be shown; convert it to one of them")]
    Kind,
    /// It is too long.
    #[error("the image has {bytes} bytes, and models can be shown {IMAGE_BYTES_MAX}; make it smaller")]
    Size {
        /// How long it is.
        bytes: usize,
    },
    /// It does not come as base64.
    #[error("the image is no base64; encode its bytes with the standard alphabet and padding")]
    Base64,
    /// There are too many.
    #[error("the task comes with {0} images, and models can be shown {IMAGES_MAX}; leave some out")]
    Many(usize),
}

/// An image that can be shown to a model. Cheap to clone. Written down as its base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "Str")]
pub struct Image {
    // INVARIANT: of the bytes whose base64 stands beside it.
    of: ImageRef,
    base64: Str,
}

impl Image {
    /// Takes an image from its bytes. What it is, they say themselves: a file's name may be wrong.
    pub fn new(bytes: &[u8]) -> Result<Self, ImageError> {
        let media = kind(bytes).ok_or(ImageError::Kind)?;
        let size = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= IMAGE_BYTES_MAX);
        let size = size.ok_or(ImageError::Size { bytes: bytes.len() })?;
        Ok(Self { of: ImageRef { media, bytes: size, sha256: sha256(bytes) }, base64: STANDARD.encode(bytes).into() })
    }

    /// Takes an image from the base64 of its bytes.
    pub fn from_base64(text: &str) -> Result<Self, ImageError> {
        // Not decoded, where it is too long anyway.
        let bytes = text.len() / 4 * 3;
        if bytes > IMAGE_BYTES_MAX + 3 {
            return Err(ImageError::Size { bytes });
        }
        Self::new(&STANDARD.decode(text).map_err(|_| ImageError::Base64)?)
    }

    /// What the log says of it.
    pub fn reference(&self) -> &ImageRef {
        &self.of
    }

    /// Its bytes, in base64.
    pub fn base64(&self) -> &Str {
        &self.base64
    }
}

impl TryFrom<String> for Image {
    type Error = ImageError;

    fn try_from(text: String) -> Result<Self, ImageError> {
        Self::from_base64(&text)
    }
}

impl From<Image> for Str {
    fn from(image: Image) -> Self {
        image.base64
    }
}

/// What the first bytes say.
fn kind(bytes: &[u8]) -> Option<MediaType> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(MediaType::Png),
        [0xff, 0xd8, 0xff, ..] => Some(MediaType::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(MediaType::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(MediaType::Webp),
        _ => None,
    }
}

fn sha256(bytes: &[u8]) -> Str {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}

/// Images as they are kept beside a log, under its first node: the base64 of each on a line of its own.
pub(crate) fn kept(images: &[Image]) -> Str {
    images.iter().map(|image| &*image.base64).collect::<Vec<_>>().join("\n").into()
}

/// The images of a run, from beside its log. Fails where they are not those of which the log speaks.
pub(crate) async fn images_of(journal: &dyn Journal, start: Option<&RunStarted>) -> Result<Vec<Image>, DriveError> {
    let Some(start) = start.filter(|start| !start.images.is_empty()) else { return Ok(Vec::new()) };
    let kept = journal.kept(&start.run, ROOT).await?;
    let unfit = || DriveError::Unfit { run: start.run.clone(), missing: "the images of its task are not there as they were shown".to_owned() };
    kept.and_then(|kept| restored(&kept, &start.images)).ok_or_else(unfit)
}

fn restored(kept: &str, said: &[ImageRef]) -> Option<Vec<Image>> {
    let one = |(line, of): (&str, &ImageRef)| {
        let image = Image::from_base64(line).ok()?;
        (image.of == *of).then_some(image)
    };
    let images: Vec<Image> = kept.lines().zip(said).map(one).collect::<Option<_>>()?;
    (images.len() == said.len()).then_some(images)
}
