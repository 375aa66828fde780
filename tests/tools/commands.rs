//! Commands: whole commands that match a whole pattern, and nothing left of them afterwards.
#![cfg(unix)]

use super::{call, failure, open, scratch};
use countersign::ToolError;
use countersign_connect::tool::Commands;
use countersign_connect::tool::command::{Limits, Pattern, PatternError};
use countersign_examples::fix::scratch::Scratch;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn commands(folder: &Scratch, patterns: &[&str]) -> Commands {
    let read = |p: &&str| Pattern::new(&p.split(' ').collect::<Vec<_>>()).expect("the pattern can be read");
    Commands::new(&open(folder), patterns.iter().map(read).collect())
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

#[test]
fn a_command_is_admitted_as_a_whole() {
    let folder = scratch(&[("src/lib.rs", ""), ("ok.sh", ""), ("-rf", ""), ("@args", "")]);
    let list = commands(&folder, &["cargo test -p {word}", "cargo test --jobs {number}", "head {path}", "sh {paths}"]);
    for fine in [&["cargo", "test", "-p", "core"][..], &["cargo", "test", "--jobs", "2"], &["head", "ok.sh"], &["sh", "ok.sh", "src/lib.rs"], &["sh"]]
    {
        assert_eq!(list.admits(&argv(fine)), Ok(()), "{fine:?}");
    }
    for (refused, wanted) in [
        (&["rm", "-r", "."][..], "is not on the list"),
        (&[], "is not on the list"),
        (&["cargo"], "is not on the list"),
        (&["cargo", "test"], "is not on the list"),
        (&["cargo", "test", "-p", "core", "--", "--nocapture"], "is not on the list"),
        (&["cargo", "test", "-p", "--config=build.rustc='evil'"], "is not on the list"),
        (&["cargo", "test", "-p", "../core"], "is not on the list"),
        (&["cargo", "test", "-p", "a;b"], "is not on the list"),
        (&["cargo", "test", "-p", ""], "is not on the list"),
        (&["cargo", "test", "--jobs", "-1"], "is not on the list"),
        (&["/bin/cargo", "test", "-p", "core"], "is not on the list"),
        (&["./cargo", "test", "-p", "core"], "is not on the list"),
        (&["head", "ok.sh", "ok.sh"], "is not on the list"),
        (&["sh", "-c", "echo pwned"], "could be read as an option"),
        (&["sh", "ok.sh", "-c"], "could be read as an option"),
        (&["sh", "-rf"], "could be read as an option"),
        (&["sh", "@args"], "could be read as an option"),
        (&["sh", "../ok.sh"], "leads out of the folder"),
        (&["sh", "/etc/profile"], "leads out of the folder"),
        (&["head", "gone"], "cannot be read"),
    ] {
        let Err(why) = list.admits(&argv(refused)) else { panic!("{refused:?} is admitted") };
        let why = why.to_string();
        assert!(why.contains(wanted), "{refused:?}: {why}");
    }
}

#[test]
fn a_pattern_says_what_is_wrong_with_it() {
    assert_eq!(Pattern::new::<&str>(&[]), Err(PatternError::NoProgram));
    assert_eq!(Pattern::new(&["{word}", "x"]), Err(PatternError::NoProgram));
    assert_eq!(Pattern::new(&["ls", "{paths}", "-l"]), Err(PatternError::AfterPaths));
    assert_eq!(Pattern::new(&["ls", "{any}"]), Err(PatternError::UnknownPlace("{any}".into())));
}

#[tokio::test]
async fn a_program_sees_little_and_stands_in_the_folder() {
    let folder = scratch(&[("look.sh", "pwd; env | sort; cat\n")]);
    let list = Arc::new(commands(&folder, &["sh look.sh"]).env("PATH", "/usr/bin:/bin").env("LANG", "C"));
    let said = call(&list.run_tool(), json!({"argv": ["sh", "look.sh"]})).await.expect("it ends well");
    let root = open(&folder).root().display().to_string();
    // What a shell sets by itself is left out.
    let told: Vec<&str> = said.lines().filter(|l| !["_=", "SHLVL=", "OLDPWD="].iter().any(|own| l.starts_with(own))).collect();
    assert_eq!(told, ["passed", &root, "LANG=C", "PATH=/usr/bin:/bin", &format!("PWD={root}")]);
}

#[tokio::test]
async fn a_program_that_fails_is_a_failed_run_with_its_output() {
    let folder = scratch(&[("odd.sh", "printf 'a\\377b\\n'; printf 'c\\376d' >&2; exit 3\n")]);
    let list = Arc::new(commands(&folder, &["sh {path}", "gone-for-good"]));
    let why = failure(call(&list.run_tool(), json!({"argv": ["sh", "odd.sh"]})).await);
    assert!(why.contains("exit status: 3") && why.contains("a\u{fffd}b\n") && why.contains("c\u{fffd}d"), "{why}");
    let why = failure(call(&list.run_tool(), json!({"argv": ["gone-for-good"]})).await);
    assert!(why.contains("`gone-for-good` cannot be run"), "{why}");
}

#[tokio::test]
async fn an_output_that_is_too_long_is_cut_and_holds_nobody_up() {
    let folder = scratch(&[("loud.sh", "head -c 300000 /dev/zero\n")]);
    let list = Arc::new(commands(&folder, &["sh {path}"]).limits(Limits { output_bytes: 1_000, ..Limits::default() }));
    let said = call(&list.run_tool(), json!({"argv": ["sh", "loud.sh"]})).await.expect("it ends well");
    assert!(said.ends_with("\n[cut: 300000 bytes in all]\n") && said.len() < 2_000, "{} bytes", said.len());
}

/// A program that is out of time dies with all that it started: the reader of the pipe sees its end only when
/// nobody holds it open any more.
#[tokio::test]
async fn a_program_that_takes_too_long_dies_with_its_children() {
    let folder = scratch(&[("slow.sh", "sleep 600 <alive & exec sleep 600\n")]);
    let alive = held_open(&folder);
    let list = Arc::new(commands(&folder, &["sh {path}"]).limits(Limits { time: Duration::from_millis(300), ..Limits::default() }));
    let said = call(&list.run_tool(), json!({"argv": ["sh", "slow.sh"]})).await;
    assert_eq!(said, Err(ToolError::TimedOut(Duration::from_millis(300))));
    nobody_reads(alive).await;
}

/// A program that ends and leaves children behind leaves none.
#[tokio::test]
async fn children_that_are_left_behind_die_too() {
    let folder = scratch(&[("leave.sh", "sleep 600 <alive & echo left\n")]);
    let alive = held_open(&folder);
    let list = Arc::new(commands(&folder, &["sh {path}"]));
    let said = call(&list.run_tool(), json!({"argv": ["sh", "leave.sh"]})).await;
    assert_eq!(said.as_deref(), Ok("passed\nleft\n"));
    nobody_reads(alive).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_is_limited_by_the_kernel() {
    let folder = scratch(&[("limits.sh", "read _ <go; ulimit -t; ulimit -n; ulimit -c; ulimit -v\n")]);
    let root = open(&folder).root().to_owned();
    assert!(std::process::Command::new("mkfifo").arg(root.join("go")).status().expect("mkfifo can be run").success());
    let limits = Limits { cpu_s: 7, open_files: 64, memory_bytes: Some(1 << 30), ..Limits::default() };
    let list = commands(&folder, &["sh {path}"]).limits(limits);
    let argv = argv(&["sh", "limits.sh"]);
    // The program waits until it is written to, by which time its limits are set.
    let go = tokio::task::spawn_blocking(move || std::fs::write(root.join("go"), "go\n"));
    let (said, went) = tokio::join!(list.run(&argv), go);
    went.expect("it can be written to").expect("it can be written to");
    assert_eq!(said.as_deref(), Ok("passed\n7\n64\n0\n1048576\n"));
}

/// A pipe in the folder, called `alive`: whoever reads it is alive.
fn held_open(folder: &Scratch) -> std::path::PathBuf {
    let path = open(folder).root().join("alive");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo can be run").success());
    path
}

/// Waits until nobody has the pipe open for reading: opening it for writing without waiting then fails.
async fn nobody_reads(pipe: std::path::PathBuf) {
    use std::os::unix::fs::OpenOptionsExt;
    let is_read = || std::fs::OpenOptions::new().write(true).custom_flags(0o4000).open(&pipe).is_ok();
    let mut looks = 0;
    while is_read() {
        looks += 1;
        assert!(looks < 1_000_000, "somebody is still alive");
        tokio::task::yield_now().await;
    }
}
