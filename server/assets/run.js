// One run, live. The stream says what happens; what stands is fetched again from the server, who alone writes answers.

import { Graph } from "./graph.js";
import { localTimes, paced, refreshParts } from "./parts.js";
import { Timeline } from "./timeline.js";

const run = document.getElementById("main").dataset.run;
const timeline = new Timeline(document.getElementById("timeline"));
const graph = new Graph(run, timeline);

/** Every event of the wire; an EventSource wants to be asked for each by its name. */
const EVENTS = [
  "progress", "planning", "reasoning_chain", "thinking", "tool_call", "tool_result", "agent_reply", "plan", "transfer",
  "approval_requested", "approval_resolved", "nudge", "finalization_check", "finalization_auto_continue",
  "response_start", "response_delta", "response_retracted", "response", "question_asked", "question_answered",
  "lagged", "done", "error", "cancelled",
];

/** Text that may become the answer, or not, for as long as the server has not written it as a candidate. */
const preview = {
  box: document.getElementById("preview"),
  /** How many there have been. */
  count: 0,
  /** Whether the server writes it from here on. */
  written: true,

  take(name, data) {
    const [who, text] = this.box.children;
    if (name === "response_start") {
      this.count += 1;
      this.written = data.candidate !== undefined;
      who.textContent = "Candidate, not final";
      text.textContent = "";
      this.box.classList.remove("refused");
    } else if (name === "response_delta") {
      text.append(data.text);
      this.box.hidden = false;
    } else {
      this.written = true;
      who.textContent = "Taken back: it is not the answer";
      this.box.classList.add("refused");
    }
  },

  /** The server has written what was there when `count` was so. */
  settle(count) {
    if (this.written && count === this.count) this.box.hidden = true;
  },
};

const look = paced(async () => {
  const { count, written } = preview;
  await Promise.all([refreshParts(), graph.refresh()]);
  if (written) preview.settle(count);
});

const say = (words) => Object.assign(document.getElementById("connection"), { textContent: words, hidden: !words });

function follow() {
  const stream = new EventSource(`/api/runs/${encodeURIComponent(run)}/stream`);
  let ended = false;
  const take = (name, event) => {
    const data = JSON.parse(event.data);
    if (["response_start", "response_delta", "response_retracted"].includes(name)) preview.take(name, data);
    timeline.take(name, data);
    ended ||= name === "cancelled" || name === "error" || (name === "response" && data.finalized);
    if (name !== "response_delta") look();
    if (name === "done" && ended) stream.close();
  };
  for (const name of EVENTS) stream.addEventListener(name, (event) => event.data && take(name, event));
  stream.onopen = () => say("");
  // An event of the run called `error` has data; without, it is the connection.
  stream.onerror = (event) => {
    if (event.data || ended) return;
    const gone = stream.readyState === EventSource.CLOSED;
    say(gone ? "The stream has ended; load the page again." : "The connection is lost; trying again.");
  };
}

document.addEventListener("acted", look);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-node]");
  if (!link) return;
  event.preventDefault();
  graph.choose(Number(link.dataset.node), true);
});
localTimes();
look();
follow();
