//! Files that are replaced as a whole, or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file: whoever reads it meanwhile sees the old or the new. Keeps its permissions.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path, &format!("tmp-{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(bytes)?;
        if let Ok(old) = path.metadata() {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The file in the same folder whose name is that of `path`, and an ending more.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}
