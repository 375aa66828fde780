//! Tools over one folder: list, read, search. Bounded, and confined to that folder.
//!
//! A path comes from a model, so it is untrusted: relative, without `..`, and where it leads once links are
//! followed has to be inside the folder. Bytes that are not UTF-8 are shown as `�`. What is cut says so.

use countersign::tool::Run;
use countersign::{Declared, Effect, FnTool, Str, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Most files in one listing.
pub const FILES_MAX: usize = 5_000;
/// Deepest folder that is listed.
const DEPTH_MAX: usize = 16;
/// Most bytes of one file that are read. The run shows a model less, and keeps the rest.
pub const READ_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Largest file that is searched, in bytes.
const SEARCHED_BYTES_MAX: u64 = 1024 * 1024;
/// Most lines that one search shows.
const HITS_MAX: usize = 200;
/// Longest line that a search shows, in characters.
const HIT_CHARS_MAX: usize = 160;
/// How long one call may take.
const TIME_MAX: Duration = Duration::from_secs(20);
/// Folders that hold what tools made, not what people wrote.
const SKIPPED: &[&str] = &[".git", ".hg", ".out", "node_modules", "target"];

/// A folder that tools may look into, and nothing beside it.
#[derive(Clone, Debug)]
pub struct Folder {
    root: Arc<Path>,
}

/// A file, as a listing tells it.
struct Listed {
    path: String,
    bytes: u64,
}

/// Takes no arguments.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A file.
#[derive(Deserialize, JsonSchema)]
struct PathArgs {
    /// Its path below the folder, such as `src/lib.rs`.
    path: String,
}

/// What to look for.
#[derive(Deserialize, JsonSchema)]
struct SearchArgs {
    /// The exact text.
    text: String,
}

impl Folder {
    /// A folder. Whether it can be read is found out by those who try.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().into() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path of the model's leads, if that is inside the folder.
    pub fn confined(&self, path: &str) -> Result<PathBuf, ToolError> {
        let said = Path::new(path);
        if !said.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
            return Err(ToolError::failed(format!("`{path}` leads out of the folder; paths are relative, without `..`")));
        }
        let root = self.real_root()?;
        let real = root.join(said).canonicalize().map_err(|e| ToolError::failed(format!("`{path}` cannot be read: {e}")))?;
        if real.starts_with(&root) { Ok(real) } else { Err(ToolError::failed(format!("`{path}` is a link that leads out of the folder"))) }
    }

    fn real_root(&self) -> Result<PathBuf, ToolError> {
        let real = self.root.canonicalize().map_err(|e| ToolError::failed(format!("the folder cannot be read: {e}")))?;
        if real.is_dir() { Ok(real) } else { Err(ToolError::failed("the folder cannot be read: it is not a folder")) }
    }

    /// Every file below, one a line: bytes, a tab, the path. Links are not followed.
    pub fn list(&self) -> Result<String, ToolError> {
        let (files, cut) = self.some_files()?;
        let mut text = String::new();
        for file in &files {
            let _ = writeln!(text, "{}\t{}", file.bytes, file.path);
        }
        if cut {
            let _ = writeln!(text, "[cut: there is more than is listed]");
        }
        Ok(text)
    }

    /// Paths of its files, sorted, and whether some were left out.
    pub fn files(&self) -> Result<(Vec<String>, bool), ToolError> {
        let (files, cut) = self.walk()?;
        Ok((files.into_iter().map(|f| f.path).collect(), cut))
    }

    /// A file's text.
    pub fn read(&self, path: &str) -> Result<String, ToolError> {
        let real = self.confined(path)?;
        let (text, size) = text_of(&real, READ_BYTES_MAX).map_err(|e| ToolError::failed(format!("`{path}` cannot be read: {e}")))?;
        let cut = if size > READ_BYTES_MAX { format!("\n[cut: {size} bytes in all]") } else { String::new() };
        Ok(text + &cut)
    }

    /// Lines that hold a text, each as `path:line: text`, and how many there are.
    pub fn search(&self, wanted: &str) -> Result<String, ToolError> {
        if wanted.trim().is_empty() {
            return Err(ToolError::failed("say what to look for"));
        }
        let root = self.real_root()?;
        let (files, mut cut) = self.some_files()?;
        let (mut shown, mut count) = (String::new(), 0_usize);
        for file in files {
            cut |= file.bytes > SEARCHED_BYTES_MAX;
            // A file that cannot be read any more holds nothing that could be shown.
            let Ok((text, _)) = text_of(&root.join(&file.path), SEARCHED_BYTES_MAX) else { continue };
            for (at, line) in text.lines().enumerate().filter(|(_, line)| line.contains(wanted)) {
                count += 1;
                if count <= HITS_MAX {
                    let line: String = line.trim().chars().take(HIT_CHARS_MAX).collect();
                    let _ = writeln!(shown, "{}:{}: {line}", file.path, at + 1);
                }
            }
        }
        let note = if cut || count > HITS_MAX { "[cut: there may be more than is shown]\n" } else { "" };
        Ok(format!("{count} lines\n{shown}{note}"))
    }

    /// Files below the folder, of which there has to be one.
    fn some_files(&self) -> Result<(Vec<Listed>, bool), ToolError> {
        let (files, cut) = self.walk()?;
        if files.is_empty() { Err(ToolError::failed("the folder holds no file")) } else { Ok((files, cut)) }
    }

    /// Files below the folder, sorted, and whether some were left out.
    fn walk(&self) -> Result<(Vec<Listed>, bool), ToolError> {
        let root = self.real_root()?;
        let (mut files, mut cut) = (Vec::new(), false);
        let mut todo = vec![(root.clone(), 0)];
        while let Some((folder, depth)) = todo.pop() {
            let entries = std::fs::read_dir(&folder).map_err(|e| ToolError::failed(format!("the folder cannot be read: {e}")))?;
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let skipped = SKIPPED.iter().any(|s| entry.file_name() == *s);
                match () {
                    () if skipped || kind.is_symlink() => {}
                    () if kind.is_dir() && depth < DEPTH_MAX => todo.push((entry.path(), depth + 1)),
                    () if kind.is_file() && files.len() < FILES_MAX => files.push(listed(&root, &entry)),
                    () => cut = true,
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((files, cut))
    }

    /// Lists every file of the folder.
    pub fn list_tool(&self) -> FnTool<Run> {
        let folder = self.clone();
        let run = move |_: Nothing| off_thread(folder.clone(), |f| f.list());
        FnTool::new("list", "List every file of the folder, with its size in bytes.", Declared::run(Effect::Read), run).timeout(TIME_MAX)
    }

    /// Reads one file.
    pub fn read_tool(&self) -> FnTool<Run> {
        let folder = self.clone();
        let run = move |args: PathArgs| off_thread(folder.clone(), move |f| f.read(&args.path));
        FnTool::new("read", "Read a file.", Declared::run(Effect::Read), run).timeout(TIME_MAX)
    }

    /// Searches every file.
    pub fn search_tool(&self) -> FnTool<Run> {
        let folder = self.clone();
        let run = move |args: SearchArgs| off_thread(folder.clone(), move |f| f.search(&args.text));
        FnTool::new("search", "Find the lines that hold a text.", Declared::run(Effect::Read), run).timeout(TIME_MAX)
    }
}

/// Work on files blocks: it is kept off the thread that drives the run, so that time limits hold.
async fn off_thread(folder: Folder, work: impl FnOnce(&Folder) -> Result<String, ToolError> + Send + 'static) -> Result<String, ToolError> {
    tokio::task::spawn_blocking(move || work(&folder)).await.map_err(ToolError::failed)?
}

fn listed(root: &Path, entry: &std::fs::DirEntry) -> Listed {
    let path = entry.path();
    let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
    Listed { path, bytes: entry.metadata().map_or(0, |m| m.len()) }
}

/// The beginning of a file, with the size of the whole.
fn text_of(path: &Path, most: u64) -> std::io::Result<(String, u64)> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), about.len()))
}

/// A listing read back: bytes and path of each file, and whether it was cut.
pub fn read_listing(listing: &str) -> (Vec<(u64, Str)>, bool) {
    let line = |line: &str| line.split_once('\t').and_then(|(bytes, path)| Some((bytes.parse().ok()?, path.into())));
    (listing.lines().filter_map(line).collect(), listing.contains("\n[cut: "))
}
