// What people do. A form with `data-act` is sent to the API as JSON; what goes wrong is said beside it.

/** The body of a request, by the form's `data-act`. Throws what a person has to mend. */
const bodies = {
  "sign-in": (form) => ({ token: form.elements.token.value }),
  start(form) {
    const body = { task: form.elements.task.value, profile: form.elements.profile.value };
    // Left out, the server's own policy holds; a client may only ask for more.
    if (form.elements.evidence.checked) body.finalization = { requireExecutionEvidence: true };
    return body;
  },
  approve(form, button) {
    const granted = button?.value === "true";
    const body = { granted, why: form.elements.why.value };
    const written = form.elements.namedItem("arguments");
    if (granted && written && written.value !== written.defaultValue) body.arguments = json(written.value);
    return body;
  },
  say(form) {
    const body = { text: form.elements.text.value };
    if (form.elements.followUp) body.followUp = form.elements.followUp.checked;
    return body;
  },
  resolve: (form, button) => ({ outcome: button?.value, text: form.elements.text.value }),
  cancel: (form, button) => ({ when: button?.value }),
  continue: () => ({}),
};

/** Where a request goes that belongs to no run. */
const places = { "sign-in": "/session", start: "/api/runs" };

/** What follows once the server has taken it. */
const then = {
  "sign-in": () => location.reload(),
  start: (_, run) => location.assign(`/runs/${encodeURIComponent(run.run)}`),
  say: (form) => form.reset(),
};

function json(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The arguments are no JSON: ${error.message}`);
  }
}

/** Sends a request, and throws what the server says against it. */
async function send(method, path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  if (response.ok) return response.status === 204 ? null : response.json();
  if (response.status === 401 && path !== "/session") location.reload();
  const problem = await response.json().catch(() => ({}));
  const wrong = path === "/session" && response.status === 401;
  throw new Error(wrong ? "This token is not known here." : (problem.detail ?? `The server says ${response.status}.`));
}

async function copyReport(form) {
  // Browsers let pages copy only where nobody can have changed them on their way: over HTTPS, or on this machine.
  if (!navigator.clipboard) throw new Error("This browser lets no page copy that came without HTTPS; open the report below the timeline.");
  const response = await fetch(form.dataset.from);
  if (!response.ok) throw new Error(`The server says ${response.status}.`);
  await navigator.clipboard.writeText(await response.text());
  form.querySelector("[role=status]").textContent = "Copied.";
}

async function carryOut(form, button) {
  const act = form.dataset.act;
  if (act === "copy") return copyReport(form);
  if (act === "sign-out") {
    await send("DELETE", "/session");
    return location.assign("/");
  }
  const taken = await send("POST", form.dataset.to ?? places[act], bodies[act](form, button));
  then[act]?.(form, taken);
  document.dispatchEvent(new Event("acted"));
}

async function submitted(event) {
  const form = event.target.closest("form[data-act]");
  if (!form) return;
  event.preventDefault();
  // One request at a time. Buttons stay as they are, so that the keyboard stays where it is.
  if (form.ariaBusy === "true") return;
  const trouble = form.querySelector(".trouble");
  if (trouble) trouble.hidden = true;
  form.ariaBusy = "true";
  try {
    await carryOut(form, event.submitter);
  } catch (error) {
    if (trouble) Object.assign(trouble, { textContent: error.message, hidden: false });
  } finally {
    form.ariaBusy = "false";
  }
}

document.addEventListener("submit", submitted);
