//! The graph in Mermaid.

use super::drawn::Drawn;
use super::{GraphView, Tone};
use std::fmt::Write;

/// Mermaid refuses texts of more than 50,000 characters and, by default, more than 500 edges.
const NODES_MAX: usize = 200;
/// As above.
const LINES_MAX: usize = 450;

impl GraphView {
    /// As a Mermaid flow chart. Fewer nodes than the other pictures: Mermaid refuses long texts.
    pub fn to_mermaid(&self) -> String {
        let drawn = Drawn::of(self, self.drawn_max.min(NODES_MAX));
        let mut out = format!("flowchart {}\n", if drawn.rows.sideways() { "RL" } else { "BT" });
        for node in &drawn.nodes {
            let _ = writeln!(out, "  n{}[\"{}\"]:::{}", node.id, escaped(&node.label), class(node.tone));
        }
        if drawn.left_out > 0 {
            let _ = writeln!(out, "  rest[\"{}\"]:::plain", escaped(&drawn.note()));
        }
        for line in drawn.lines.iter().take(LINES_MAX) {
            if let (Some(from), Some(to)) = (drawn.nodes.get(line.from), drawn.nodes.get(line.to)) {
                let _ = writeln!(out, "  n{} {} n{}", from.id, if line.proof { "==>" } else { "-->" }, to.id);
            }
        }
        for stub in drawn.stubs.iter().filter_map(|at| drawn.nodes.get(*at)) {
            let _ = writeln!(out, "  n{} -.-> rest", stub.id);
        }
        for tone in Tone::ALL {
            let paint = tone.paint();
            let _ = writeln!(
                out,
                "  classDef {} fill:{},stroke:{},stroke-width:{}px,color:{}",
                class(tone),
                paint.fill,
                paint.line,
                paint.width,
                paint.text
            );
        }
        out
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Open => "open",
        Tone::Evidence => "evidence",
        Tone::Answer => "answer",
        Tone::Failed => "failed",
    }
}

/// Everything that is not a plain character as an entity: Mermaid has its own (`#35;`), reads Markdown and
/// HTML in labels, and ends a line at `;`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | ':' | '/' | '-' | '(' | ')' | '…' | '=' | '?' | '!' | '+') {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
