#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::drawn::Drawn;
use super::{GraphView, Tone};
use crate::explain::fixture::{answer, delivered, one_open_tool, read, reply, witness};
use crate::witness::{ForeignCall, Witness};
use crate::{Declared, Effect, Finish, Outcome, Policy, ReplyExtra, StepOutcome, StepSpec};

/// A long run: `agents` at work, `calls` each in turn, some of them failed, some without a result.
fn long(agents: usize, calls: usize) -> Witness {
    let mut w = witness(Policy::execution());
    for n in 0..calls {
        for agent in 0..agents {
            let (id, name) = (format!("c{agent}.{n}"), format!("agent{agent}"));
            let agent = if agent == 0 { "main" } else { name.as_str() };
            w.call(&ForeignCall { agent, ..read(&id, "read_file", r#"{"path":"a.rs"}"#) });
            match n % 7 {
                3 => w.result(&id, Outcome::Failed, "", None),
                5 if n + 7 > calls => {}
                _ => w.result(&id, Outcome::Completed, "x", None),
            }
        }
    }
    w.reply("main", "Done.", Finish::Stop, ReplyExtra::default());
    w.candidate(&answer("Done."));
    w
}

/// Shapes by chance, always the same.
fn by_chance(seed: u64, events: usize) -> Witness {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut dice = move |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % sides
    };
    let mut w = witness(Policy::execution());
    for n in 0..events {
        let (id, other) = (format!("x{n}"), format!("x{}", dice(n as u64 + 1)));
        let agent = ["main", "anna", "ben", "cleo"][dice(4) as usize];
        match dice(11) {
            0 => w.child_started(&id, agent, Some(other.as_str()).filter(|_| n % 2 == 0), None),
            1 | 2 => w.child_replied(&reply(&other, Outcome::Completed, &[("k", agent)])),
            3 => w.transferred(&id, "main", agent, "task", false),
            4 => w.returned(&other, Outcome::Completed),
            5 => w.plan("main", vec![StepSpec { id: id.as_str().into(), text: "".into(), needs: Vec::new() }], Vec::new()),
            6 => w.step_settled(&other, StepOutcome::Done, ""),
            7 => w.result(&other, Outcome::Completed, "", None),
            8 => w.job_started(&id, Some(&other), None, "job"),
            9 => drop(w.candidate(&answer("text"))),
            _ => drop(w.call(&ForeignCall { agent, ..read(&id, "read_file", "{}") })),
        }
    }
    w
}

#[test]
fn dump() {
    let mut w = delivered();
    let d = w.rule().unwrap();
    let put = |name: &str, v: &GraphView| {
        let t = std::time::Instant::now();
        let svg = v.to_svg();
        println!("{name}: {} nodes {} edges, svg {} bytes {:?}", v.nodes.len(), v.edges.len(), svg.len(), t.elapsed());
        std::fs::write(format!("/tmp/g/{name}.svg"), svg).unwrap();
        std::fs::write(format!("/tmp/g/{name}.dot"), v.to_dot()).unwrap();
        std::fs::write(format!("/tmp/g/{name}.mmd"), v.to_mermaid()).unwrap();
    };
    put("delivered", &GraphView::of(w.run().ledger(), Some(&d)));
    let run = one_open_tool();
    put("open", &GraphView::of(run.ledger(), Some(&run.decide())));
    for (a, c) in [(1, 20), (3, 10), (1, 200), (1, 2000), (20, 10), (100, 10), (400, 1), (5, 500)] {
        let w = long(a, c);
        put(&format!("long{a}x{c}"), &GraphView::of(w.run().ledger(), Some(&w.decide())));
    }
    for seed in 0..12 {
        let w = by_chance(seed, 300);
        put(&format!("chance{seed}"), &GraphView::of(w.run().ledger(), None));
    }
    let w = by_chance(0, 30);
    put("small", &GraphView::of(w.run().ledger(), None));
    let w = by_chance(3, 5000);
    put("chancebig", &GraphView::of(w.run().ledger(), None));
}
