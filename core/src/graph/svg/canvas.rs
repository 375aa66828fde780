//! What boxes and lines look like.

use crate::explain::words::clean;
use crate::graph::NodeView;
use crate::graph::drawn::Drawn;
use crate::node::NodeKind;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Width of a letter, near enough for a sans-serif of 12 pixels; of others, such as Chinese, twice as much.
const LETTER: f64 = 6.7;
const HEIGHT: f64 = 40.0;
const MARGIN: f64 = 12.0;

/// How much room a node takes.
pub(super) fn box_size(node: &NodeView) -> (f64, f64) {
    let second = second_line(node);
    (text_width(&node.label).max(text_width(&second) * 0.85).max(60.0) + 22.0, HEIGHT)
}

/// How much room the note about what was left out takes.
pub(super) fn note_size(drawn: &Drawn<'_>) -> (f64, f64) {
    (text_width(&drawn.note()) + 22.0, HEIGHT)
}

fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() || c == '…' { LETTER } else { 2.0 * LETTER }).sum()
}

fn second_line(node: &NodeView) -> String {
    format!("{} · event {}", clean(&node.reference.to_string(), 40), node.seq)
}

/// Where a box stands.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Place {
    /// Where a line to something newer begins.
    fn leaving(self, sideways: bool) -> (f64, f64) {
        if sideways { (self.x + self.width, self.y + self.height / 2.0) } else { (self.x + self.width / 2.0, self.y + self.height) }
    }

    /// Where a line from something older ends.
    fn entered(self, sideways: bool) -> (f64, f64) {
        if sideways { (self.x, self.y + self.height / 2.0) } else { (self.x + self.width / 2.0, self.y) }
    }
}

/// Collects what the layout draws.
pub(super) struct Canvas<'a> {
    drawn: &'a Drawn<'a>,
    boxes: String,
    lines: String,
    /// Where boxes stand: the library draws all of them before the lines.
    places: FxHashMap<usize, Place>,
    sideways: bool,
    from: (f64, f64),
    to: (f64, f64),
}

impl<'a> Canvas<'a> {
    pub(super) fn new(drawn: &'a Drawn<'a>) -> Self {
        let (from, to) = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
        Self { drawn, boxes: String::new(), lines: String::new(), places: FxHashMap::default(), sideways: drawn.rows.sideways(), from, to }
    }

    /// The drawing; `None` where a coordinate is not a number.
    pub(super) fn finish(self) -> Option<String> {
        let (x, y) = (self.from.0 - MARGIN, self.from.1 - MARGIN);
        let (width, height) = (self.to.0 + MARGIN - x, self.to.1 + MARGIN - y);
        let usable = |n: f64| n.is_finite() && n.abs() < 1e7;
        if ![x, y, width, height].into_iter().all(usable) {
            return None;
        }
        let mut out = head(x, y, width, height);
        out.push_str(&self.lines);
        out.push_str(&self.boxes);
        out.push_str("</svg>\n");
        Some(out)
    }

    fn grow(&mut self, x: f64, y: f64) {
        self.from = (self.from.0.min(x), self.from.1.min(y));
        self.to = (self.to.0.max(x), self.to.1.max(y));
    }

    /// The older and the newer box of a line, and what it looks like.
    fn ends(&self, at: usize) -> Option<(Place, Place, &'static str)> {
        let (older, newer, class) = match self.drawn.lines.get(at) {
            Some(line) => (line.to, line.from, if line.proof { "p" } else { "l" }),
            None => (self.drawn.nodes.len(), *self.drawn.stubs.get(at.checked_sub(self.drawn.lines.len())?)?, "s"),
        };
        Some((*self.places.get(&older)?, *self.places.get(&newer)?, class))
    }

    fn node(&mut self, at: usize, x: f64, y: f64, width: f64, height: f64) {
        self.places.insert(at, Place { x, y, width, height });
        self.grow(x, y);
        self.grow(x + width, y + height);
        match self.drawn.nodes.get(at) {
            Some(node) => boxed(&mut self.boxes, node, x, y, width, height),
            None => noted(&mut self.boxes, &self.drawn.note(), x, y, width, height),
        }
    }
}

impl RenderBackend for Canvas<'_> {
    fn draw_rect(&mut self, xy: Point, size: Point, _: &StyleAttr, properties: Option<String>, _: Option<ClipHandle>) {
        if let Some(at) = properties.and_then(|p| p.parse().ok()) {
            self.node(at, xy.x, xy.y, size.x, size.y);
        }
    }

    fn draw_arrow(&mut self, path: &[(Point, Point)], _: bool, _: (bool, bool), _: &StyleAttr, properties: Option<String>, _: &str) {
        let Some((older, newer, class)) = properties.and_then(|p| p.parse().ok()).and_then(|at| self.ends(at)) else { return };
        // Of its way only the bends are taken: every line leaves and enters a box in the middle of a side.
        let bends = path.get(1..path.len().saturating_sub(1)).unwrap_or_default().iter().map(|(_, bend)| (bend.x, bend.y));
        let (start, end) = (older.leaving(self.sideways), newer.entered(self.sideways));
        let mut at = start;
        let mut d = format!("M{:.1} {:.1}", at.0, at.1);
        for next in bends.chain([end]) {
            let (out, into) = if self.sideways {
                let middle = f64::midpoint(at.0, next.0);
                ((middle, at.1), (middle, next.1))
            } else {
                let middle = f64::midpoint(at.1, next.1);
                ((at.0, middle), (next.0, middle))
            };
            let _ = write!(d, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", out.0, out.1, into.0, into.1, next.0, next.1);
            self.grow(next.0, next.1);
            at = next;
        }
        let _ = writeln!(self.lines, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    // Nothing else is drawn: boxes bring their own text.
    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}
    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}
    fn draw_text(&mut self, _: Point, _: &str, _: &StyleAttr) {}
    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

/// Every node in one column, without lines: what is left when the layout gives up.
pub(super) fn listed(drawn: &Drawn<'_>) -> String {
    let mut canvas = Canvas::new(drawn);
    let extra = usize::from(drawn.left_out > 0);
    let mut y = 0.0;
    for at in (0..drawn.nodes.len() + extra).map(|at| if extra == 1 && at == 0 { drawn.nodes.len() } else { at - extra }) {
        let (width, height) = drawn.nodes.get(at).map_or_else(|| note_size(drawn), |n| box_size(n));
        canvas.node(at, 0.0, y, width, height);
        y += height + 8.0;
    }
    canvas.grow(0.0, 0.0);
    canvas.finish().unwrap_or_default()
}

fn head(x: f64, y: f64, width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{x:.0} {y:.0} {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" text-anchor=\"middle\">\n\
         <style>.l,.p,.s{{fill:none;stroke:#8a8f98;stroke-width:1.2;marker-start:url(#a)}}.p{{stroke:#059669;stroke-width:2}}\
         .s{{stroke-dasharray:4 4}}.r{{font-size:10px;opacity:.65}}</style>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"0\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" \
         orient=\"auto\"><path d=\"M8 0L0 4L8 8z\" fill=\"#8a8f98\"/></marker></defs>\n"
    )
}

fn boxed(out: &mut String, node: &NodeView, x: f64, y: f64, width: f64, height: f64) {
    let paint = node.tone.paint();
    let round = if node.kind == NodeKind::Reply { height / 2.0 } else { 6.0 };
    let (middle, first, second) = (x + width / 2.0, y + height / 2.0 - 3.0, y + height / 2.0 + 12.0);
    let _ = writeln!(
        out,
        "<g fill=\"{}\"><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.0}\" \
         fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/><text x=\"{middle:.1}\" y=\"{first:.1}\">{}</text>\
         <text class=\"r\" x=\"{middle:.1}\" y=\"{second:.1}\">{}</text></g>",
        paint.text,
        escaped(&node.label),
        paint.fill,
        paint.line,
        paint.width,
        escaped(&node.label),
        escaped(&second_line(node)),
    );
}

fn noted(out: &mut String, note: &str, x: f64, y: f64, width: f64, height: f64) {
    let _ = writeln!(
        out,
        "<g><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\" fill=\"none\" stroke=\"#8a8f98\" \
         stroke-dasharray=\"4 4\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"#8a8f98\">{}</text></g>",
        x + width / 2.0,
        y + height / 2.0 + 4.0,
        escaped(note),
    );
}

/// Text inside an element. Characters that XML 1.0 forbids were cleaned away before, but for two.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}
