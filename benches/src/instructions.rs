//! Instructions a turn, counted by callgrind: steady where times are not. Needs valgrind.

use crate::measure::Row;
use std::process::Command;

const REPS: u64 = 20;

pub(crate) fn rows() -> Vec<Row> {
    [5, 100, 1000].into_iter().flat_map(at).collect()
}

fn at(n: u64) -> Vec<Row> {
    let each = |who: &str| {
        let (one, many) = (count(who, n, 1)?, count(who, n, 1 + REPS)?);
        Some(many.saturating_sub(one) as f64 / (REPS * n) as f64)
    };
    let (Some(hand), Some(ours)) = (each("hand"), each("ours")) else {
        eprintln!("no instruction counts: valgrind is not there");
        return Vec::new();
    };
    let row = |name: &str, count: f64| Row {
        ratio_to_floor: Some(count / hand),
        more: vec![("instructions", count)],
        ..Row::new(name, usize::try_from(n).unwrap_or(usize::MAX), f64::NAN, "turn")
    };
    vec![row("hand-written, shared history", hand), row("countersign, reads", ours)]
}

/// Instructions of a process that does so many runs.
fn count(who: &str, n: u64, reps: u64) -> Option<u64> {
    let this = std::env::current_exe().ok()?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(this).args(["once", who, &n.to_string(), &reps.to_string()]);
    let said = String::from_utf8_lossy(&valgrind.output().ok()?.stderr).into_owned();
    let line = said.lines().find(|l| l.contains("I   refs:"))?;
    line.rsplit(' ').next()?.replace(',', "").parse().ok()
}
