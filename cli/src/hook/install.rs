//! `countersign hook install` and `uninstall`: edits the settings of a host, shows what it changes, and can be undone.

use super::Host;
use super::replace::{self, beside};
use super::settings::{with_hook, without_hook};
use crate::GOOD;
use anyhow::{Context, Result, bail};
use clap::Args;
use similar::TextDiff;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Which settings.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// The host.
    #[arg(long = "for", value_name = "HOST")]
    host: Host,
    /// The settings of the project in this folder, on this machine; the default.
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// The settings of the user.
    #[arg(long)]
    user: bool,
    /// Only shows what would be changed.
    #[arg(long)]
    dry_run: bool,
}

/// Where settings stand, and which program they are to call.
#[derive(Debug)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The program, as an absolute path.
    pub program: PathBuf,
}

/// Puts the hook in.
pub(super) fn install(args: &InstallArgs, out: &mut dyn Write) -> Result<u8> {
    Place::of(args)?.install(args.host, args.dry_run, out)
}

/// Takes it out.
pub(super) fn uninstall(args: &InstallArgs, out: &mut dyn Write) -> Result<u8> {
    Place::of(args)?.uninstall(args.host, args.dry_run, out)
}

impl Place {
    fn of(args: &InstallArgs) -> Result<Self> {
        let root = if args.user { std::env::home_dir().context("there is no home folder")? } else { std::env::current_dir()? };
        let program = std::env::current_exe().context("this program does not know where it is")?;
        Ok(Self { file: root.join(file(args.host, args.user)), program })
    }

    /// Puts the hook in, after showing what that changes.
    pub fn install(&self, host: Host, dry_run: bool, out: &mut dyn Write) -> Result<u8> {
        let old = self.read()?;
        let new = with_hook(old.as_deref().unwrap_or_default(), host, &self.program.to_string_lossy()).with_context(|| self.unparsable())?;
        if self.shown(old.as_deref(), Some(&new), out)? || dry_run {
            return Ok(GOOD);
        }
        if let Some(old) = &old {
            // The first backup stays: it is from before any hook of ours.
            let backup = self.backup();
            if !backup.exists() {
                replace::write(&backup, old.as_bytes()).with_context(|| format!("`{}` cannot be written", backup.display()))?;
            }
        } else if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
        }
        replace::write(&self.file, new.as_bytes()).with_context(|| format!("`{}` cannot be written", self.file.display()))?;
        writeln!(out, "written; undo it with `countersign hook uninstall --for {}`", host.name())?;
        if host == Host::Codex {
            writeln!(out, "codex runs a new hook once you have trusted it: it asks when it is started next")?;
        }
        Ok(GOOD)
    }

    /// Takes the hook out, after showing what that changes.
    pub fn uninstall(&self, host: Host, dry_run: bool, out: &mut dyn Write) -> Result<u8> {
        let Some(old) = self.read()? else {
            writeln!(out, "`{}` is not there: nothing is installed", self.file.display())?;
            return Ok(GOOD);
        };
        let backup = std::fs::read_to_string(self.backup()).ok();
        let put_in = |before: &String| with_hook(before, host, &self.program.to_string_lossy()).is_ok_and(|then| then == old);
        let new = match backup.filter(put_in) {
            // Nobody edited it since: it becomes what it was, to the letter.
            Some(before) => Some(before),
            None => without_hook(&old, host).with_context(|| self.unparsable())?,
        };
        if self.shown(Some(&old), new.as_deref(), out)? || dry_run {
            return Ok(GOOD);
        }
        match new {
            Some(new) => replace::write(&self.file, new.as_bytes()),
            None => std::fs::remove_file(&self.file),
        }
        .with_context(|| format!("`{}` cannot be written", self.file.display()))?;
        let _ = std::fs::remove_file(self.backup());
        writeln!(out, "written")?;
        Ok(GOOD)
    }

    /// The settings; `None` where there are none yet. A link is refused, wherever on the way it stands: what is behind
    /// it may be shared with other machines or people.
    fn read(&self) -> Result<Option<String>> {
        for path in [Some(self.file.as_path()), self.file.parent()].into_iter().flatten() {
            if path.is_symlink() {
                bail!("`{}` is a link: edit what it points at by hand, or replace it by a file", path.display());
            }
        }
        match std::fs::read_to_string(&self.file) {
            Ok(text) => Ok(Some(text)),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
            Err(why) => Err(why).with_context(|| format!("`{}` cannot be read", self.file.display())),
        }
    }

    fn backup(&self) -> PathBuf {
        beside(&self.file, "countersign-backup")
    }

    fn unparsable(&self) -> String {
        format!("`{}` is not the JSON of settings, and is left as it is: mend it first", self.file.display())
    }

    /// Shows the difference. Whether there is none.
    fn shown(&self, old: Option<&str>, new: Option<&str>, out: &mut dyn Write) -> Result<bool> {
        if old == new {
            writeln!(out, "`{}` needs no change", self.file.display())?;
            return Ok(true);
        }
        let name = self.file.display().to_string();
        let name = |text: Option<&str>| if text.is_some() { name.clone() } else { "/dev/null".to_owned() };
        let diff = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
        write!(out, "{}", diff.unified_diff().header(&name(old), &name(new)))?;
        Ok(false)
    }
}

/// The file in which a host looks for hooks, below the project or the home folder.
fn file(host: Host, user: bool) -> &'static Path {
    Path::new(match (host, user) {
        // The project's settings of this machine alone: they name a program by its path.
        (Host::ClaudeCode, false) => ".claude/settings.local.json",
        (Host::ClaudeCode, true) => ".claude/settings.json",
        (Host::Codex, _) => ".codex/hooks.json",
        (Host::Cursor, _) => ".cursor/hooks.json",
    })
}
