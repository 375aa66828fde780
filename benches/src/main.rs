//! What the performance tables are made from.
//!
//! `cargo run --release -p countersign-benches -- turn|fleet|team|asks|ledger|durable|recover|serve|traces|instructions|all [--json]`
//!
//! Ours and hand-written loops are run interleaved, so that a noisy machine is noisy for both; figures are
//! medians of five, and what counts is the ratio. Every run's answer, node count and decision are asserted.
//! Figures that do not depend on the machine's mood are instruction counts: `instructions`, with valgrind.

mod asks;
mod durable;
mod fleet;
mod hand;
mod instructions;
mod ledger;
mod measure;
mod ours;
mod recover;
mod serve;
mod team;
mod traces;
mod turn;

use measure::Row;
use std::process::ExitCode;

const USAGE: &str = "usage: countersign-benches turn|fleet|team|asks|ledger|durable|recover|serve|traces|instructions|all [--json]\n       countersign-benches once ours|hand|asks|team N REPS    (for an instruction counter)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let json = args.iter().any(|a| a == "--json");
    let words: Vec<&str> = args.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    match words.as_slice() {
        ["turn"] => show(&turn::rows(), json),
        ["fleet"] => show(&fleet::rows(), json),
        ["team"] => show(&team::rows(), json),
        ["asks"] => show(&asks::rows(), json),
        ["ledger"] => show(&ledger::rows(), json),
        ["durable"] => show(&durable::rows(), json),
        ["recover"] => show(&recover::rows(), json),
        ["serve"] => show(&serve::rows(), json),
        ["traces"] => show(&traces::rows(), json),
        ["instructions"] => show(&instructions::rows(), json),
        ["all"] => {
            for rows in [turn::rows, fleet::rows, team::rows, asks::rows, ledger::rows, durable::rows, recover::rows, traces::rows] {
                show(&rows(), json);
            }
        }
        ["once", who @ ("ours" | "hand" | "asks" | "team"), n, reps] => match (n.parse(), reps.parse()) {
            (Ok(n), Ok(reps)) => match *who {
                "asks" => asks::once(n, reps),
                "team" => team::once(reps),
                who => turn::once(who, n, reps),
            },
            _ => return usage(),
        },
        ["serve-child", folder] => return ended(serve::serve(folder)),
        ["serve-bare", folder] => return ended(serve::bare(folder)),
        ["fleet-child", who, latency] => fleet::child(who, latency.parse().unwrap_or(0)),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn ended(done: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn show(rows: &[Row], json: bool) {
    for row in rows {
        if json {
            println!("{}", row.json());
        } else {
            println!("{row}");
        }
    }
}
