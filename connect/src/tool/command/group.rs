//! A program with its children: one process group, with limits, that dies as a whole.

use super::Limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::{ExitStatus, Stdio};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A program that runs. Dropping it kills its whole process group; the runtime reaps the program itself.
///
/// A child that leaves the group on purpose is not found again: this is no sandbox.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    pid: Option<Pid>,
}

impl Group {
    /// Starts a program as the first of a group of its own. Nothing is inherited: no input, no environment.
    pub(crate) fn start(mut command: Command, limits: &Limits) -> io::Result<Self> {
        command.stdin(Stdio::null());
        Self::begin(command, limits)
    }

    /// As `start`, with an input to which something can be written.
    pub(crate) fn start_asked(mut command: Command, limits: &Limits) -> io::Result<Self> {
        command.stdin(Stdio::piped());
        Self::begin(command, limits)
    }

    fn begin(mut command: Command, limits: &Limits) -> io::Result<Self> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = Self { child, pid };
        if let Some(pid) = pid {
            limit(pid, limits)?;
        }
        Ok(group)
    }

    /// Its input, once, where it has one.
    pub(crate) fn input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its two outputs, once.
    pub(crate) fn outputs(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits for the program. Children that it left behind are killed with the group.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.kill();
        status
    }

    /// Kills the group, once.
    pub(crate) fn kill(&mut self) {
        if let Some(pid) = self.pid.take() {
            // It may be gone already, which is what was wanted.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sets limits on a program that has just begun, and so on all that it starts from here.
#[cfg(target_os = "linux")]
fn limit(pid: Pid, limits: &Limits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, prlimit};
    let wanted = [
        (Resource::Cpu, Some(limits.cpu_s)),
        (Resource::Fsize, Some(limits.file_bytes)),
        (Resource::Nofile, Some(limits.open_files)),
        (Resource::As, limits.memory_bytes),
        (Resource::Core, Some(0)),
    ];
    for (resource, most) in wanted {
        let Some(most) = most else { continue };
        match prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) }) {
            // It is over already; there is nothing left to limit.
            Ok(_) | Err(rustix::io::Errno::SRCH) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

/// Elsewhere than on Linux one process cannot limit another.
#[cfg(not(target_os = "linux"))]
fn limit(_: Pid, _: &Limits) -> io::Result<()> {
    Ok(())
}
