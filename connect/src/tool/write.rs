//! Writing a whole file.

use super::folder::{TIME_MAX, WritableFolder, cannot, confined, off_thread};
use cap_std::fs::OpenOptions;
use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest file that is written, in bytes.
pub const WRITE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A whole file.
#[derive(Deserialize, JsonSchema)]
struct WriteArgs {
    /// Its path below the folder. Folders above it are made.
    path: String,
    /// All of its text.
    text: String,
}

impl WritableFolder {
    /// Writes a whole file, in place of what was there.
    pub fn write_tool(&self) -> impl countersign::Tool + use<> {
        let folder = self.clone();
        let run = move |args: WriteArgs| {
            let folder = folder.clone();
            off_thread(move || {
                folder.write(&args.path, &args.text)?;
                Ok(format!("{}: {} bytes written", args.path, args.text.len()))
            })
        };
        let tool: FnTool<Run> = FnTool::new("write_file", "Write a whole file, in place of what was there.", Declared::run(Effect::Write), run);
        tool.timeout(TIME_MAX)
    }

    /// Writes a file, and the folders above it. It is either as it was or as it is to be, never half of it. A
    /// link is written through where it leads to a file in the folder, and refused where it leads out of it.
    pub fn write(&self, path: &str, text: &str) -> Result<(), ToolError> {
        let _turn = self.turn();
        self.put(path, text)
    }

    /// As [`write`](Self::write), by somebody whose turn it is.
    pub(super) fn put(&self, path: &str, text: &str) -> Result<(), ToolError> {
        if text.len() > WRITE_BYTES_MAX {
            return Err(ToolError::failed(format!("{} bytes are too many; at most {WRITE_BYTES_MAX} are written", text.len())));
        }
        let inside = confined(path)?;
        let failed = |e: io::Error| cannot(path, "written", &e);
        let target = self.behind_links(&inside).map_err(failed)?;
        match self.folder().dir().metadata(&target) {
            Ok(about) if !about.is_file() => return Err(ToolError::failed(format!("`{path}` cannot be written: it is not a file"))),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(failed(e)),
        }
        self.replace(&target, text).map_err(failed)
    }

    /// Where a link leads, if it leads to something in the folder.
    fn behind_links(&self, inside: &Path) -> io::Result<PathBuf> {
        match self.folder().dir().symlink_metadata(inside) {
            Ok(about) if about.is_symlink() => self.folder().dir().canonicalize(inside),
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(inside.to_owned()),
        }
    }

    fn replace(&self, target: &Path, text: &str) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let dir = self.folder().dir();
        let parent = target.parent().filter(|p| !p.as_os_str().is_empty());
        parent.map_or(Ok(()), |p| dir.create_dir_all(p))?;
        let name = format!(".countersign-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let beside = parent.map_or_else(|| PathBuf::from(&name), |p| p.join(&name));
        let mut file = dir.open_with(&beside, OpenOptions::new().write(true).create_new(true))?;
        let written = file.write_all(text.as_bytes()).and_then(|()| match dir.metadata(target) {
            Ok(was) => file.set_permissions(was.permissions()),
            Err(_) => Ok(()),
        });
        drop(file);
        written.and_then(|()| dir.rename(&beside, dir, target)).inspect_err(|_| {
            // Best effort: the name is one that no tool lists.
            let _ = dir.remove_file(&beside);
        })
    }
}
