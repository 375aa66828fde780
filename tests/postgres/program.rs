//! The program's commands on a database: those that look, in which words they fail, and that no password is said.

use crate::promises::ran;
use crate::server::{Schema, dsn};
use clap::Parser;
use countersign_cli::{GOOD, place, replay, runs, show, verify};

#[derive(Parser)]
enum Args {
    Runs(runs::RunsArgs),
    Show(show::ShowArgs),
    Verify(verify::VerifyArgs),
    Replay(replay::ReplayArgs),
}

/// Says it as a person would, away from this test's runtime.
async fn said(line: &[&str]) -> (Result<u8, String>, String) {
    let line: Vec<String> = std::iter::once("countersign").chain(line.iter().copied()).map(ToOwned::to_owned).collect();
    let work = move || {
        let mut out = Vec::new();
        let done = match Args::try_parse_from(line).unwrap() {
            Args::Runs(args) => runs::run(&args, &mut out),
            Args::Show(args) => show::run(&args, &mut out),
            Args::Verify(args) => verify::run(&args, &mut out),
            Args::Replay(args) => replay::run(&args, &mut out),
        };
        (done.map_err(|why| format!("{why:#}")), String::from_utf8(out).unwrap())
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// A database of its own: the program works with the usual schema.
async fn database() -> (Schema, String) {
    let schema = Schema::new().await;
    schema.admin.batch_execute(&format!("CREATE DATABASE {}", schema.name)).await.unwrap();
    let dsn = dsn().replace("/postgres", &format!("/{}", schema.name));
    (schema, dsn)
}

#[tokio::test]
async fn what_is_in_a_database_is_listed_shown_verified_and_ruled_on_again() {
    let (_schema, dsn) = database().await;
    let place: place::Place = dsn.parse().unwrap();
    ran(&place.open().await.unwrap(), "a").await;
    let (status, listed) = said(&["runs", "--journal", &dsn, "--json"]).await;
    assert_eq!(status, Ok(GOOD));
    assert!(listed.contains(r#""run":"a""#), "{listed}");
    let (status, shown) = said(&["show", "a", "--journal", &dsn]).await;
    assert_eq!(status, Ok(GOOD));
    assert!(shown.contains("message:\nseen"), "{shown}");
    assert_eq!(said(&["verify", &dsn]).await, (Ok(GOOD), "1 runs are whole: no corruption\n".to_owned()));
    assert_eq!(said(&["replay", &dsn]).await, (Ok(GOOD), "a: same, 1 decisions\n".to_owned()));
    let why = said(&["show", "b", "--journal", &dsn]).await.0.unwrap_err();
    assert!(why.contains("has no run `b`") && !why.contains("secret"), "{why}");
}

#[tokio::test]
async fn what_cannot_be_opened_is_said_without_the_password() {
    let (schema, dsn) = database().await;
    let refused = async |dsn: &str, what: &str| {
        for line in [&["runs", "--journal", dsn][..], &["show", "a", "--journal", dsn], &["verify", dsn], &["replay", dsn]] {
            let why = said(line).await.0.unwrap_err();
            assert!(why.contains(what) && !why.contains("secret"), "{why}");
        }
    };
    refused(&dsn, "there is no journal in it").await;
    refused("postgres://ann:secret@host:99999999/x", "it is no DSN").await;
    refused(&dsn.replace(&schema.name, "elsewhere"), "database \"elsewhere\" does not exist").await;
    let place: place::Place = dsn.parse().unwrap();
    drop(place.open().await.unwrap());
    crate::server::admin(&dsn).await.batch_execute("UPDATE countersign.journal SET version = 99").await.unwrap();
    refused(&dsn, "has schema 99").await;
    let newer = place.open().await.err().unwrap().to_string();
    assert!(newer.contains("use a newer version of Countersign") && !newer.contains("secret"), "{newer}");
}
