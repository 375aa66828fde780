//! What every scenario came to, for a person. Nothing in it changes from run to run.

use super::row::{CameTo, Row, name};
use countersign::{Decision, Run, Status, explain};
use std::fmt::Write;

const HEADS: [&str; 6] = ["scenario", "mode", "events", "decision", "reason", "refused on the way"];
/// The column of numbers.
const NUMBERS: usize = 2;

/// The table, with what is wrong below each row that is, and a summary at the end.
pub fn table(rows: &[Row], colour: bool) -> String {
    let lines: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let width = |column: usize| {
        let cell = |line: &[String; 6]| line.get(column).map_or(0, |c| c.chars().count());
        lines.iter().map(cell).chain(HEADS.get(column).map(|h| h.len())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let mut text = line(&HEADS.map(String::from), &widths, if colour { Some("1") } else { None });
    let mut area = "";
    for (row, cells) in rows.iter().zip(&lines) {
        let (now, _) = row.scenario.split_once('/').unwrap_or_default();
        if now != area {
            area = now;
            text.push('\n');
        }
        let paint = row.came_to.as_ref().ok().map(|c| paint(c.end.status)).filter(|_| colour);
        text.push_str(&line(cells, &widths, paint));
        if let Some(wrong) = row.wrong() {
            let _ = writeln!(text, "  ! {wrong}");
        }
    }
    let _ = writeln!(text, "\n{}", summary(rows));
    text
}

/// How many there are, and how many are as they must be.
pub fn summary(rows: &[Row]) -> String {
    let wrong = rows.iter().filter(|r| !r.is_right()).count();
    let right = rows.len() - wrong;
    let all = if rows.len() == 1 { "1 scenario".to_owned() } else { format!("{} scenarios", rows.len()) };
    if wrong == 0 { format!("{all}: {right} as they must be") } else { format!("{all}: {right} as they must be, {wrong} not") }
}

/// Each scenario with its refusals, explained from their evidence.
pub fn explained(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{}: {}", row.scenario, row.about);
        match &row.came_to {
            Err(why) => {
                let _ = writeln!(text, "  could not be played: {why}");
            }
            Ok(came_to) => refusals(came_to, &mut text),
        }
        text.push('\n');
    }
    text
}

fn refusals(came_to: &CameTo, text: &mut String) {
    let log = came_to.run.ledger().log();
    for decision in came_to.refused.iter().chain([&came_to.end]).filter(|d| !d.finalizable) {
        // The run as it stood then: what was open may be settled by now.
        let then = log.iter().take(decision.at_seq as usize).cloned();
        let then = Run::replay(came_to.run.gate().clone(), then);
        let ledger = then.as_ref().map_or_else(|_| came_to.run.ledger(), Run::ledger);
        let _ = writeln!(text, "  after event {}", decision.at_seq);
        for line in explain(ledger, decision).lines() {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
    }
}

fn cells(row: &Row) -> [String; 6] {
    let scenario = row.scenario.clone();
    let Ok(came_to) = &row.came_to else { return [scenario, "-".into(), "-".into(), "-".into(), "not played".into(), String::new()] };
    let once_each = came_to.refused.chunk_by(|a, b| a.completion_reason == b.completion_reason);
    let refused: Vec<String> = once_each.map(times).collect();
    [
        scenario,
        came_to.end.agent_mode.to_string(),
        came_to.run.ledger().seq().to_string(),
        name(came_to.end.status),
        came_to.end.completion_reason.name().into(),
        refused.join(", "),
    ]
}

/// The reason of refusals that share it, and how many there were.
fn times(refused: &[Decision]) -> String {
    let reason = refused.first().map_or("", |d| d.completion_reason.name());
    if refused.len() > 1 { format!("{reason} x{}", refused.len()) } else { reason.into() }
}

/// One line; what says how it ended is painted.
fn line(cells: &[String; 6], widths: &[usize], paint: Option<&str>) -> String {
    let mut text = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let cell = if column == NUMBERS { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
        let painted = paint.filter(|_| (3..5).contains(&column));
        let _ = match painted {
            Some(paint) => write!(text, "\x1b[{paint}m{cell}\x1b[0m  "),
            None => write!(text, "{cell}  "),
        };
    }
    format!("{}\n", text.trim_end())
}

fn paint(status: Status) -> &'static str {
    match status {
        Status::Completed => "32",
        Status::AwaitingApproval => "36",
        Status::InProgress | Status::Blocked => "33",
        Status::Failed | Status::Cancelled => "31",
    }
}
