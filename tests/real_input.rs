//! The two examples on real input, and the tools that stand between a model and a machine.

use countersign::explain::explain;
use countersign::testing::ScriptedModel;
use countersign::transcript::{Message, message, replies};
use countersign::{
    Agent, Declared, Effect, Event, FnTool, ModelReply, ModelRequest, NodeId, Outcome, Policy, Reason, RunResult, Runner, Single, Status, Tool,
    ToolError, ToolOutput, ToolRequest,
};
use countersign_examples::fix::command::{AllowList, RUSTC};
use countersign_examples::fix::scratch::Scratch;
use countersign_examples::fix::scripted::CHECK_FILE;
use countersign_examples::fix::{self, fix_runner};
use countersign_examples::folder_tools::{Folder, READ_BYTES_MAX};
use countersign_examples::survey::{self, survey_runner};
use std::time::{Duration, Instant};

fn folder(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new().expect("a scratch folder can be made");
    for (path, text) in files {
        scratch.write(path, text).expect("a file can be written");
    }
    scratch
}

async fn surveyed(folder: &Folder) -> RunResult {
    let runner = survey_runner(folder, survey::scripted::model()).expect("the survey fits together");
    runner.run(survey::TASK).await.expect("the survey comes to rest")
}

async fn mended(scratch: &Scratch) -> RunResult {
    let runner = fix_runner(&scratch.folder(), AllowList::of(&[RUSTC]), fix::scripted::model()).expect("the mending run fits together");
    runner.run(fix::TASK).await.expect("the mending run comes to rest")
}

/// Runs one tool as the driver would.
async fn call(tool: &impl Tool, args: serde_json::Value) -> Result<String, ToolError> {
    let request = ToolRequest { run: "r".into(), call: NodeId(1), args: args.to_string().into() };
    let done = tool.run(request);
    match tool.timeout() {
        Some(limit) => tokio::time::timeout(limit, done).await.unwrap_or(Err(ToolError::TimedOut(limit))).map(|o| o.text.to_string()),
        None => done.await.map(|o| o.text.to_string()),
    }
}

fn failure(said: Result<String, ToolError>) -> String {
    said.expect_err("this is refused").to_string()
}

fn explained(result: &RunResult) -> String {
    assert!(result.final_response.is_none(), "{:?}", result.text());
    explain(result.run.ledger(), &result.decision)
}

#[tokio::test]
async fn two_folders_are_surveyed_in_two_ways() {
    let bakery = folder(&[("README.md", "# The bakery\n"), ("bake.py", "# TODO: knead\nbake()\n"), ("notes.txt", "flour\n")]);
    let forge = folder(&[("src/lib.rs", "pub fn hammer() {}\n")]);
    let (one, two) = (surveyed(&bakery.folder()).await, surveyed(&forge.folder()).await);
    assert_eq!(
        one.text(),
        Some(
            "The folder calls itself \"The bakery\" and holds 3 files of 40 bytes in all. It is written mostly in Python; its largest source \
             file is bake.py, with 2 lines. Marked as left to do: 1 line; the first is bake.py:1."
        )
    );
    assert_eq!(
        two.text(),
        Some(
            "The folder holds 1 file of 19 bytes in all and has no README. It is written mostly in Rust; its largest source file is \
             src/lib.rs, with 1 line. Nothing is marked as left to do."
        )
    );
    for result in [one, two] {
        assert_eq!(result.reason(), Reason::Verified);
        assert!(!result.decision.evidence_refs.is_empty());
    }
}

#[tokio::test]
async fn an_empty_or_missing_folder_is_refused_with_the_reason() {
    let empty = folder(&[]);
    let why = explained(&surveyed(&empty.folder()).await);
    assert!(why.contains("no file of the folder was read: the folder holds no file (folder_read)"), "{why}");
    let gone = surveyed(&Folder::new(empty.folder().root().join("gone"))).await;
    assert_eq!(gone.status(), Status::Blocked);
    let why = explained(&gone);
    assert!(why.contains("no file of the folder was read: the folder cannot be read: "), "{why}");
}

#[tokio::test]
async fn a_project_is_mended_until_the_check_passes() {
    let scratch = Scratch::sample().expect("the sample can be written");
    let result = mended(&scratch).await;
    assert_eq!((result.status(), result.reason()), (Status::Completed, Reason::Verified), "{}", result.log());
    assert!(result.text().is_some_and(|t| t.starts_with("The check passes.") && t.contains("now reads `let mut sum: u32 = 0;`")));
    let plans = result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::PlanMade { .. })).count();
    assert_eq!(plans, 2, "borrows are looked at once the types fit, so the plan is revised once");
    let text = std::fs::read_to_string(scratch.folder().root().join("src/lib.rs")).expect("it is still there");
    assert!(text.contains("let mut sum: u32 = 0;\n") && text.contains("    sum.into()\n"), "{text}");
}

#[tokio::test]
async fn a_project_that_breaks_the_plan_is_refused_with_the_reason() {
    let broken: [(&[(&str, &str)], &str); 4] = [
        (&[("src/lib.rs", "pub fn f() {}\n")], "nothing was edited: the check passed as things were"),
        (&[("src/lib.rs", "pub fn f() { gone() }\n")], "nothing was edited: The check fails: src/lib.rs:1: cannot find function `gone`"),
        (&[("src/lib.rs", "pub fn f() {}\n"), (CHECK_FILE, "make\ntest\n")], "`make test` is not on the list of commands that may be run"),
        (&[], "nothing was edited: The project cannot be looked at: the folder holds no file"),
    ];
    for (files, wanted) in broken {
        let result = mended(&folder(files)).await;
        assert_eq!(result.status(), Status::Blocked);
        let why = explained(&result);
        assert!(why.contains(wanted), "{why}");
    }
}

#[tokio::test]
async fn the_folder_is_not_left() {
    let outer = folder(&[("secret.txt", "secret"), ("inner/seen.txt", "seen")]);
    let inner = Folder::new(outer.folder().root().join("inner"));
    let absolute = outer.folder().root().join("secret.txt").display().to_string();
    for path in ["../secret.txt", "a/../../secret.txt", "..", absolute.as_str()] {
        let why = failure(call(&inner.read_tool(), serde_json::json!({"path": path})).await);
        assert!(why.contains("leads out of the folder"), "{path}: {why}");
    }
    assert_eq!(call(&inner.read_tool(), serde_json::json!({"path": "./seen.txt"})).await.as_deref(), Ok("seen"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&absolute, inner.root().join("link.txt")).expect("a link can be made");
        let why = failure(call(&inner.read_tool(), serde_json::json!({"path": "link.txt"})).await);
        assert!(why.contains("a link that leads out of the folder"), "{why}");
        assert!(!inner.list().expect("it can be listed").contains("link.txt"));
        assert_eq!(inner.search("secret").expect("it can be searched"), "0 lines\n");
    }
}

#[tokio::test]
async fn only_commands_on_the_list_are_run() {
    let scratch = folder(&[("src/lib.rs", ""), ("ok.sh", "echo ok\n")]);
    let list = AllowList::of(&[RUSTC, &["sh"]]);
    let admits = |argv: &[&str]| list.admits(&scratch.folder(), &argv.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
    assert_eq!(admits(&["sh", "ok.sh"]), Ok(()));
    for (argv, wanted) in [
        (&["rm", "-r", "."][..], "is not on the list"),
        (&[], "is not on the list"),
        (&["rustc", "src/lib.rs"], "is not on the list"),
        (&["sh", "-c", "echo pwned"], "`-c` is an option"),
        (&["sh", "../ok.sh"], "leads out of the folder"),
        (&["sh", "/etc/profile"], "leads out of the folder"),
    ] {
        let why = admits(argv).expect_err("this is refused").to_string();
        assert!(why.contains(wanted), "{argv:?}: {why}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_has_little_time() {
    let scratch = folder(&[("slow.sh", "exec sleep 600\n")]);
    let list = AllowList { time_max: Duration::from_millis(200), ..AllowList::of(&[&["sh"]]) };
    let began = Instant::now();
    let said = call(&list.tool(&scratch.folder()), serde_json::json!({"argv": ["sh", "slow.sh"]})).await;
    assert_eq!(said, Err(ToolError::TimedOut(Duration::from_millis(200))));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_not_utf8_is_shown_all_the_same() {
    let scratch = folder(&[("odd.sh", "printf 'a\\377b\\n'; printf 'c\\376d' >&2; exit 3\n")]);
    scratch.write("odd.txt", b"x\xffy").expect("a file can be written");
    let why = failure(call(&AllowList::of(&[&["sh"]]).tool(&scratch.folder()), serde_json::json!({"argv": ["sh", "odd.sh"]})).await);
    assert!(why.contains("exit status: 3") && why.contains("a\u{fffd}b\n") && why.contains("c\u{fffd}d"), "{why}");
    assert_eq!(scratch.folder().read("odd.txt").as_deref(), Ok("x\u{fffd}y"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_that_says_too_much_is_cut_and_not_held_up() {
    let scratch = folder(&[("loud.sh", "head -c 300000 /dev/zero\n")]);
    let list = AllowList { output_bytes_max: 1_000, ..AllowList::of(&[&["sh"]]) };
    let said = call(&list.tool(&scratch.folder()), serde_json::json!({"argv": ["sh", "loud.sh"]})).await.expect("it ends well");
    assert!(said.ends_with("\n[cut: 300000 bytes in all]\n") && said.len() < 2_000, "{} bytes", said.len());
}

#[tokio::test]
async fn a_file_that_is_too_large_is_cut_with_a_mark() {
    let scratch = folder(&[]);
    let file = std::fs::File::create(scratch.folder().root().join("large")).expect("a file can be made");
    file.set_len(READ_BYTES_MAX + 1).expect("it can be made large");
    let text = scratch.folder().read("large").expect("it can be read");
    assert!(text.ends_with(&format!("\n[cut: {} bytes in all]", READ_BYTES_MAX + 1)));
}

/// Ten million bytes are shown in part, with a mark; the journal has the whole.
#[tokio::test]
async fn a_huge_result_is_cut_for_the_model_and_kept_whole() {
    const SIZE: usize = 10_000_000;
    let scratch = folder(&[("huge.txt", &"ä".repeat(SIZE / 2))]);
    let read = scratch.folder().read_tool();
    let model = ScriptedModel(|request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("read", r#"{"path":"huge.txt"}"#),
        _ => {
            let shown =
                request.transcript.iter().filter_map(message).find_map(|m| if let Message::Result { text, .. } = m { Some(text) } else { None });
            ModelReply::text(shown.and_then(|t| t.lines().last().map(str::to_owned)).unwrap_or_default())
        }
    });
    let runner = Runner::builder(Single::default(), model)
        .agent(Agent::new("main", "").tool(read.spec()))
        .tool(read)
        .policy(Policy::execution())
        .build()
        .expect("it fits together");
    let result = runner.run("read").await.expect("it comes to rest");
    assert_eq!(result.text(), Some("[cut: 10000000 bytes in all]"), "the copy says that it was cut");
    let ledger = result.run.ledger();
    let settled = ledger.log().iter().find_map(|r| match &r.event {
        Event::ToolSettled { call, text, cut, outcome: Outcome::Completed } => Some((*call, text.clone(), cut.clone())),
        _ => None,
    });
    let (node, text, cut) = settled.expect("the call has its outcome");
    assert_eq!(text.len(), ledger.limits().tool_output_bytes as usize);
    assert!(cut.is_some_and(|c| c.marked && c.size == SIZE as u64 && c.full.is_some()));
    let whole = runner.journal().kept(&result.decision.run_id, node).await.expect("the journal can be read");
    assert_eq!(whole.map(|w| w.len()), Some(SIZE));
}

#[tokio::test]
async fn an_edit_changes_the_line_that_it_names_or_nothing() {
    let scratch = folder(&[("src/lib.rs", "one\r\ntwo\r\n")]);
    let edits = [
        (serde_json::json!({"path": "src/lib.rs", "line": 2, "old": "two", "new": "deux"}), None),
        (serde_json::json!({"path": "src/lib.rs", "line": 2, "old": "two", "new": "zwei"}), Some("line 2 reads `deux`, not `two`")),
        (serde_json::json!({"path": "src/lib.rs", "line": 9, "old": "", "new": "x"}), Some("there is no line 9")),
        (serde_json::json!({"path": "../lib.rs", "line": 1, "old": "", "new": "x"}), Some("leads out of the folder")),
    ];
    for (args, wanted) in edits {
        let said = call(&fix::edit::tool(&scratch.folder()), args).await;
        match wanted {
            None => assert!(said.is_ok(), "{said:?}"),
            Some(wanted) => assert!(failure(said).contains(wanted)),
        }
    }
    assert_eq!(scratch.folder().read("src/lib.rs").as_deref(), Ok("one\r\ndeux\r\n"));
}

/// A tool that never comes back does not hold a run up for longer than it may take.
#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_times_out_and_the_run_goes_on() {
    let hang = FnTool::new("hang", "Never ends.", Declared::run(Effect::Read), |_: serde_json::Value| {
        std::future::pending::<Result<ToolOutput, ToolError>>()
    });
    let hang = hang.timeout(Duration::from_secs(5));
    let model = ScriptedModel(|request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("hang", "{}"),
        _ => ModelReply::text("It did not come back."),
    });
    let agent = Agent::new("main", "").tool(hang.spec());
    let runner = Runner::builder(Single::default(), model).agent(agent).tool(hang).build().expect("it fits together");
    let result = runner.run("wait").await.expect("it comes to rest");
    assert_eq!(result.text(), Some("It did not come back."));
    let timed_out = |r: &&std::sync::Arc<countersign::Record>| matches!(r.event, Event::ToolSettled { outcome: Outcome::TimedOut, .. });
    assert_eq!(result.run.ledger().log().iter().filter(timed_out).count(), 1);
}
