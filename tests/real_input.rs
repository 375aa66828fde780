//! The two examples on real input.

use countersign::explain::explain;
use countersign::testing::ScriptedModel;
use countersign::transcript::{Message, message, replies};
use countersign::{
    Agent, Declared, Effect, Event, FnTool, ModelReply, ModelRequest, Outcome, Policy, Reason, RunResult, Runner, Single, Status, Tool, ToolError,
    ToolOutput,
};
use countersign_connect::tool::Folder;
use countersign_examples::fix::scratch::Scratch;
use countersign_examples::fix::scripted::CHECK_FILE;
use countersign_examples::fix::{self, compiler, fix_runner};
use countersign_examples::survey::{self, survey_runner};
use std::time::Duration;

fn folder(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new().expect("a scratch folder can be made");
    for (path, text) in files {
        scratch.write(path, text).expect("a file can be written");
    }
    scratch
}

async fn surveyed(scratch: &Scratch) -> RunResult {
    let folder = scratch.folder().expect("a scratch folder can be opened");
    let runner = survey_runner(&folder, survey::scripted::model()).expect("the survey fits together");
    runner.run(survey::TASK).await.expect("the survey comes to rest")
}

async fn mended(scratch: &Scratch) -> RunResult {
    let folder = scratch.folder().and_then(|f| f.writable()).expect("a scratch folder can be written to");
    let checks = compiler(&folder).expect("the pattern can be read");
    let runner = fix_runner(&folder, checks, fix::scripted::model()).expect("the mending run fits together");
    runner.run(fix::TASK).await.expect("the mending run comes to rest")
}

fn explained(result: &RunResult) -> String {
    assert!(result.final_response.is_none(), "{:?}", result.text());
    explain(result.run.ledger(), &result.decision)
}

#[tokio::test]
async fn two_folders_are_surveyed_in_two_ways() {
    let bakery = folder(&[("README.md", "# The bakery\n"), ("bake.py", "# TODO: knead\nbake()\n"), ("notes.txt", "flour\n")]);
    let forge = folder(&[("src/lib.rs", "pub fn hammer() {}\n")]);
    let (one, two) = (surveyed(&bakery).await, surveyed(&forge).await);
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
    let why = explained(&surveyed(&empty).await);
    assert!(why.contains("no file of the folder was read: the folder holds no file (folder_read)"), "{why}");
    let gone = Folder::open(empty.folder().expect("it can be opened").root().join("gone")).expect_err("it is not there").to_string();
    assert!(gone.contains("gone` cannot be opened: "), "{gone}");
}

#[tokio::test]
async fn a_project_is_mended_until_the_check_passes() {
    let scratch = Scratch::sample().expect("the sample can be written");
    let result = mended(&scratch).await;
    assert_eq!((result.status(), result.reason()), (Status::Completed, Reason::Verified), "{}", result.log());
    assert!(result.text().is_some_and(|t| t.starts_with("The check passes.") && t.contains("now reads `let mut sum: u32 = 0;`")));
    let plans = result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::PlanMade { .. })).count();
    assert_eq!(plans, 2, "borrows are looked at once the types fit, so the plan is revised once");
    let text = std::fs::read_to_string(scratch.folder().expect("it can be opened").root().join("src/lib.rs")).expect("it is still there");
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

/// Ten million bytes are shown in part, with a mark; the journal has the whole.
#[tokio::test]
async fn a_huge_result_is_cut_for_the_model_and_kept_whole() {
    const SIZE: usize = 10_000_000;
    let scratch = folder(&[("huge.txt", &"ä".repeat(SIZE / 2))]);
    let read = scratch.folder().expect("it can be opened").read_tool();
    let model = ScriptedModel(|request: &ModelRequest| match replies(&request.transcript) {
        0 => ModelReply::call("read_file", r#"{"path":"huge.txt"}"#),
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
