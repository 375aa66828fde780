//! Guards that data can describe: patterns, and programs.

use countersign::testing::ScriptedModel;
use countersign::transcript::replies;
use countersign::*;
use countersign_connect::guard::{Phrases, ProgramGuard};
use std::time::Duration;

fn state<'a>(final_text: &'a str, tools: &'a [ToolUse]) -> GuardState<'a> {
    GuardState { final_text, turns: 2, tools, nudges: 1 }
}

#[test]
fn patterns_are_required_and_forbidden() {
    let guard = Phrases::new("sources").require("(?m)^Sources:").unwrap().forbid("(?i)to-?do").unwrap();
    assert_eq!(guard.check(&state("It is so.\nSources: a.txt", &[])), GuardSaid::Accept);
    let both = "The answer has to match `(?m)^Sources:`.\nThe answer may not match `(?i)to-?do`.";
    assert_eq!(guard.check(&state("TODO", &[])), GuardSaid::Nudge(both.into()));
    assert_eq!(guard.nudge("Name your sources.").check(&state("TODO", &[])), GuardSaid::Nudge("Name your sources.".into()));
    let why = Phrases::new("x").require("(unclosed").unwrap_err().to_string();
    assert_eq!(why, "`(unclosed` is no pattern: unclosed group");
}

fn program(script: &str) -> ProgramGuard {
    ProgramGuard::new("review", ["sh", "-c", script].map(str::to_owned).to_vec())
}

#[test]
fn a_program_is_given_the_answer_and_says_what_it_thinks() {
    assert_eq!(program("echo '\"accept\"'").check(&state("fine", &[])), GuardSaid::Accept);
    assert_eq!(program("echo '{\"stop\": \"not today\"}'").check(&state("fine", &[])), GuardSaid::Stop("not today".into()));
    // It says again what it was given.
    let tools = [ToolUse { name: "read".into(), allowed: true }, ToolUse { name: "pay".into(), allowed: false }];
    let echo = program(r#"q=$(cat | sed 's/"/\\"/g'); printf '{"nudge": "%s"}' "$q""#);
    let GuardSaid::Nudge(given) = echo.check(&state("fine", &tools)) else { panic!("it nudges") };
    let given: serde_json::Value = serde_json::from_str(&given).unwrap();
    let tools = serde_json::json!([{"name": "read", "allowed": true}, {"name": "pay", "allowed": false}]);
    assert_eq!(given, serde_json::json!({"guard": "review", "final_text": "fine", "turns": 2, "nudges": 1, "tools": tools}));
}

#[test]
fn a_program_is_given_its_environment_and_folder_and_no_more() {
    let folder = crate::scratch::Scratch::new();
    let said =
        program(r#"printf '{"stop": "%s in %s"}' "$(env | cut -d= -f1 | grep -v '^_$\|^PWD$\|^SHLVL$\|^OLDPWD$' | sort | tr '\n' ' ')" "$(pwd)""#)
            .keep_env(&["HOME", "NO_SUCH_VARIABLE"])
            .folder(folder.path().to_path_buf());
    let home = std::env::var_os("HOME").map_or("", |_| "HOME ");
    let wanted = format!("{home}PATH  in {}", folder.path().canonicalize().unwrap().display());
    assert_eq!(said.check(&state("fine", &[])), GuardSaid::Stop(wanted));
}

/// A guard that has not looked lets nothing through.
#[test]
fn a_program_that_has_not_looked_stops_the_run_with_the_reason() {
    let long = "x".repeat(1 << 20);
    for (script, wanted) in [
        ("echo oh >&2; exit 3", "it could not look: `sh` failed, exit status: 3: oh"),
        ("echo accept", "it could not look: `sh` answered something else than"),
        ("echo '\"accept\"'; echo '\"accept\"'", "answered something else than"),
        ("echo '{\"nudge\": \"x\", \"stop\": \"y\"}'", "answered something else than"),
        ("true", "answered something else than"),
        ("yes", "took longer than 200ms"),
        ("sleep 600 & wait", "took longer than 200ms"),
    ] {
        let patience = if wanted.contains("longer") { Duration::from_millis(200) } else { Duration::from_secs(60) };
        let GuardSaid::Stop(why) = program(script).timeout(patience).check(&state(&long, &[])) else { panic!("{script}") };
        assert!(why.contains(wanted), "{script}: {why}");
    }
    let gone = ProgramGuard::new("gone", vec!["no-such-program-anywhere".into()]);
    assert!(matches!(gone.check(&state("fine", &[])), GuardSaid::Stop(why) if why.contains("`no-such-program-anywhere` cannot be run")));
    assert!(matches!(ProgramGuard::new("none", vec![]).check(&state("fine", &[])), GuardSaid::Stop(why) if why.contains("no program is named")));
}

/// Asked within a run, on the one thread of its runtime.
#[tokio::test]
async fn a_run_is_nudged_by_a_program_as_often_as_its_cap_has_it() {
    for (script, wanted) in [
        ("grep -q please && echo '\"accept\"' || echo '{\"nudge\": \"Say please.\"}'", (Status::Completed, Reason::NotRequired, 1)),
        ("echo '{\"nudge\": \"Once more.\"}'", (Status::Blocked, Reason::GuardUnsatisfied, 1)),
        ("exit 1", (Status::Blocked, Reason::GuardUnsatisfied, 0)),
    ] {
        let model = ScriptedModel(|r: &ModelRequest| ModelReply::text(if replies(&r.transcript) == 0 { "Monday." } else { "Monday, please." }));
        let guard = GuardPlugin { max_nudges: 1, ..GuardPlugin::new(program(script)) };
        let runner = Runner::builder(Single::default(), model).agent(Agent::new("main", "")).guard(guard).build().unwrap();
        let result = runner.run("When?").await.unwrap();
        let nudges = result.run.ledger().log().iter().filter(|r| matches!(r.event, Event::Nudged { by: NudgeBy::Guard, .. })).count();
        assert_eq!((result.status(), result.reason(), nudges), wanted, "{script}: {}", result.log());
    }
}
