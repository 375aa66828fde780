//! A server of somebody else's, for as long as a test needs it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A process that serves. Killed when it is dropped.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub url: String,
}

/// Where `.ci/services` put what it installed.
pub fn installed(path: &str) -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_SERVICES").expect("`COUNTERSIGN_SERVICES` says where the servers are: run `.ci/services`");
    let found = PathBuf::from(folder).join(path);
    assert!(found.exists(), "`{}` is not there: run `.ci/services`", found.display());
    found
}

impl Server {
    /// Starts a program, and reads the address from the line that has it.
    pub fn start(mut command: Command, mark: &str) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let mut lines = BufReader::new(child.stdout.take().expect("its output can be read")).lines();
        let url = lines.by_ref().map_while(Result::ok).find_map(|line| line.split_once(mark).map(|(_, url)| url.trim().to_owned()));
        // Read on, so that it never waits for a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let Some(url) = url else { panic!("{command:?} ended before it listened: {:?}", child.wait()) };
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
