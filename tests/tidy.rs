//! What the code may not contain, and how its crates stand on one another.

use crate::{files, root, short};
use std::collections::BTreeMap;
use std::process::Command;

/// Crates from the bottom up: each may use those before it.
const LAYERS: &[&str] = &["core", "modes", "runtime", "connect", "server", "cli", "examples", "tests", "services", "postgres", "browser", "benches"];

/// The most lines that a file may have before its tests.
const LINES_MAX: usize = 400;

/// Files that are longer, how long they may be, and why. A number may only fall.
const LONGER: &[(&str, usize, &str)] = &[("core/src/ledger.rs", 496, "one small accessor after the other")];

fn sources() -> Vec<std::path::PathBuf> {
    LAYERS.iter().map(|layer| root().join(layer)).filter(|dir| dir.is_dir()).flat_map(|dir| files(&dir, ".rs")).collect()
}

fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", short(path)))
}

/// The part of a file before its own tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

#[test]
fn no_file_is_too_long() {
    let mut wrong = Vec::new();
    for path in sources() {
        let (name, lines) = (short(&path), code(&read(&path)).lines().count());
        match LONGER.iter().find(|(file, _, _)| *file == name) {
            Some((_, most, _)) if lines > *most => wrong.push(format!("{name}: {lines} lines, at most {most}")),
            None if lines > LINES_MAX => wrong.push(format!("{name}: {lines} lines, at most {LINES_MAX}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "divide them, or say why not in `LONGER`:\n{}", wrong.join("\n"));
}

#[test]
fn every_exception_is_still_needed() {
    for (name, _, why) in LONGER {
        let path = root().join(name);
        assert!(!why.is_empty() && path.exists(), "{name} is gone: strike it from `LONGER`");
        assert!(code(&read(&path)).lines().count() > LINES_MAX, "{name} needs no exception any more");
    }
}

#[test]
fn core_and_modes_are_pure() {
    let impure = [
        "std::fs",
        "std::net",
        "std::env",
        "std::thread",
        "std::process",
        "std::io",
        "SystemTime",
        "Instant::now",
        "tokio",
        "async fn",
        "rand::",
        "println!",
        "eprintln!",
    ];
    let mut wrong = Vec::new();
    for path in sources().iter().filter(|p| short(p).starts_with("core/") || short(p).starts_with("modes/")) {
        for (at, line) in code(&read(path)).lines().enumerate() {
            let said = line.trim_start();
            if !said.starts_with("//") && impure.iter().any(|word| said.contains(word)) {
                wrong.push(format!("{}:{}: {said}", short(path), at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "time, randomness and I/O belong to the runtime:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_to_do() {
    // Put together here, so that this file does not name them itself.
    let words = ["todo", "unimplemented", "dbg"].map(|w| format!("{w}!("));
    for path in sources() {
        let text = read(&path);
        for word in &words {
            assert!(!text.contains(word.as_str()), "{}: `{word}`", short(&path));
        }
        assert!(!text.contains(&format!("#[{}]", "ignore")), "{}: an ignored test", short(&path));
    }
}

#[test]
fn no_machine_paths() {
    let places = ["work", "tmp", "home", "root"].map(|p| format!("\"/{p}/")).into_iter().chain(["work", "home"].map(|p| format!(" /{p}/")));
    let places: Vec<String> = places.chain([format!("../{}", "shared")]).collect();
    let endings = [".rs", ".toml", ".txt", ".md", ".json", ".yml"];
    for path in endings.iter().flat_map(|ending| files(root(), ending)) {
        let text = read(&path);
        for place in &places {
            assert!(!text.contains(place.as_str()), "{} names a place of one machine: `{place}`", short(&path));
        }
    }
}

#[test]
fn every_test_file_is_declared() {
    let suite = read(&root().join("tests/main.rs"));
    let apart = |folder: &str| read(&root().join("tests").join(folder).join("main.rs"));
    for path in files(&root().join("tests"), ".rs") {
        let (name, parent) = (short(&path), path.parent().expect("a file has a folder"));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let declared = match parent.file_name().unwrap_or_default().to_string_lossy().as_ref() {
            "tests" if stem == "main" || stem == "mortal" => true,
            "services" | "browser" if ["main", "program", "serves"].contains(&&*stem) => true,
            "postgres" if stem == "main" || stem == "driven" => true,
            folder @ ("services" | "postgres" | "browser") => apart(folder).contains(&format!("mod {stem};")),
            "tests" => suite.contains(&format!("mod {stem};")),
            _ => read(&parent.with_extension("rs")).contains(&format!("mod {stem};")),
        };
        assert!(declared, "{name} is declared nowhere: its tests never run");
    }
}

#[test]
fn dependencies_point_one_way() {
    let used = workspace_dependencies();
    let layer = |name: &str| LAYERS.iter().position(|l| *l == name).unwrap_or_else(|| panic!("`{name}` has no place in `LAYERS`"));
    for (package, dependencies) in &used {
        for dependency in dependencies {
            assert!(layer(dependency) < layer(package), "{package} uses {dependency}, which stands above it or beside it");
        }
    }
    let outside = |name: &str| used.get(name).is_some_and(|d| d.iter().all(|d| d == "core"));
    assert!(used.get("core").is_some_and(Vec::is_empty), "core uses nothing of ours");
    assert!(outside("modes"), "modes use core alone");
}

/// Folder of each package, with the folders of ours that it uses; what its own tests use counts as well.
fn workspace_dependencies() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root()).output();
    let output = output.expect("cargo can be asked");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo speaks JSON");
    let folder = |path: &str| std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut used = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("a list") {
        let manifest = std::path::Path::new(package["manifest_path"].as_str().expect("a path"));
        let own = folder(&manifest.parent().expect("a folder").to_string_lossy());
        let paths = package["dependencies"].as_array().expect("a list").iter().filter_map(|d| d["path"].as_str());
        used.insert(own, paths.map(folder).collect());
    }
    used
}
