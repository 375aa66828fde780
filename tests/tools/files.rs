//! Reading and writing stay within the folder.

use super::{call, failure, open, scratch, writable};
use countersign::ToolError;
use countersign_connect::tool::Folder;
use countersign_connect::tool::folder::READ_BYTES_MAX;
use serde_json::json;

const ESCAPES: &[&str] = &["../secret.txt", "a/../../secret.txt", "..", "seen.txt/../../secret.txt", "/etc/hostname"];

#[tokio::test]
async fn no_path_leads_out_of_the_folder() {
    let outer = scratch(&[("secret.txt", "secret"), ("inner/seen.txt", "seen")]);
    let inner = Folder::open(open(&outer).root().join("inner")).expect("it can be opened");
    let writes = inner.writable().expect("it can be written to");
    for path in ESCAPES {
        for said in [
            call(&inner.read_tool(), json!({"path": path})).await,
            call(&inner.list_tool(), json!({"path": path})).await,
            call(&inner.search_tool(), json!({"pattern": "secret", "path": path})).await,
            call(&writes.write_tool(), json!({"path": path, "text": "pwned"})).await,
            call(&writes.patch_tool(), json!({"path": path, "old": "secret", "new": "pwned"})).await,
        ] {
            let why = failure(said);
            assert!(why.contains("leads out of the folder"), "{path}: {why}");
        }
    }
    assert_eq!(open(&outer).read("secret.txt").as_deref(), Ok("secret"));
    assert_eq!(call(&inner.read_tool(), json!({"path": "./seen.txt"})).await.as_deref(), Ok("seen"));
}

#[cfg(unix)]
#[tokio::test]
async fn no_link_leads_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let outer = scratch(&[("secret.txt", "secret"), ("elsewhere/deep.txt", "secret"), ("inner/seen.txt", "seen")]);
    let inner = Folder::open(open(&outer).root().join("inner")).expect("it can be opened");
    let writes = inner.writable().expect("it can be written to");
    symlink(open(&outer).root().join("secret.txt"), inner.root().join("absolute.txt")).expect("a link can be made");
    symlink("../secret.txt", inner.root().join("relative.txt")).expect("a link can be made");
    symlink("../elsewhere", inner.root().join("folder")).expect("a link can be made");
    symlink("../new.txt", inner.root().join("dangling.txt")).expect("a link can be made");
    symlink("seen.txt", inner.root().join("alias.txt")).expect("a link can be made");
    for path in ["absolute.txt", "relative.txt", "folder/deep.txt"] {
        let why = failure(inner.read(path));
        assert!(why.contains("a link that leads out of the folder"), "{path}: {why}");
        failure(writes.write(path, "pwned"));
        failure(writes.patch(path, None, "secret", "pwned"));
    }
    failure(writes.write("dangling.txt", "pwned"));
    failure(writes.write("folder/new.txt", "pwned"));
    failure(inner.list("folder"));
    let there: Vec<String> = crate::files(open(&outer).root(), ".txt").iter().map(|p| p.display().to_string()).collect();
    assert!(!there.iter().any(|p| p.ends_with("new.txt") && !p.contains("inner/dangling")), "{there:?}");
    assert_eq!(open(&outer).read("secret.txt").as_deref(), Ok("secret"));
    assert_eq!(open(&outer).read("elsewhere/deep.txt").as_deref(), Ok("secret"));
    // What is behind a link is not listed, and so not searched.
    assert_eq!(inner.list(".").as_deref(), Ok("4\tseen.txt\n"));
    assert_eq!(inner.search("secret", true, ".").as_deref(), Ok("0 lines\n"));
    // A link within the folder is written through.
    writes.write("alias.txt", "new").expect("it leads to a file in the folder");
    assert_eq!(inner.read("seen.txt").as_deref(), Ok("new"));
}

/// The folder is held open: whoever puts another in its place does not lead anybody there.
#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_is_exchanged_is_not_followed() {
    let outer = scratch(&[("inner/a.txt", "first"), ("other/a.txt", "second")]);
    let root = open(&outer).root().to_owned();
    let inner = Folder::open(root.join("inner")).expect("it can be opened");
    std::fs::rename(root.join("inner"), root.join("moved")).expect("it can be moved");
    std::os::unix::fs::symlink(root.join("other"), root.join("inner")).expect("a link can be made");
    assert_eq!(inner.read("a.txt").as_deref(), Ok("first"));
    let writes = inner.writable().expect("it can be written to");
    writes.write("a.txt", "third").expect("it is still a folder");
    assert_eq!(open(&outer).read("moved/a.txt").as_deref(), Ok("third"));
    assert_eq!(open(&outer).read("other/a.txt").as_deref(), Ok("second"));
}

#[test]
fn the_whole_machine_is_no_folder_to_write_to() {
    let root = Folder::open("/").expect("it can be opened");
    assert!(root.writable().expect_err("it is refused").to_string().contains("the whole machine"));
}

#[tokio::test]
async fn lists_and_searches_what_people_wrote() {
    let folder = scratch(&[
        (".gitignore", "made/\n"),
        (".hidden/a.rs", "needle"),
        ("made/a.rs", "needle"),
        ("src/a.rs", "one\n  needle 12\n"),
        ("src/b.rs", "needle (12)\n"),
        ("c.bin", "needle\u{0}"),
    ]);
    let folder = open(&folder);
    assert_eq!(folder.list(".").as_deref(), Ok("7\tc.bin\n16\tsrc/a.rs\n12\tsrc/b.rs\n"));
    assert_eq!(folder.list("src").as_deref(), Ok("16\tsrc/a.rs\n12\tsrc/b.rs\n"));
    let hits = call(&folder.search_tool(), json!({"pattern": r"needle \d+$"})).await;
    assert_eq!(hits.as_deref(), Ok("1 lines\nsrc/a.rs:2: needle 12\n"));
    assert_eq!(folder.search("(12)", true, ".").as_deref(), Ok("1 lines\nsrc/b.rs:1: needle (12)\n"));
    assert!(failure(folder.search("(", false, ".")).contains("`(` is no pattern"));
    assert!(failure(folder.search(" ", false, ".")).contains("say what to look for"));
    assert!(failure(folder.list("src/a.rs/b")).contains("is no folder here"));
}

#[tokio::test]
async fn reads_the_lines_that_are_wanted() {
    let folder = scratch(&[("a.txt", "one\ntwo\nthree\n")]);
    let read = open(&folder).read_tool();
    assert_eq!(call(&read, json!({"path": "a.txt", "from": 2, "lines": 1})).await.as_deref(), Ok("two\n"));
    assert_eq!(call(&read, json!({"path": "a.txt", "from": 3})).await.as_deref(), Ok("three\n"));
    assert!(failure(call(&read, json!({"path": "a.txt", "from": 9})).await).contains("has 3 lines; there is no line 9"));
    assert!(matches!(call(&read, json!({"file": "a.txt"})).await, Err(ToolError::Arguments(_))));
}

#[tokio::test]
async fn what_is_not_utf8_is_shown_and_not_patched() {
    let folder = scratch(&[]);
    folder.write("odd.txt", b"x\xffy").expect("a file can be written");
    assert_eq!(open(&folder).read("odd.txt").as_deref(), Ok("x\u{fffd}y"));
    assert!(failure(writable(&folder).patch("odd.txt", None, "x", "z")).contains("cannot be patched"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_is_no_file() {
    let folder = scratch(&[]);
    let made = std::process::Command::new("mkfifo").arg(open(&folder).root().join("pipe")).status().expect("mkfifo can be run");
    assert!(made.success());
    assert!(failure(open(&folder).read("pipe")).contains("it is not a file"));
    assert!(failure(writable(&folder).write("pipe", "x")).contains("it is not a file"));
}

#[tokio::test]
async fn a_file_that_is_too_large_is_cut_with_a_mark() {
    let folder = scratch(&[]);
    let file = std::fs::File::create(open(&folder).root().join("large")).expect("a file can be made");
    file.set_len(READ_BYTES_MAX + 1).expect("it can be made large");
    let text = open(&folder).read("large").expect("it can be read");
    assert!(text.ends_with(&format!("\n[cut: {} bytes in all]", READ_BYTES_MAX + 1)));
}

#[tokio::test]
async fn a_patch_changes_the_place_that_it_names_or_nothing() {
    let folder = scratch(&[("src/lib.rs", "one\r\ntwo\r\none\r\n")]);
    let patch = writable(&folder).patch_tool();
    let tries = [
        (json!({"path": "src/lib.rs", "old": "two", "new": "deux"}), "src/lib.rs:2 patched"),
        (json!({"path": "src/lib.rs", "old": "two", "new": "zwei"}), "does not have that text"),
        (json!({"path": "src/lib.rs", "old": "one", "new": "un"}), "has that text 2 times; give the line"),
        (json!({"path": "src/lib.rs", "line": 3, "old": "one", "new": "un"}), "src/lib.rs:3 patched"),
        (json!({"path": "src/lib.rs", "line": 3, "old": "one", "new": "un"}), "line 3 reads `un`, and `one` does not begin in it"),
        (json!({"path": "src/lib.rs", "line": 9, "old": "", "new": "x"}), "there is no line 9"),
        (json!({"path": "src/lib.rs", "old": "", "new": "x"}), "say what stands there"),
        (json!({"path": "gone.rs", "old": "a", "new": "x"}), "cannot be read"),
    ];
    for (args, wanted) in tries {
        let said = call(&patch, args).await.unwrap_or_else(|e| e.to_string());
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(open(&folder).read("src/lib.rs").as_deref(), Ok("one\r\ndeux\r\nun\r\n"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_written_whole_and_keeps_its_rights() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch(&[("run.sh", "old")]);
    let path = open(&folder).root().join("run.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).expect("rights can be set");
    let write = writable(&folder).write_tool();
    let said = call(&write, json!({"path": "run.sh", "text": "new"})).await;
    assert_eq!(said.as_deref(), Ok("run.sh: 3 bytes written"));
    assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o750);
    call(&write, json!({"path": "a/b/c.txt", "text": "deep"})).await.expect("folders are made");
    assert_eq!(open(&folder).list(".").as_deref(), Ok("4\ta/b/c.txt\n3\trun.sh\n"));
    let left = std::fs::read_dir(open(&folder).root()).expect("it can be listed").count();
    assert_eq!(left, 2, "nothing is left beside them");
    assert!(failure(call(&write, json!({"path": "a", "text": "x"})).await).contains("it is not a file"));
}
