//! Runs every scenario, live and told as text, and prints what each came to.
//!
//! ```text
//! cargo run --example scenarios                              # the table
//! cargo run --example scenarios -- --only deep/ --explain    # why each was refused
//! cargo run --example scenarios -- --only two_disagree --graph graph.svg
//! ```
//!
//! Exit status 1 if a scenario does not come to what it must, 2 if it was asked for something else.

use countersign::GraphView;
use countersign_examples::suite::{
    Row,
    row::folder,
    rows,
    table::{explained, table},
};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: scenarios [--only SUBSTRING] [--json | --explain] [--graph FILE.svg|dot|mmd|json]

  --only SUBSTRING   only scenarios whose name contains it
  --json             one JSON object a line
  --explain          each refusal explained, instead of the table
  --graph FILE       the evidence graph of the one scenario that `--only` leaves";

/// What was asked for.
#[derive(Default)]
struct Asked {
    only: String,
    json: bool,
    explain: bool,
    graph: Option<PathBuf>,
    help: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match asked(std::env::args().skip(1)) {
        Ok(asked) if asked.help => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(asked) => show(&asked).await.unwrap_or_else(|why| refuse(&why)),
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}\n\n{USAGE}");
    ExitCode::from(2)
}

fn asked(mut words: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked::default();
    while let Some(word) = words.next() {
        let mut next = |what: &str| words.next().ok_or(format!("`{word}` needs {what}"));
        match word.as_str() {
            "--only" => asked.only = next("part of a name")?,
            "--graph" => asked.graph = Some(next("a file that ends in .svg, .dot, .mmd or .json")?.into()),
            "--json" => asked.json = true,
            "--explain" => asked.explain = true,
            "--help" | "-h" => asked.help = true,
            other => return Err(format!("`{other}` is not known here")),
        }
    }
    if asked.json && asked.explain { Err("`--json` and `--explain` do not go together".into()) } else { Ok(asked) }
}

async fn show(asked: &Asked) -> Result<ExitCode, String> {
    let watched = std::io::stderr().is_terminal();
    let watch = |name: &str| {
        if watched {
            eprint!("\r\x1b[2K{name} ...");
            let _ = std::io::stderr().flush();
        }
    };
    let rows = rows(&folder(), &asked.only, watch).await.map_err(|e| format!("cannot read `{}`: {e}", folder().display()))?;
    if watched {
        eprint!("\r\x1b[2K");
    }
    if rows.is_empty() {
        return Err(format!("no scenario has `{}` in its name", asked.only));
    }
    if let Some(file) = &asked.graph {
        draw(&rows, file)?;
    }
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let text = match () {
        () if asked.json => rows.iter().map(|row| format!("{}\n", row.to_json())).collect(),
        () if asked.explain => explained(&rows),
        () => table(&rows, colour),
    };
    // Whoever reads may stop early: that is no error of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(ExitCode::from(u8::from(rows.iter().any(|row| !row.is_right()))))
}

fn draw(rows: &[Row], file: &Path) -> Result<(), String> {
    let [row] = rows else {
        return Err(format!("`--graph` draws one scenario, and there are {}; narrow them down with `--only`", rows.len()));
    };
    let came_to = row.came_to.as_ref().map_err(|why| format!("`{}` could not be played: {why}", row.scenario))?;
    let graph = GraphView::of(came_to.run.ledger(), Some(&came_to.end));
    let text = match file.extension().and_then(|e| e.to_str()) {
        Some("svg") => graph.to_svg(),
        Some("dot") => graph.to_dot(),
        Some("mmd") => graph.to_mermaid(),
        Some("json") => graph.to_json(),
        _ => return Err(format!("`{}` does not end in .svg, .dot, .mmd or .json", file.display())),
    };
    std::fs::write(file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}
