//! The graph as a drawing. `layout-rs` places the boxes and the lines; what they look like is ours.

mod canvas;

use super::GraphView;
use super::drawn::Drawn;
use canvas::{Canvas, box_size};
use layout::core::base::Orientation;
use layout::core::geometry::{Point, Position};
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Space around a box.
const HALO: f64 = 14.0;
/// Most places that long lines may take up between rows: the layout is slow beyond.
const BENDS_MAX: usize = 1500;
/// Most comparisons that untangling the lines may cost.
const UNTANGLE_MAX: usize = 20_000_000;

impl GraphView {
    /// As an SVG drawing with a transparent ground. A graph that is too tangled to lay out in reasonable time
    /// is drawn with fewer nodes, which is said in the drawing; it never fails.
    pub fn to_svg(&self) -> String {
        let mut max = self.drawn_max;
        loop {
            let drawn = Drawn::of(self, max);
            let effort = Effort::of(&drawn);
            if effort.bends <= BENDS_MAX || drawn.nodes.len() <= 1 {
                return laid_out(&drawn, effort.untangle <= UNTANGLE_MAX).unwrap_or_else(|| canvas::listed(&drawn));
            }
            max = drawn.nodes.len() / 2;
        }
    }
}

/// What a layout would cost.
struct Effort {
    bends: usize,
    untangle: usize,
}

impl Effort {
    fn of(drawn: &Drawn<'_>) -> Self {
        let mut levels = vec![0_usize; drawn.nodes.len()];
        let mut rows: Vec<usize> = Vec::new();
        let mut bends = 0;
        // Lines are sorted by the newer node, so the older one's level is known.
        for line in &drawn.lines {
            let below = levels.get(line.to).copied().unwrap_or_default() + 1;
            if let Some(level) = levels.get_mut(line.from) {
                *level = (*level).max(below);
            }
        }
        for level in &levels {
            rows.resize(rows.len().max(level + 1), 0);
            if let Some(row) = rows.get_mut(*level) {
                *row += 1;
            }
        }
        for line in &drawn.lines {
            let (from, to) = (levels.get(line.from).copied().unwrap_or_default(), levels.get(line.to).copied().unwrap_or_default());
            for row in rows.iter_mut().take(from).skip(to + 1) {
                *row += 1;
                bends += 1;
            }
        }
        let untangle = rows.windows(2).map(|pair| if let [a, b] = pair { a * a * b } else { 0 }).sum::<usize>();
        Self { bends, untangle }
    }
}

/// The layout. `None` where the library gives up: it asserts what it believes of its input.
fn laid_out(drawn: &Drawn<'_>, untangle: bool) -> Option<String> {
    if drawn.nodes.is_empty() {
        return None;
    }
    let mut canvas = Canvas::new(drawn);
    let mut place = || {
        let mut graph = VisualGraph::new(Orientation::TopToBottom);
        let note = (drawn.left_out > 0).then(|| graph.add_node(boxed(drawn.nodes.len(), canvas::note_size(drawn))));
        let boxes: Vec<_> = drawn.nodes.iter().enumerate().map(|(at, node)| graph.add_node(boxed(at, box_size(node)))).collect();
        for (at, line) in drawn.lines.iter().enumerate() {
            if let (Some(older), Some(newer)) = (boxes.get(line.to), boxes.get(line.from)) {
                graph.add_edge(arrow(at), *older, *newer);
            }
        }
        for (at, stub) in drawn.stubs.iter().enumerate() {
            if let (Some(note), Some(newer)) = (note, boxes.get(*stub)) {
                graph.add_edge(arrow(drawn.lines.len() + at), note, *newer);
            }
        }
        graph.do_it(false, !untangle, false, &mut canvas);
    };
    catch_unwind(AssertUnwindSafe(&mut place)).ok()?;
    canvas.finish()
}

/// A box that carries its place through the layout.
fn boxed(at: usize, (width, height): (f64, f64)) -> Element {
    let (size, look) = (Point::new(width, height), StyleAttr::simple());
    let mut element = Element::create_with_properties(ShapeKind::new_box(""), look, Orientation::TopToBottom, size, at.to_string());
    element.pos = Position::new(Point::zero(), size, Point::zero(), Point::splat(HALO));
    element
}

/// Rows run from older to newer, arrows the other way: the head is at the start.
fn arrow(at: usize) -> Arrow {
    let (head, none, style) = (LineEndKind::Arrow, LineEndKind::None, LineStyleKind::Normal);
    Arrow::with_properties(head, none, style, "", &StyleAttr::simple(), at.to_string(), &None, &None)
}
