//! Runs a folder of case files: `cargo run -q --example cases -- FOLDER`.
//!
//! One line a case with what differs, then `N passed, M failed`; exit status 1 if any failed, 2 if the
//! folder cannot be read.

use countersign_examples::cases;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: cases FOLDER    (a folder of case files in JSON)");
        return ExitCode::from(2);
    };
    let files = match case_files(Path::new(&folder)) {
        Ok(files) if files.is_empty() => {
            eprintln!("`{}` holds no .json file", Path::new(&folder).display());
            return ExitCode::from(2);
        }
        Ok(files) => files,
        Err(why) => {
            eprintln!("cannot read `{}`: {why}", Path::new(&folder).display());
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let differences = run(&file);
        if differences.is_empty() {
            passed += 1;
            println!("{name}: ok");
        } else {
            failed += 1;
            println!("{name}: {}", differences.join("; "));
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn case_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What differs, or why the case could not be run.
fn run(file: &Path) -> Vec<String> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(why) => return vec![format!("cannot be read: {why}")],
    };
    match cases::parse(&text).and_then(|case| cases::differences(&case)) {
        Ok(differences) => differences,
        Err(why) => vec![why.to_string()],
    }
}
