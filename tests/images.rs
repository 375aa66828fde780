//! Images that come with a task: what may be shown, to whom, and what the log says of them.

use crate::driver::{replay_equal, tool, turns};
use crate::journal::journals;
use countersign::live::Command;
use countersign::request::{IMAGE_BYTES_MAX, IMAGES_MAX};
use countersign::testing::ScriptedModel;
use countersign::*;
use std::sync::{Arc, Mutex};

/// As much of each kind as says what it is.
const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\nrest", "image/png"),
    (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
    (b"GIF87arest", "image/gif"),
    (b"GIF89arest", "image/gif"),
    (b"RIFF\x04\0\0\0WEBPrest", "image/webp"),
];

fn image() -> Image {
    Image::new(KINDS[0].0).unwrap()
}

#[test]
fn an_image_is_what_its_bytes_say() {
    for (bytes, name) in KINDS {
        let image = Image::new(bytes).unwrap();
        assert_eq!((image.reference().media.name(), image.reference().bytes as usize), (*name, bytes.len()));
    }
    assert_eq!(&*image().reference().sha256, "f02a830cf03a1cf756c0461481db682bc9254a5a399f847494d33850c3ff7156");
    assert_eq!(&**image().base64(), "iVBORw0KGgpyZXN0");
}

#[test]
fn what_cannot_be_shown_is_refused_with_the_reason() {
    let svg = Image::new(b"<svg xmlns='http://www.w3.org/2000/svg'/>").unwrap_err();
    assert_eq!((&svg, Image::new(b"").unwrap_err()), (&ImageError::Kind, ImageError::Kind));
    assert!(svg.to_string().contains("PNG, JPEG, GIF or WebP"));
    let mut large = KINDS[0].0.to_vec();
    large.resize(IMAGE_BYTES_MAX, 0);
    assert!(Image::new(&large).is_ok());
    large.push(0);
    let why = Image::new(&large).unwrap_err();
    assert_eq!((&why, why.to_string().contains("3750001 bytes")), (&ImageError::Size { bytes: IMAGE_BYTES_MAX + 1 }, true));
}

#[tokio::test]
async fn more_than_can_be_shown_begin_no_run() {
    let runner =
        Runner::builder(Single::default(), ScriptedModel(|_: &ModelRequest| ModelReply::text("seen"))).agent(Agent::new("main", "")).build().unwrap();
    let many = (0..=IMAGES_MAX).fold(Request::from("look"), |request, _| request.image(image()));
    assert!(matches!(runner.start("r", many), Err(DriveError::Images(ImageError::Many(21)))));
    assert!(runner.journal().summary("r").await.unwrap().is_none());
}

/// How many images each agent was shown, turn by turn.
type Shown = Arc<Mutex<Vec<(String, usize)>>>;

fn runner(journal: &Arc<dyn Journal>) -> (Runner, Shown) {
    let shown = Shown::default();
    let notes = shown.clone();
    let model = ScriptedModel(move |r: &ModelRequest| {
        let images = r.images.as_deref().unwrap_or_default();
        assert!(images.iter().all(|i| *i == image()));
        notes.lock().unwrap().push((r.agent.name.to_string(), images.len()));
        match (&*r.agent.name, turns(r)) {
            ("main", 0) => ModelReply::call("ask_helper", r#"{"task": "help"}"#),
            ("main", 1) => ModelReply::call("pay", "1"),
            _ => ModelReply::text("seen"),
        }
    });
    let pay = tool("pay", Declared { approval: true, ..Declared::run(Effect::Write) });
    let main = Agent::new("main", "").tool(ToolSpec::delegate("ask_helper", "helper")).tool(pay.spec());
    let built = Runner::builder(Single::default(), model).agent(main).agent(Agent::new("helper", "")).tool(pay).journal(journal.clone());
    (built.build().unwrap(), shown)
}

#[tokio::test]
async fn who_speaks_with_the_user_is_shown_them_also_after_a_resume_and_a_fork() {
    for (journal, _scratch) in journals() {
        let (first, shown) = runner(&journal);
        let parked = first.start("r", Request::from("look").image(image()).image(image())).unwrap().result().await.unwrap();
        assert_eq!(parked.status(), Status::AwaitingApproval);
        let counted = |shown: &Shown| shown.lock().unwrap().iter().map(|(agent, n)| format!("{agent} {n}")).collect::<Vec<_>>();
        assert_eq!(counted(&shown), ["main 2", "helper 0", "main 2"]);
        assert!(!parked.log().contains(&**image().base64()), "the log says what was shown, and does not hold it");
        let grant =
            Command::Approve { approval: parked.decision.pending_approvals[0].node, granted: true, by: "ann".into(), why: "".into(), args: None };
        let (second, shown) = runner(&journal);
        let forked = second.fork("r", parked.decision.at_seq, "f", vec![grant.clone()], None).await.unwrap().result().await.unwrap();
        let resumed = second.resume("r", vec![grant], None).await.unwrap().result().await.unwrap();
        for done in [&forked, &resumed] {
            assert_eq!(done.text(), Some("seen"));
            assert_eq!(done.run.ledger().started().unwrap().images, vec![image().reference().clone(); 2]);
            replay_equal(done);
        }
        assert_eq!(counted(&shown), ["main 2", "main 2"]);
        assert_eq!(journal.kept("f", ROOT).await.unwrap(), journal.kept("r", ROOT).await.unwrap());
    }
}

/// What stands beside the log is under no chain, but under the log's own digest.
#[tokio::test]
async fn images_that_are_gone_or_others_keep_a_run_from_going_on() {
    let scratch = crate::scratch::Scratch::new();
    let path = scratch.file("runs.db");
    let open = || -> Arc<dyn Journal> { Arc::new(SqliteJournal::open(&path).unwrap()) };
    runner(&open()).0.start("r", Request::from("look").image(image())).unwrap().result().await.unwrap();
    let log = journal::read_all(&*open(), "r").await.unwrap();
    for harm in ["UPDATE outputs SET whole = 'R0lGODlhcmVzdA=='", "UPDATE outputs SET whole = 'no base64'", "DELETE FROM outputs"] {
        rusqlite::Connection::open(&path).unwrap().execute_batch(harm).unwrap();
        let why = runner(&open()).0.resume("r", vec![], None).await.err().unwrap();
        assert!(matches!(&why, DriveError::Unfit { missing, .. } if missing.contains("images")), "{harm}: {why}");
        assert_eq!(journal::read_all(&*open(), "r").await.unwrap(), log, "and nothing is recorded");
    }
}

#[tokio::test]
async fn a_conversation_says_that_there_were_images() {
    for (journal, _scratch) in journals() {
        let model = ScriptedModel(|r: &ModelRequest| match r.history.iter().flat_map(|h| transcript::earlier(h)).next() {
            Some(transcript::Message::User(text)) => ModelReply::text(text.into_owned()),
            _ => ModelReply::text("a cat"),
        });
        let runner = Runner::builder(Single::default(), model).agent(Agent::new("main", "")).journal(journal).build().unwrap();
        assert_eq!(runner.converse("c", Request::from("what is it?").image(image())).await.unwrap().text(), Some("a cat"));
        let second = runner.converse("c", "and its colour?").await.unwrap();
        assert_eq!(second.text(), Some("what is it?\n\n[images came with this: 1; they are not shown again]"));
    }
}
