#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::drawn::Drawn;
use super::{EdgeView, GraphView, NodeView, Tone};
use crate::explain::fixture::{answer, delivered, one_open_tool, read, reply, witness};
use crate::witness::{ForeignCall, Witness};
use crate::{Declared, Effect, Finish, NodeId, NodeKind, Outcome, Policy, Ref, ReplyExtra, StepOutcome, StepSpec};

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

/// A graph that no ledger made: node `n` rests on what `older` says.
fn made_up(nodes: u32, older: impl Fn(u32) -> Vec<u32>) -> GraphView {
    let kind = NodeKind::Reply;
    let node = |n| NodeView {
        id: NodeId(n),
        reference: Ref { kind, sub: None, node: NodeId(n) },
        kind,
        label: format!("reply {n}"),
        tone: Tone::Plain,
        seq: n + 1,
    };
    let edge = |from, to| EdgeView { from: NodeId(from), to: NodeId(to), proof: false };
    let edges = (0..nodes).flat_map(|n| older(n).into_iter().map(move |o| edge(n, o))).collect();
    GraphView { run_id: "r1".into(), nodes: (0..nodes).map(node).collect(), edges, drawn_max: super::DRAWN_MAX }
}

/// How many boxes and lines a drawing has, and that its elements close.
fn drawn(svg: &str) -> (usize, usize) {
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    (svg.matches("<rect").count(), svg.matches("<path class").count())
}

#[test]
fn what_is_open_stands_out() {
    let run = one_open_tool();
    let view = GraphView::of(run.ledger(), Some(&run.decide()));
    let open: Vec<&str> = view.nodes.iter().filter(|n| n.tone == Tone::Open).map(|n| &*n.label).collect();
    assert_eq!(
        open,
        [
            "agent main at work",
            "step s1 open",
            "transfer to dba running",
            "agent dba at work",
            "delegation to coder running",
            "agent coder at work",
            "tool bash(cmd: cargo test) asked for",
            "candidate main"
        ]
    );
    assert!(!GraphView::of(run.ledger(), None).nodes.iter().any(|n| n.kind == NodeKind::Candidate && n.tone == Tone::Open));
}

#[test]
fn what_the_answer_rests_on_stands_out() {
    let mut w = delivered();
    let decision = w.rule().unwrap();
    let view = GraphView::of(w.run().ledger(), Some(&decision));
    let tones: Vec<Tone> = view.nodes.iter().map(|n| n.tone).collect();
    assert_eq!(tones, [Tone::Plain, Tone::Plain, Tone::Plain, Tone::Evidence, Tone::Plain, Tone::Answer, Tone::Plain]);
    let proof: Vec<(u32, u32)> = view.edges.iter().filter(|e| e.proof).map(|e| (e.from.0, e.to.0)).collect();
    assert_eq!(proof, [(4, 3), (5, 4)]);
}

#[test]
fn the_text_forms_are_as_they_are() {
    let mut w = delivered();
    let decision = w.rule().unwrap();
    let mut view = GraphView::of(w.run().ledger(), Some(&decision));
    assert_eq!(
        view.to_dot(),
        r##"digraph "r1" {
  rankdir=BT; bgcolor="transparent";
  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];
  edge [color="#8a8f98", arrowsize=0.7];
  n0 [label="run deep", tooltip="activation:0, event 1", fillcolor="#eef0f3", color="#9aa1ac", penwidth=1, fontcolor="#1b1f24"];
  n1 [label="agent main", tooltip="activation:1, event 2", fillcolor="#eef0f3", color="#9aa1ac", penwidth=1, fontcolor="#1b1f24"];
  n2 [label="reply main", tooltip="reply:2, event 3", fillcolor="#eef0f3", color="#9aa1ac", penwidth=1, fontcolor="#1b1f24", shape=ellipse, style=filled];
  n3 [label="tool read_file(limit: 3, path: a.rs) completed", tooltip="tool_run:3, event 3", fillcolor="#d3f5e3", color="#059669", penwidth=2, fontcolor="#1b1f24"];
  n4 [label="reply main", tooltip="reply:4, event 5", fillcolor="#eef0f3", color="#9aa1ac", penwidth=1, fontcolor="#1b1f24", shape=ellipse, style=filled];
  n5 [label="final answer main", tooltip="candidate:5, event 6", fillcolor="#a7ecc9", color="#047857", penwidth=3, fontcolor="#1b1f24", shape=box, style="filled,bold"];
  n6 [label="ruling verified", tooltip="decision:6, event 7", fillcolor="#eef0f3", color="#9aa1ac", penwidth=1, fontcolor="#1b1f24", shape=box, style="filled,bold"];
  n1 -> n0;
  n2 -> n1;
  n3 -> n2;
  n4 -> n3 [color="#059669", penwidth=2];
  n5 -> n4 [color="#059669", penwidth=2];
  n6 -> n5;
}
"##
    );
    view.drawn_max = 3;
    assert_eq!(
        view.to_mermaid(),
        r##"flowchart BT
  n4["reply main"]:::plain
  n5["final answer main"]:::answer
  n6["ruling verified"]:::plain
  rest["4 nodes left out: the JSON form has all"]:::plain
  n5 ==> n4
  n6 --> n5
  n4 -.-> rest
  classDef plain fill:#eef0f3,stroke:#9aa1ac,stroke-width:1px,color:#1b1f24
  classDef open fill:#fdecc8,stroke:#d97706,stroke-width:3px,color:#1b1f24
  classDef evidence fill:#d3f5e3,stroke:#059669,stroke-width:2px,color:#1b1f24
  classDef answer fill:#a7ecc9,stroke:#047857,stroke-width:3px,color:#1b1f24
  classDef failed fill:#fbdada,stroke:#dc2626,stroke-width:2px,color:#1b1f24
"##
    );
}

#[test]
fn json_has_every_node_and_edge() {
    let w = long(2, 120);
    let view = GraphView::of(w.run().ledger(), None);
    let json: serde_json::Value = serde_json::from_str(&view.to_json()).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), w.run().ledger().node_count() as usize);
    assert!(json["nodes"].as_array().unwrap().len() > super::DRAWN_MAX);
    let first = serde_json::json!({"id": 3, "reference": "tool_run:3", "kind": "tool_run", "label": "tool read_file(path: a.rs) completed", "tone": "plain", "seq": 3});
    assert_eq!(json["nodes"][3], first);
    assert_eq!(json["edges"][0], serde_json::json!({"from": 1, "to": 0, "proof": false}));
}

#[test]
fn a_long_run_is_drawn_in_part_and_says_so() {
    let w = long(1, 400);
    let view = GraphView::of(w.run().ledger(), Some(&w.decide()));
    let left_out = view.nodes.len() - super::DRAWN_MAX;
    let svg = view.to_svg();
    assert_eq!(drawn(&svg).0, super::DRAWN_MAX + 1);
    let note = format!("{left_out} nodes left out: the JSON form has all");
    assert!(svg.contains(&note) && view.to_dot().contains(&note));
    let open = view.nodes.iter().filter(|n| n.tone == Tone::Open).count();
    assert!(open > 0 && svg.matches("#d97706").count() == open, "what is open is drawn, old or not");
    let mermaid = view.to_mermaid();
    assert!(mermaid.len() < 50_000 && mermaid.matches("-->").count() < 500, "{}", mermaid.len());
}

#[test]
fn edges_that_others_imply_are_not_drawn() {
    let view = made_up(4, |n| (0..n).collect());
    let drawn = Drawn::of(&view, 10);
    let lines: Vec<(usize, usize)> = drawn.lines.iter().map(|l| (l.from, l.to)).collect();
    assert_eq!(lines, [(1, 0), (2, 1), (3, 2)]);
}

/// `layout-rs` walks every path of a diamond: a chain of 60 of them would take for ever.
#[test]
fn a_chain_of_diamonds_is_drawn() {
    let view = made_up(181, |n| match n % 3 {
        _ if n == 0 => vec![],
        0 => vec![n - 2, n - 1],
        1 => vec![n - 1],
        _ => vec![n - 2],
    });
    assert_eq!(drawn(&view.to_svg()), (181, 240));
}

#[test]
fn odd_graphs_are_drawn() {
    assert_eq!(drawn(&made_up(1, |_| vec![]).to_svg()), (1, 0));
    assert_eq!(drawn(&made_up(30, |_| vec![]).to_svg()), (30, 0));
    assert_eq!(drawn(&made_up(300, |n| if n == 0 { vec![] } else { vec![0] }).to_svg()), (300, 299));
    assert_eq!(drawn(&made_up(300, |n| if n == 299 { (0..299).collect() } else { vec![] }).to_svg()), (300, 299));
    // Nothing at all, a node that rests on itself, one that rests on a newer one: no ledger makes them.
    assert_eq!(drawn(&made_up(0, |_| vec![]).to_svg()).1, 0);
    for view in [made_up(3, |n| vec![n]), made_up(3, |n| vec![(n + 1) % 3])] {
        assert_eq!(drawn(&view.to_svg()).0, 3);
    }
}

#[test]
fn a_tangle_is_drawn_in_part() {
    // Two halves, and each node of the one rests on many of the other, and on its own neighbour.
    let view = made_up(400, |n| if n < 200 { n.checked_sub(1).into_iter().collect() } else { vec![n - 1, n - 200] });
    assert!(drawn(&view.to_svg()).0 > 30);
    let view = made_up(400, |n| if n < 200 { vec![] } else { (0..200).filter(|o| (o * n) % 3 == 0).collect() });
    assert!(drawn(&view.to_svg()).0 > 30);
}

#[test]
fn graphs_by_chance_are_drawn() {
    for seed in 0..10 {
        let w = by_chance(seed, 90);
        let view = GraphView::of(w.run().ledger(), Some(&w.decide()));
        assert_eq!(drawn(&view.to_svg()).0, view.nodes.len(), "seed {seed}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let mut w = witness(Policy::default());
    let name = "x\"];\n`<script>&#\\N\u{202e}]";
    w.call(&ForeignCall { declared: Declared::run(Effect::Read), ..read("c1", name, "\"--> n0\u{0}") });
    let view = GraphView::of(w.run().ledger(), None);
    assert_eq!(view.nodes[3].label, "tool x\"]; `<script>&#\\N](\"--> n0) asked for");
    assert!(view.to_dot().contains(r#"label="tool x\"]; `<script>&amp;#\\N](\"--> n0) asked for""#), "{}", view.to_dot());
    let mermaid = "n3[\"tool x#34;#93;#59; #96;#60;script#62;#38;#35;#92;N#93;(#34;--#62; n0) asked for\"]:::open";
    assert!(view.to_mermaid().contains(mermaid), "{}", view.to_mermaid());
    let svg = view.to_svg();
    drawn(&svg);
    assert!(svg.contains("tool x&quot;]; `&lt;script&gt;&amp;#\\N](&quot;--&gt; n0) asked for</text>"), "{svg}");
}

#[test]
fn no_words_of_an_answer_are_shown() {
    let mut w = delivered();
    w.rule().unwrap();
    let view = GraphView::of(w.run().ledger(), None);
    for form in [view.to_json(), view.to_dot(), view.to_mermaid(), view.to_svg()] {
        assert!(!form.contains("The file is empty"));
    }
}

#[test]
fn a_picture_as_data_is_what_drawings_show() {
    let view = GraphView { drawn_max: 4, ..made_up(6, |n| (0..n).collect()) };
    let picture = view.picture();
    assert_eq!(picture.nodes.iter().map(|node| node.id.0).collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!(picture.edges.iter().map(|edge| (edge.from.0, edge.to.0)).collect::<Vec<_>>(), [(3, 2), (4, 3), (5, 4)]);
    assert_eq!(picture.left_out, 2);
}
