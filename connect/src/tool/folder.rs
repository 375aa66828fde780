//! One folder, held open: paths lead into it and nowhere else, whatever links and races there are.

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};
use countersign::ToolError;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most bytes of one file that are read. The run shows a model less, and keeps the rest.
pub const READ_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long one call of a file tool may take.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(20);

/// A folder that tools may look into, and nothing beside it. Cheap to clone.
///
/// It is held open, so it stays the same folder if another one takes its place; the kernel, not a check of
/// ours, refuses a path that leads out of it.
#[derive(Clone, Debug)]
pub struct Folder {
    root: Arc<Path>,
    dir: Arc<Dir>,
}

/// A folder that tools may also write to. Its clones take turns: two edits of one file never cross.
#[derive(Clone, Debug)]
pub struct WritableFolder {
    folder: Folder,
    turn: Arc<Mutex<()>>,
}

impl Folder {
    /// Opens a folder. An error names it.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref();
        let named = |e: io::Error| io::Error::new(e.kind(), format!("the folder `{}` cannot be opened: {e}", root.display()));
        let real = root.canonicalize().map_err(named)?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(named)?;
        Ok(Self { root: real.into(), dir: Arc::new(dir) })
    }

    /// Where it is: an absolute path without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Lets tools write to it, too. Whoever calls this confirms the folder: everything in it may be overwritten.
    /// Refused for a folder that has no parent, such as `/`.
    pub fn writable(&self) -> io::Result<WritableFolder> {
        match self.root.parent() {
            Some(_) => Ok(WritableFolder { folder: self.clone(), turn: Arc::default() }),
            None => Err(io::Error::other(format!("`{}` is the whole machine; name a folder in it", self.root.display()))),
        }
    }

    /// A file's text, up to [`READ_BYTES_MAX`]; bytes that are not UTF-8 are shown as `�`.
    pub fn read(&self, path: &str) -> Result<String, ToolError> {
        let (text, size) = self.text(path, READ_BYTES_MAX)?;
        let cut = if size > READ_BYTES_MAX { format!("\n[cut: {size} bytes in all]") } else { String::new() };
        Ok(text + &cut)
    }

    /// Whether a path leads to something in the folder, once links are followed.
    pub fn holds(&self, path: &str) -> Result<(), ToolError> {
        let inside = confined(path)?;
        self.dir.metadata(inside).map(drop).map_err(|e| cannot(path, "read", &e))
    }

    /// The beginning of a file, with the size of the whole in bytes.
    pub(crate) fn text(&self, path: &str, most: u64) -> Result<(String, u64), ToolError> {
        let file = self.file(path)?;
        let size = file.metadata().map_err(|e| cannot(path, "read", &e))?.len();
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(|e| cannot(path, "read", &e))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), size))
    }

    /// A file, opened for reading. Pipes and devices are no files: opening one could wait for ever.
    pub(crate) fn file(&self, path: &str) -> Result<File, ToolError> {
        let inside = confined(path)?;
        let about = self.dir.metadata(&inside).map_err(|e| cannot(path, "read", &e))?;
        if !about.is_file() {
            return Err(ToolError::failed(format!("`{path}` cannot be read: it is not a file")));
        }
        self.dir.open(&inside).map_err(|e| cannot(path, "read", &e))
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }
}

impl WritableFolder {
    /// The folder, to be looked into.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Held by whoever changes something.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        // Whoever panicked with it left no file half written.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A path of the model's: relative, and without `..`.
pub(crate) fn confined(path: &str) -> Result<PathBuf, ToolError> {
    let said = Path::new(path);
    if !said.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Err(ToolError::failed(format!("`{path}` leads out of the folder; paths are relative, without `..`")));
    }
    let inside: PathBuf = said.components().filter(|c| matches!(c, Component::Normal(_))).collect();
    Ok(if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside })
}

/// What could not be done to a path, and why.
pub(crate) fn cannot(path: &str, what: &str, error: &io::Error) -> ToolError {
    // What the kernel's refusal to leave the folder looks like.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return ToolError::failed(format!("`{path}` is a link that leads out of the folder"));
    }
    ToolError::failed(format!("`{path}` cannot be {what}: {error}"))
}

/// Work on files blocks: it is kept off the thread that drives the run, so that time limits hold.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, ToolError> + Send + 'static) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(ToolError::failed)?
}
