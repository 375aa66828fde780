//! The program's commands on a file with runs that ended, wait, were damaged, or say something else than the gate.

use crate::driver::{base, spec, turns};
use crate::scratch::Scratch;
use countersign::testing::ScriptedModel;
use countersign::*;
use countersign_cli::{BAD, GOOD};
use std::path::Path;
use std::sync::Arc;

/// Says the arguments as a person would.
fn said(line: &[&str]) -> (Result<u8, String>, String) {
    use clap::Parser;
    #[derive(Parser)]
    enum Args {
        Runs(countersign_cli::runs::RunsArgs),
        Show(countersign_cli::show::ShowArgs),
        Verify(countersign_cli::verify::VerifyArgs),
        Replay(countersign_cli::replay::ReplayArgs),
    }
    let mut out = Vec::new();
    let done = match Args::try_parse_from(std::iter::once("countersign").chain(line.iter().copied())) {
        Ok(Args::Runs(args)) => countersign_cli::runs::run(&args, &mut out),
        Ok(Args::Show(args)) => countersign_cli::show::run(&args, &mut out),
        Ok(Args::Verify(args)) => countersign_cli::verify::run(&args, &mut out),
        Ok(Args::Replay(args)) => countersign_cli::replay::run(&args, &mut out),
        Err(why) => return (Err(why.to_string()), String::new()),
    };
    (done.map_err(|e| e.to_string()), String::from_utf8(out).unwrap())
}

/// A file with a run that is done, and one that waits for a person.
fn file() -> (Scratch, String) {
    let scratch = Scratch::new();
    let path = scratch.file("runs.db");
    let script = |r: &ModelRequest| match (turns(r), &*transcript::question(&r.transcript)) {
        (0, "Pay it") => ModelReply::call("pay", "1"),
        (0, _) => ModelReply::call("read", "1"),
        _ => ModelReply::text("It is there."),
    };
    let pay = Declared { approval: true, ..Declared::run(Effect::Write) };
    let agent = Agent::new("main", "").tool(spec("read", Declared::run(Effect::Read))).tool(spec("pay", pay));
    let journal = Arc::new(SqliteJournal::open(&path).unwrap());
    let runner = base(Single::default(), ScriptedModel(script)).agent(agent).policy(Policy::execution()).journal(journal).build().unwrap();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        runner.start("done", "Look it up").unwrap().result().await.unwrap();
        runner.start_in("bills", "waits", "Pay it").await.unwrap().result().await.unwrap();
    });
    (scratch, path)
}

#[test]
fn runs_are_listed_and_narrowed() {
    let (_scratch, path) = file();
    let (status, all) = said(&["runs", "--journal", &path]);
    assert_eq!((status, all.lines().count()), (Ok(GOOD), 3), "{all}");
    assert!(all.contains("completed: verified") && all.contains("awaiting_approval"), "{all}");
    let (_, waits) = said(&["runs", "--journal", &path, "--status", "awaiting_approval", "--since", "1h", "--json"]);
    let run: serde_json::Value = serde_json::from_str(&waits).unwrap();
    assert_eq!((&run["run"], &run["title"]), (&"waits".into(), &"Pay it".into()));
    let (_, bills) = said(&["runs", "--journal", &path, "--conversation", "bills"]);
    assert!(bills.contains("waits") && !bills.contains("done"), "{bills}");
    for (narrowed, by) in [("--mode", "deep"), ("--conversation", "others")] {
        assert_eq!(said(&["runs", "--journal", &path, narrowed, by]).1, "no run fits\n");
    }
    let (wrong, _) = said(&["runs", "--journal", &path, "--status", "finished"]);
    assert!(wrong.unwrap_err().contains("a run stands as one of: completed, in_progress"));
}

#[test]
fn a_run_is_shown_with_what_it_waits_for() {
    let (_scratch, path) = file();
    let (status, done) = said(&["show", "done", "--journal", &path]);
    assert_eq!(status, Ok(GOOD));
    assert!(done.contains("final: ") && done.contains("message:\nIt is there.") && done.contains("read"), "{done}");
    let (status, waits) = said(&["show", "waits", "--journal", &path]);
    assert_eq!(status, Ok(BAD), "a run without a final is not good");
    assert!(waits.contains("not final") && waits.contains("approvals_settled") && waits.contains("not ended"), "{waits}");
    for (view, begins) in [("report", "#"), ("dot", "digraph"), ("mermaid", "flowchart"), ("svg", "<"), ("graph", "{"), ("decision", "{")] {
        let (status, text) = said(&["show", "done", "--journal", &path, "--view", view]);
        assert!(status == Ok(GOOD) && text.trim_start().starts_with(begins), "{view}: {text}");
    }
    let (gone, _) = said(&["show", "nobody", "--journal", &path]);
    assert!(gone.unwrap_err().contains("has no run `nobody`"));
    let (gone, _) = said(&["show", "done", "--journal", "no/such.db"]);
    assert!(gone.unwrap_err().contains("there is no journal `no/such.db`"));
    assert!(!Path::new("no/such.db").exists(), "looking makes nothing");
}

#[test]
fn damage_is_reported_with_its_event() {
    let (_scratch, path) = file();
    assert_eq!(said(&["verify", &path]), (Ok(GOOD), "2 runs are whole: no corruption\n".into()));
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("UPDATE events SET body = replace(body, 'there', 'here') WHERE seq = 5 AND run = 1", [])
        .unwrap();
    let (status, text) = said(&["verify", &path]);
    assert_eq!(status, Ok(BAD));
    assert!(text.contains("run `done` is damaged at event 5") && text.contains("1 of 2 runs are damaged"), "{text}");
    let (status, text) = said(&["replay", &path]);
    assert!(status == Ok(BAD) && text.contains("done: broken") && text.contains("waits: same"), "{text}");
}

#[test]
fn a_stored_run_gets_its_decision_again_or_it_is_said_that_it_does_not() {
    let (scratch, path) = file();
    assert_eq!(said(&["replay", &path]), (Ok(GOOD), "done: same, 1 decisions\nwaits: same, 1 decisions\n".into()));
    let (_, log) = said(&["show", "done", "--journal", &path, "--view", "log"]);
    let lines = scratch.file("done.jsonl");
    std::fs::write(&lines, &log).unwrap();
    assert_eq!(said(&["replay", &lines, "done"]), (Ok(GOOD), "done: same, 1 decisions\n".into()));
    // A log in which the tool failed, and the decision was left as it was.
    std::fs::write(&lines, log.replace(r#""outcome":"completed","text":"read(1)""#, r#""outcome":"failed","text":"read(1)""#)).unwrap();
    let (status, text) = said(&["replay", &lines]);
    assert_eq!(status, Ok(BAD));
    assert!(text.contains("recorded completed/verified") && text.contains("missing: evidence_ok"), "{text}");
    // A check that is not part of this program.
    std::fs::write(&lines, log.replace(r#"{"name":"tools_closed","version":1}"#, r#"{"name":"of_their_own","version":3}"#)).unwrap();
    let (status, text) = said(&["replay", &lines]);
    assert!(status == Ok(BAD) && text.contains("its check `of_their_own`, version 3, is not part of this program"), "{text}");
    let (wrong, _) = said(&["verify", &lines]);
    assert!(wrong.unwrap_err().contains("without a hash chain"));
    std::fs::write(&lines, "{\"seq\":1,\"event\":\"of_tomorrow\"}\n").unwrap();
    let (wrong, _) = said(&["replay", &lines]);
    assert!(wrong.unwrap_err().contains("line 1, is no event"));
}

#[test]
fn a_database_needs_a_feature_and_its_password_is_not_said() {
    for line in [&["runs", "--journal", "postgres://ann:secret@db/runs"][..], &["verify", "postgres://ann:secret@db/runs"]] {
        let why = said(line).0.unwrap_err();
        assert!(why.starts_with("`postgres://ann@db/runs` cannot be opened") && why.contains("the feature `postgres`"), "{why}");
    }
}
