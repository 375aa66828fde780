// Parts of the page that change. The server writes them; they are fetched again and put in place of the old ones.
// What came is parsed as a document of its own, where nothing runs, and was escaped where it was written.

/** Puts what is new into a part, child by child: what stayed the same stays where it is. */
function patch(old, now) {
  const olds = [...old.children];
  const news = [...now.children];
  news.forEach((child, at) => {
    // What a person has folded stays folded.
    if (child.tagName === "DETAILS" && olds[at]?.tagName === "DETAILS") child.open = olds[at].open;
    if (!olds[at]) old.append(document.importNode(child, true));
    else if (!olds[at].isEqualNode(child)) olds[at].replaceWith(document.importNode(child, true));
  });
  olds.slice(news.length).forEach((child) => child.remove());
}

/** As `patch`, for parts in which people write: a child stays as it is for as long as there is one of its id. */
function patchKept(old, now) {
  const ids = new Set([...now.children].map((child) => child.id));
  for (const child of [...old.children].filter((child) => !ids.has(child.id))) {
    const hadFocus = child.contains(document.activeElement);
    child.remove();
    // Whoever has just used it goes on from the top of the run, not of the browser.
    if (hadFocus) document.getElementById("main").focus({ preventScroll: true });
  }
  let before = null;
  for (const child of [...now.children].reverse()) {
    const known = old.querySelector(`:scope > #${CSS.escape(child.id)}`);
    const placed = known ?? document.importNode(child, true);
    if (!known) old.insertBefore(placed, before);
    before = placed;
  }
}

/** Fetches the page again, and takes over its parts. */
export async function refreshParts() {
  const response = await fetch(location.href, { headers: { accept: "text/html" } });
  if (response.status === 401) return location.reload();
  if (!response.ok) throw new Error(`the server says ${response.status}`);
  const fetched = new DOMParser().parseFromString(await response.text(), "text/html");
  localTimes(fetched);
  for (const old of document.querySelectorAll("[data-part]")) {
    const now = fetched.getElementById(old.id);
    if (!now) continue;
    if (old.dataset.part === "keep") patchKept(old, now);
    else patch(old, now);
  }
}

/** Writes moments in the reader's own time. */
export function localTimes(page = document) {
  for (const time of page.querySelectorAll("time[datetime]:not([title])")) {
    time.title = time.dateTime;
    time.textContent = new Date(time.dateTime).toLocaleString();
  }
}

/** Calls something soon, however often it is asked: one call at a time, and never faster than it goes. */
export function paced(call) {
  let [running, again] = [false, false];
  return async function ask() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      const began = performance.now();
      await call().catch((error) => console.warn(error));
      const pause = Math.max(120, 2 * (performance.now() - began));
      await new Promise((wake) => setTimeout(wake, pause));
    } while (again);
    running = false;
  };
}
