// What happens in a run, in words. Everything is put in as text.

/** Most lines; every record stands behind the link below them. */
const LINES_MAX = 500;

const ENDS = {
  completed: "good", empty: "wait", cut_off: "wait", failed: "bad", timed_out: "bad", cancelled: "wait", rejected: "wait", lost: "bad",
};

/** A name, to be set as one. */
const code = (name) => `\`${name.replaceAll("`", "'")}\``;

const plain = (name) => name.replaceAll("_", " ");

/** An event in words: what is said, how it looks, which node it is about, and a longer text where there is one. */
const WORDS = {
  progress: (e) => ({ says: e.note }),
  planning: (e) => ({ says: `${code(e.agent)} makes a plan` }),
  reasoning_chain: (e) => ({ says: `${code(e.agent)} accounts for ${e.dispositions.length} results` }),
  thinking: (e) => ({ says: `${code(e.agent)} thinks`, text: e.text }),
  tool_call: (e) => ({ says: `${code(e.agent)} calls ${code(e.name)}`, node: e.call, text: e.arguments }),
  tool_result: (e) => ({ says: `${code(e.name)}: ${plain(e.outcome)}${e.late ? ", too late to count" : ""}`, look: ENDS[e.outcome], node: e.call, text: e.text }),
  agent_reply: (e) => ({ says: `${code(e.agent)} is done: ${plain(e.outcome)}`, look: ENDS[e.outcome], node: e.activation, text: e.text }),
  plan: (e) => ({ says: `the plan: ${e.steps.filter((step) => step.state === "done").length} of ${e.steps.length} steps done`, text: e.steps.map((step) => `${step.id} (${plain(step.state)}): ${step.text}`).join("\n") }),
  transfer: (e) => ({ says: e.returned ? `${code(e.to)} gives control back` : `control goes to ${code(e.to)}`, node: e.call }),
  approval_requested: (e) => ({ says: `${code(e.name)} waits for approval`, look: "wait", node: e.approval, text: e.arguments }),
  approval_resolved: (e) => ({ says: e.granted ? "approved" : "denied", look: e.granted ? "good" : "bad", node: e.approval, text: e.why }),
  nudge: (e) => ({ says: `${code(e.agent)} is told to go on` }),
  finalization_check: (e) => ruled(e),
  finalization_auto_continue: (e) => ({ says: `${code(e.agent)} goes on, with nothing told` }),
  response_start: (e) => (e.candidate === undefined ? null : { says: "there is a candidate", node: e.candidate }),
  response_delta: () => null,
  response_retracted: (e) => ({ says: `the candidate is taken back${e.reason ? `: ${plain(e.reason)}` : ""}`, look: "bad" }),
  response: (e) => (e.finalized ? { says: `the answer is final (${plain(e.reason)})`, look: "good" } : { says: e.message, look: "wait" }),
  question_asked: (e) => ({ says: `${code(e.agent)} asks you`, look: "wait", node: e.question, text: e.text }),
  question_answered: (e) => ({ says: "you answered", node: e.question, text: e.text }),
  lagged: () => null,
  done: () => null,
  error: (e) => ({ says: e.message, look: "bad" }),
  cancelled: () => ({ says: "the run is cancelled", look: "bad" }),
};

function ruled({ phase, candidate, decision }) {
  if (!decision) return { says: "the gate looks at it", node: candidate };
  if (decision.finalizable) return { says: `the gate lets it through${phase === "finalising" ? "; the answer is being recorded" : ""}`, look: "good" };
  const missing = decision.missingChecks.map((finding) => `${finding.message}\n→ ${finding.remedy}`);
  return { says: `the gate says no: ${plain(decision.completionReason)}`, look: "bad", text: missing.join("\n\n") };
}

/** An element with text in it. */
export function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** A text whose parts between backticks are names. */
function inCode(text) {
  return text.split("`").map((part, at) => (at % 2 ? element("code", part) : part));
}

/** A text behind a fold. */
export function fold(title, text) {
  const made = element("details");
  made.append(element("summary", title), element("pre", text));
  return made;
}

/** The lines of a run, the newest last. */
export class Timeline {
  #list;
  /** What was told of nodes, by their numbers. */
  #told = new Map();

  constructor(list) {
    this.#list = list;
  }

  take(name, data) {
    const line = WORDS[name]?.(data);
    if (!line) return;
    if (line.node !== undefined) this.#told.set(line.node, [...this.about(line.node), line]);
    const follows = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < 40;
    this.#list.append(this.#drawn(line));
    while (this.#list.children.length > LINES_MAX) this.#list.firstElementChild.remove();
    if (follows) this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** What was told of a node. */
  about(node) {
    return this.#told.get(node) ?? [];
  }

  #drawn({ says, look, node, text }) {
    const item = element("li", "", look ? { class: look } : {});
    const line = node === undefined ? element("span") : element("a", "", { href: "#graph", "data-node": node });
    line.append(...inCode(says));
    item.append(line);
    if (text) item.append(fold("more", text));
    return item;
  }
}
