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

/// Space around a box, towards other rows.
const BETWEEN_ROWS: f64 = 34.0;
/// Space around a box, towards its neighbours.
const WITHIN_ROWS: f64 = 12.0;
/// Most lines, with the places that long ones take up between rows: the layout is slow beyond.
const BENDS_MAX: usize = 2500;
/// Most comparisons that untangling the lines may cost.
const UNTANGLE_MAX: usize = 300_000;

impl GraphView {
    /// As an SVG drawing with a transparent ground. A graph that is too tangled to lay out in reasonable time
    /// is drawn with fewer nodes, which is said in the drawing; it never fails.
    pub fn to_svg(&self) -> String {
        let mut max = self.drawn_max;
        loop {
            let drawn = Drawn::of(self, max);
            if drawn.rows.bends + drawn.lines.len() <= BENDS_MAX || drawn.nodes.len() <= 1 {
                return laid_out(&drawn, drawn.rows.untangling() <= UNTANGLE_MAX).unwrap_or_else(|| canvas::listed(&drawn));
            }
            max = drawn.nodes.len() * 3 / 4;
        }
    }
}

/// The layout. `None` where the library gives up: it asserts what it believes of its input.
fn laid_out(drawn: &Drawn<'_>, untangle: bool) -> Option<String> {
    if drawn.nodes.is_empty() {
        return None;
    }
    let direction = if drawn.rows.sideways() { Orientation::LeftToRight } else { Orientation::TopToBottom };
    let mut canvas = Canvas::new(drawn);
    let mut place = || {
        let mut graph = VisualGraph::new(direction);
        // It would look for circles by walking every path: exponential, and there are none.
        graph.dag.set_validate(false);
        let note = (drawn.left_out > 0).then(|| graph.add_node(boxed(drawn.nodes.len(), canvas::note_size(drawn), direction)));
        let boxes: Vec<_> = drawn.nodes.iter().enumerate().map(|(at, node)| graph.add_node(boxed(at, box_size(node), direction))).collect();
        // INVARIANT: lines go in by the newer node, the stubs before all. Of each it asks whether the newer one
        // reaches the older, again by every path; in this order the newer one reaches nothing yet.
        for (at, stub) in drawn.stubs.iter().enumerate() {
            if let (Some(note), Some(newer)) = (note, boxes.get(*stub)) {
                graph.add_edge(arrow(drawn.lines.len() + at), note, *newer);
            }
        }
        for (at, line) in drawn.lines.iter().enumerate() {
            if let (Some(older), Some(newer)) = (boxes.get(line.to), boxes.get(line.from)) {
                graph.add_edge(arrow(at), *older, *newer);
            }
        }
        graph.do_it(false, !untangle, false, &mut canvas);
    };
    catch_unwind(AssertUnwindSafe(&mut place)).ok()?;
    canvas.finish()
}

/// A box that carries its place through the layout.
fn boxed(at: usize, (width, height): (f64, f64), direction: Orientation) -> Element {
    let (size, look) = (Point::new(width, height), StyleAttr::simple());
    // Lines need room between rows, not within them; more of it where rows are columns, and lines run far.
    let halo = if direction.is_left_right() { Point::new(BETWEEN_ROWS * 2.0, WITHIN_ROWS) } else { Point::new(WITHIN_ROWS, BETWEEN_ROWS) };
    let mut element = Element::create_with_properties(ShapeKind::new_box(""), look, direction, size, at.to_string());
    element.pos = Position::new(Point::zero(), size, Point::zero(), halo);
    element
}

/// A line that carries its place through the layout. Its look is the canvas's.
fn arrow(at: usize) -> Arrow {
    let (none, style) = (LineEndKind::None, LineStyleKind::Normal);
    Arrow::with_properties(none, none, style, "", &StyleAttr::simple(), at.to_string(), &None, &None)
}
