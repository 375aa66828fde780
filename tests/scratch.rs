//! A folder of one test's own, gone with it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// An empty folder that is removed when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one that no other test has.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("countersign-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for the test can be made");
        Self(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
