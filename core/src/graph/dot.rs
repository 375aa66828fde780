//! The graph in Graphviz DOT.

use super::drawn::Drawn;
use super::{GraphView, NodeView};
use crate::explain::words::clean;
use crate::node::NodeKind;
use std::fmt::Write;

impl GraphView {
    /// As DOT, for Graphviz and its kin.
    pub fn to_dot(&self) -> String {
        let drawn = Drawn::of(self, self.drawn_max);
        let mut out = format!("digraph {} {{\n", string(&clean(&self.run_id, 80)));
        let direction = if drawn.rows.sideways() { "RL" } else { "BT" };
        let _ = writeln!(out, "  rankdir={direction}; bgcolor=\"transparent\";");
        out.push_str("  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11];\n");
        out.push_str("  edge [color=\"#8a8f98\", arrowsize=0.7];\n");
        for node in &drawn.nodes {
            let _ = writeln!(out, "  n{} [{}];", node.id, attributes(node));
        }
        if drawn.left_out > 0 {
            let note = string(&drawn.note());
            let _ = writeln!(out, "  rest [label={note}, style=dashed, color=\"#8a8f98\", fontcolor=\"#8a8f98\"];");
        }
        for line in &drawn.lines {
            if let (Some(from), Some(to)) = (drawn.nodes.get(line.from), drawn.nodes.get(line.to)) {
                let proof = if line.proof { " [color=\"#059669\", penwidth=2]" } else { "" };
                let _ = writeln!(out, "  n{} -> n{}{proof};", from.id, to.id);
            }
        }
        for stub in drawn.stubs.iter().filter_map(|at| drawn.nodes.get(*at)) {
            let _ = writeln!(out, "  n{} -> rest [style=dashed];", stub.id);
        }
        out.push_str("}\n");
        out
    }
}

fn attributes(node: &NodeView) -> String {
    let paint = node.tone.paint();
    let tip = string(&format!("{}, event {}", clean(&node.reference.to_string(), 80), node.seq));
    let shape = match node.kind {
        NodeKind::Reply => ", shape=ellipse, style=filled",
        NodeKind::Candidate | NodeKind::Synthesis | NodeKind::Decision => ", shape=box, style=\"filled,bold\"",
        _ => "",
    };
    let label = string(&node.label);
    let (fill, line, width) = (paint.fill, paint.line, paint.width);
    format!("label={label}, tooltip={tip}, fillcolor=\"{fill}\", color=\"{line}\", penwidth={width}, fontcolor=\"{}\"{shape}", paint.text)
}

/// A quoted string in which nothing is an escape: Graphviz reads `\N`, `\n` and HTML entities in labels.
fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('&', "&amp;").replace('\\', "\\\\").replace('"', "\\\""))
}
