//! A scratch folder: what is edited is a copy, and the copy is gone when the run is.

use countersign_connect::tool::Folder;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Most files that are copied.
const FILES_MAX: usize = 1_000;

/// A small library that does not compile. The compiler knows how to mend it, in two rounds: it looks at
/// borrows only once the types fit.
pub const SAMPLE: &str = "//! Adds up a bill.

/// One line of a bill.
pub struct Line {
    /// How many.
    pub pieces: u32,
    /// Price of one, in cents.
    pub price_cents: u32,
}

/// The sum of a bill, in cents.
pub fn total_cents(lines: &[Line]) -> u64 {
    let sum: u32 = 0
    for line in lines {
        sum += line.pieces * line.price_cents;
    }
    sum
}
";

/// A folder that is deleted when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// An empty one.
    pub fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("countersign-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(Self { path })
    }

    /// The sample project.
    pub fn sample() -> io::Result<Self> {
        let scratch = Self::new()?;
        scratch.write("src/lib.rs", SAMPLE)?;
        Ok(scratch)
    }

    /// A copy of a folder's files. Links are left out.
    pub fn copy_of(folder: &Folder) -> io::Result<Self> {
        let (files, cut) = folder.files(".").map_err(io::Error::other)?;
        if cut || files.len() > FILES_MAX {
            return Err(io::Error::other(format!("the folder is too large: {FILES_MAX} files are copied at most")));
        }
        let scratch = Self::new()?;
        for file in files {
            scratch.write(&file.path, std::fs::read(folder.root().join(&*file.path))?)?;
        }
        Ok(scratch)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> io::Result<()> {
        let to = self.path.join(path);
        to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(to, text)
    }

    /// What tools may look into.
    pub fn folder(&self) -> io::Result<Folder> {
        Folder::open(&self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whatever is left over lies among temporary files.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
