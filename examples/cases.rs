//! Runs a folder of case files: `cargo run -q --example cases -- FOLDER`.
//!
//! One line a case with what differs, then `N passed, M failed`; exit status 1 if any failed, 2 if the
//! folder cannot be read. With `--retell OUT` each case is also written there as a scenario.

use countersign_examples::{cases, script};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let (folder, out) = match args.as_slice() {
        [folder] => (folder, None),
        [folder, flag, out] if flag == "--retell" => (folder, Some(Path::new(out))),
        _ => {
            eprintln!("usage: cases FOLDER [--retell OUT]    (a folder of case files in JSON)");
            return ExitCode::from(2);
        }
    };
    let files = match case_files(Path::new(folder)) {
        Ok(files) if files.is_empty() => {
            eprintln!("`{}` holds no .json file", Path::new(folder).display());
            return ExitCode::from(2);
        }
        Ok(files) => files,
        Err(why) => {
            eprintln!("cannot read `{}`: {why}", Path::new(folder).display());
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut differences = run(&file);
        if let Some(Err(why)) = out.map(|out| retell(&file, &out.join(format!("{name}.txt")))) {
            differences.push(why);
        }
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

/// Writes a case as a scenario, or says why it could not.
fn retell(file: &Path, out: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let told = script::retell::retell(&text).map_err(|e| format!("cannot be retold: {e}"))?;
    std::fs::write(out, told).map_err(|e| format!("cannot be retold: {e}"))
}
