// The evidence graph: laid out by dagre, drawn as SVG, so that its nodes are parts of the page like any other.

import { element, fold } from "./timeline.js";

const SVG = "http://www.w3.org/2000/svg";
const LINE_CHARS = 28;
const LINES_MAX = 3;
const LINE_HEIGHT = 15;

/** How a node stands, in words. */
const TONES = {
  plain: "nothing in particular",
  open: "open: it stands between the run and a final answer",
  evidence: "the final answer rests on it",
  answer: "the final answer",
  failed: "it did not end well",
};

const letters = document.createElement("canvas").getContext("2d");
letters.font = "600 12px system-ui, sans-serif";

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A label in a few short lines. The whole of it is said to whoever chooses the node. */
function lines(label) {
  const made = [""];
  for (const word of label.match(/\S{1,28}/g) ?? []) {
    const longer = `${made.at(-1)} ${word}`.trim();
    if (longer.length <= LINE_CHARS) made[made.length - 1] = longer;
    else made.push(word);
  }
  if (made.length <= LINES_MAX) return made;
  return [...made.slice(0, LINES_MAX - 1), "…", made.at(-1)];
}

/** Where everything goes: the oldest at the top. */
function laidOut({ nodes, edges }) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30, marginx: 14, marginy: 14 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) {
    const text = lines(node.label);
    const width = Math.max(...text.map((line) => letters.measureText(line).width)) + 24;
    graph.setNode(String(node.id), { ...node, text, width, height: text.length * LINE_HEIGHT + 14 });
  }
  for (const edge of edges) graph.setEdge(String(edge.to), String(edge.from), { proof: edge.proof });
  dagre.layout(graph);
  return graph;
}

/** A line through points, with its bends rounded. */
function path(points) {
  const [first, ...rest] = points;
  const last = rest.pop();
  const middle = rest.map((point, at) => {
    const next = rest[at + 1] ?? last;
    return `Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`;
  });
  return `M${first.x},${first.y}${middle.join("")}L${last.x},${last.y}`;
}

/** The point of an arrow, at the older end of a line. */
function arrow(points) {
  const [tip, from] = points;
  const angle = (Math.atan2(tip.y - from.y, tip.x - from.x) * 180) / Math.PI;
  return `translate(${tip.x},${tip.y}) rotate(${angle})`;
}

export class Graph {
  #run;
  #timeline;
  #box = document.getElementById("graph");
  #fetched = "";
  #picture = { nodes: [], edges: [] };
  #chosen = null;
  /** The node at which the keyboard is. */
  #current = null;

  constructor(run, timeline) {
    this.#run = run;
    this.#timeline = timeline;
    this.#box.addEventListener("click", (event) => this.#clicked(event));
    this.#box.addEventListener("keydown", (event) => this.#pressed(event));
    document.getElementById("details").addEventListener("click", (event) => this.#clicked(event));
  }

  /** Fetches the graph, and draws it where it has changed. */
  async refresh() {
    const response = await fetch(`/runs/${encodeURIComponent(this.#run)}/picture`);
    if (!response.ok) return;
    const fetched = await response.text();
    if (fetched === this.#fetched) return;
    this.#fetched = fetched;
    this.#picture = JSON.parse(fetched);
    this.#draw();
    const left = this.#picture.leftOut;
    const note = `${left} older nodes are left out; the graph as a picture, below, has more.`;
    Object.assign(document.getElementById("left-out"), { hidden: !left, textContent: note });
    if (this.#chosen !== null) this.#describe();
  }

  /** Chooses a node, and says what it is. */
  choose(id, scroll = false) {
    if (!this.#node(id)) return;
    this.#chosen = id;
    this.#goTo(id, false);
    for (const node of this.#box.querySelectorAll(".node")) node.setAttribute("aria-pressed", String(Number(node.dataset.id) === id));
    if (scroll) this.#drawnNode(id).scrollIntoView({ block: "nearest", inline: "nearest" });
    this.#describe();
  }

  #node(id) {
    return this.#picture.nodes.find((node) => node.id === id);
  }

  #drawnNode(id) {
    return this.#box.querySelector(`[data-id="${id}"]`);
  }

  #draw() {
    const graph = laidOut(this.#picture);
    const { width, height } = graph.graph();
    const follows = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 60;
    const focused = this.#box.contains(document.activeElement);
    const edges = graph.edges().flatMap((edge) => {
      const { points, proof } = graph.edge(edge);
      const style = proof ? " proof" : "";
      return [drawn("path", { class: `edge${style}`, d: path(points) }), drawn("path", { class: `arrow${style}`, d: "M0,0L-8,-4L-8,4Z", transform: arrow(points) })];
    });
    const nodes = graph.nodes().map((id) => this.#drawNode(graph.node(id)));
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    this.#box.replaceChildren(drawn("svg", { ...size, role: "group", "aria-label": "Evidence graph" }, ...edges, ...nodes));
    const newest = this.#picture.nodes.at(-1)?.id ?? null;
    if (follows && newest !== null) {
      this.#box.scrollTop = this.#box.scrollHeight;
      this.#box.scrollLeft = graph.node(String(newest)).x - this.#box.clientWidth / 2;
    }
    this.#goTo(this.#node(this.#current) ? this.#current : newest, focused);
  }

  #drawNode({ id, x, y, width, height, text, label, tone }) {
    const [left, top] = [x - width / 2, y - height / 2];
    const first = y - ((text.length - 1) * LINE_HEIGHT) / 2 + 4;
    const words = text.map((line, at) => drawn("text", { x, y: first + at * LINE_HEIGHT, "text-anchor": "middle" }, line));
    const about = { role: "button", tabindex: -1, "data-id": id, "aria-label": `${label}. ${TONES[tone] ?? tone}`, "aria-pressed": id === this.#chosen };
    const ring = drawn("rect", { class: "ring", x: left - 5, y: top - 5, width: width + 10, height: height + 10, rx: 10 });
    return drawn("g", { class: `node ${tone}`, ...about }, ring, drawn("rect", { x: left, y: top, width, height, rx: 6 }), ...words);
  }

  /** Moves the keyboard to a node: one of them is reached by the tab key, the others from there. */
  #goTo(id, focus) {
    this.#drawnNode(this.#current)?.setAttribute("tabindex", -1);
    this.#current = id;
    const node = this.#drawnNode(id);
    node?.setAttribute("tabindex", 0);
    if (focus) node?.focus();
  }

  #clicked(event) {
    const node = event.target.closest("[data-id]");
    if (node) this.choose(Number(node.dataset.id));
  }

  #pressed(event) {
    const id = this.#current;
    const { nodes, edges } = this.#picture;
    const at = nodes.findIndex((node) => node.id === id);
    const ways = {
      ArrowUp: () => edges.find((edge) => edge.from === id)?.to,
      ArrowDown: () => edges.find((edge) => edge.to === id)?.from,
      ArrowLeft: () => nodes[at - 1]?.id,
      ArrowRight: () => nodes[at + 1]?.id,
      Home: () => nodes[0]?.id,
      End: () => nodes.at(-1)?.id,
    };
    if (event.key === "Enter" || event.key === " ") this.choose(id);
    else if (ways[event.key]) this.#goTo(ways[event.key]() ?? id, true);
    else return;
    event.preventDefault();
  }

  #describe() {
    const { id, label, tone, reference, seq } = this.#node(this.#chosen) ?? {};
    if (id === undefined) return;
    const { edges } = this.#picture;
    const list = element("dl");
    const row = (title, ...values) => {
      const value = element("dd");
      value.append(...values);
      list.append(element("dt", title), value);
    };
    row("reference", element("code", reference));
    const onTheWay = tone === "plain" && edges.some((edge) => edge.proof && (edge.from === id || edge.to === id));
    row("stands", onTheWay ? "on the way from the final answer to its evidence" : (TONES[tone] ?? tone));
    const record = `/api/runs/${encodeURIComponent(this.#run)}/events?after=${seq - 1}&limit=1`;
    row("recorded by", element("a", `event ${seq}`, { href: record }));
    row("rests on", ...this.#links(edges.filter((edge) => edge.from === id).map((edge) => edge.to)));
    row("carries", ...this.#links(edges.filter((edge) => edge.to === id).map((edge) => edge.from)));
    const told = this.#timeline.about(id).filter((line) => line.text).map((line) => fold(line.says, line.text));
    document.getElementById("details").replaceChildren(element("h3", label), list, ...told);
  }

  #links(ids) {
    if (!ids.length) return ["nothing"];
    return ids.map((id) => element("button", this.#node(id)?.label ?? "", { class: "link", type: "button", "data-id": id }));
  }
}
