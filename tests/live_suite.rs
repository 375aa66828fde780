//! Every live scenario is run, its log is replayed, and the table of all of them is compared with a recorded
//! one. `UPDATE_GOLDEN=1` rewrites that, for review in the diff.

use crate::root;
use countersign::Run;
use countersign_examples::suite::{self, row::folder, table::table};
use similar::TextDiff;
use std::collections::BTreeSet;

#[tokio::test]
async fn every_live_scenario_comes_to_what_it_must() {
    let mut wrong = Vec::new();
    for live in suite::all() {
        let row = live.row().await;
        wrong.extend(row.wrong().map(|why| format!("{}: {why}", live.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_live_log_replays_to_the_same_ruling() {
    for live in suite::all() {
        let result = live.run().await.unwrap_or_else(|e| panic!("{}: {e}", live.name));
        let log = result.log();
        let again = Run::read(result.run.gate().clone(), &log).unwrap_or_else(|e| panic!("{}: {e}", live.name));
        assert_eq!(again.final_answer(), result.final_response.as_ref(), "{}", live.name);
        assert_eq!(again.decide(), result.run.decide(), "{}", live.name);
        let lines: Vec<String> = again.ledger().log().iter().map(|r| serde_json::to_string(&**r).unwrap()).collect();
        assert_eq!(lines, log.lines().collect::<Vec<_>>(), "{}", live.name);
    }
}

#[tokio::test]
async fn a_live_scenario_writes_the_same_log_each_time() {
    for live in suite::all() {
        let (one, two) = (live.run().await.unwrap(), live.run().await.unwrap());
        assert_eq!(one.log(), two.log(), "{}", live.name);
    }
}

#[test]
fn live_scenarios_have_names_of_their_own() {
    let names: BTreeSet<&str> = suite::all().map(|live| live.name).collect();
    assert_eq!(names.len(), suite::all().count());
    for live in suite::all() {
        assert!(live.name.contains('/') && !live.about.is_empty() && !live.task.is_empty(), "{}", live.name);
    }
}

#[tokio::test]
async fn the_table_is_as_recorded() {
    let path = root().join("tests/golden/scenarios.txt");
    let rows = suite::rows(&folder(), "", |_| {}).await.unwrap();
    let now = table(&rows, false);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let diff = TextDiff::from_lines(&recorded, &now).unified_diff().context_radius(1).header("recorded", "now").to_string();
    assert!(recorded == now, "{diff}\n\nif this is right: UPDATE_GOLDEN=1 cargo test -p countersign-tests");
}
