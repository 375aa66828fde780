//! `countersign run`: a task carried out in the terminal.

use crate::config::{Assembled, Config};
use crate::place::Place;
use crate::view::{View, ask};
use crate::{BAD, GOOD};
use anyhow::Context;
use clap::Args;
use countersign::request::IMAGE_BYTES_MAX;
use countersign::{CancelWhen, Image, ImageError, LiveRun, Request, RunResult, Status, Streamed};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Which task, and who carries it out.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// What is to be done.
    pub task: String,
    /// The file that says who works with what; `countersign init` writes one.
    #[arg(long, default_value = "countersign.toml", value_name = "FILE")]
    pub config: PathBuf,
    /// Without a file: an address that speaks OpenAI's chat completions. One agent then works with read-only tools
    /// over this folder.
    #[arg(long, value_name = "URL", requires = "model", conflicts_with = "config")]
    pub at: Option<String>,
    /// The model at that address.
    #[arg(long, requires = "at")]
    pub model: Option<String>,
    /// The variable of the environment that holds its key, where it needs one.
    #[arg(long, requires = "at", value_name = "NAME")]
    pub key_env: Option<String>,
    /// An image that comes with the task; may be given more than once.
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// Carries a conversation on, or begins it: a name of your choice. The agent is told what was said there before, as
    /// the journal has it.
    #[arg(long, value_name = "NAME", requires = "journal")]
    pub conversation: Option<String>,
    /// Keeps the run in this journal: a file, or `postgres://...`. A password is better kept in the variable.
    #[arg(long, env = "COUNTERSIGN_JOURNAL", hide_env_values = true, value_name = "FILE|DSN")]
    pub journal: Option<Place>,
    /// Every event as one JSON object a line, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Carries it out: the answer goes to `out`, what happens meanwhile to the error output. 0 where there is a final
/// answer, 1 where not.
pub fn run(args: &RunArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(carry_out(args, out))
}

async fn carry_out(args: &RunArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let journal = match &args.journal {
        Some(place) => Some(place.open().await?),
        None => None,
    };
    let (name, text) = source(args)?;
    let assembled: Assembled = Config::assemble(&name, &text, journal).await?;
    let request = request(args)?;
    let id = format!("run-{}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis());
    let mut live = match &args.conversation {
        Some(name) => assembled.runner.start_in(name, &id, request).await?,
        None => assembled.runner.start(&id, request)?,
    };
    let mut seen = 0;
    let mut view = match (args.json, std::io::stderr().is_terminal()) {
        (true, _) => View::json(),
        (false, false) => View::lines(),
        (false, true) => View::tree(usize::from(console::Term::stderr().size().1)),
    };
    loop {
        let mut screen: Screen<'_> = if args.json { Box::new(&mut *out) } else { Box::new(std::io::stderr()) };
        let result = watch(live, &mut view, &mut seen, &mut screen).await?;
        drop(screen);
        let asked = !args.json && std::io::stdin().is_terminal();
        let commands = if asked { ask::people(&result, &mut std::io::stdin().lock(), &mut std::io::stderr())? } else { Vec::new() };
        view.interrupted();
        if commands.is_empty() {
            return finish(args, &id, &result, out);
        }
        live = assembled.runner.resume(&id, commands, None).await?;
    }
}

/// Where a run is shown: events as JSON on the output, everything else on the error output.
type Screen<'a> = Box<dyn Write + 'a>;

/// The task, with its images.
fn request(args: &RunArgs) -> anyhow::Result<Request> {
    args.image.iter().try_fold(Request::from(&args.task), |request, file| {
        let name = || format!("`{}`", file.display());
        let long = std::fs::metadata(file).with_context(name)?.len();
        // Not read to its end, where it is too long anyway.
        let bytes = usize::try_from(long).unwrap_or(usize::MAX);
        let image = if bytes > IMAGE_BYTES_MAX { Err(ImageError::Size { bytes }) } else { Image::new(&std::fs::read(file).with_context(name)?) };
        Ok(request.image(image.with_context(name)?))
    })
}

/// The file, or one that is made up from an address.
fn source(args: &RunArgs) -> anyhow::Result<(String, String)> {
    let (Some(at), Some(model)) = (&args.at, &args.model) else {
        let name = args.config.display().to_string();
        let text = std::fs::read_to_string(&args.config).with_context(|| format!("`{name}` cannot be read; `countersign init` writes one"))?;
        return Ok((name, text));
    };
    // What JSON calls a text is one in TOML as well.
    let said = [("base_url", Some(at)), ("model", Some(model)), ("key_env", args.key_env.as_ref())];
    let said = said.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}\n", serde_json::Value::from(value?.as_str()))));
    let text = format!("{}\n[models.main]\n{}", include_str!("run/quick.toml"), said.collect::<String>());
    Ok(("the built-in configuration".to_owned(), text))
}

/// Shows a run until it ends or parks. Ctrl-C cancels it once what is under way is in; twice, at once.
async fn watch(live: LiveRun, view: &mut View, seen: &mut u32, screen: &mut Screen<'_>) -> anyhow::Result<RunResult> {
    let mut events = live.events(*seen);
    let mut asked = false;
    // Listened to all the time: one that comes while an event is shown is not missed.
    let mut pressed = Box::pin(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            next = events.next() => match next.transpose()? {
                Some(Streamed::Event(record)) => {
                    *seen = record.seq;
                    write!(screen, "{}", view.show(&record)?)?;
                }
                Some(Streamed::Progress { call, text }) => write!(screen, "{}", view.progress(call, &text))?,
                Some(Streamed::Delta { .. } | Streamed::Lagged { .. }) => {}
                None => break,
            },
            done = &mut pressed => {
                done?;
                pressed.set(tokio::signal::ctrl_c());
                live.cancel(if asked { CancelWhen::AtOnce } else { CancelWhen::AfterTools });
                asked = true;
            }
        }
    }
    screen.flush()?;
    Ok(live.result().await?)
}

fn finish(args: &RunArgs, id: &str, result: &RunResult, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.json {
        return Ok(if result.final_response.is_some() { GOOD } else { BAD });
    }
    if let Some(answer) = result.text() {
        writeln!(out, "{answer}")?;
        return Ok(GOOD);
    }
    let why = countersign::explain::explain(result.run.ledger(), &result.decision);
    eprintln!("\n{}", why.trim_end());
    if matches!(result.status(), Status::AwaitingApproval | Status::Blocked) && args.journal.is_some() {
        eprintln!("\nit is kept as `{id}`; `countersign show {id}` shows it");
    }
    Ok(BAD)
}
