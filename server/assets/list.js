// The list of runs: while one is at work, its card is looked at again.

import { localTimes, refreshParts } from "./parts.js";

const EVERY_MS = 2000;

async function look() {
  const atWork = document.querySelector(".card:is(.in-progress, .verifying, .finalising)");
  if (atWork && !document.hidden) await refreshParts().catch((error) => console.warn(error));
  setTimeout(look, EVERY_MS);
}

localTimes();
setTimeout(look, EVERY_MS);
