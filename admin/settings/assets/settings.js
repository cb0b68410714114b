// Makes some pages more comfortable. Each of them works without it.

// Times are shown in the reader's zone. The title keeps them in UTC.
const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function showTimes(root) {
  for (const el of root.querySelectorAll("time[datetime]")) {
    const at = new Date(el.dateTime);
    if (!Number.isNaN(at.getTime())) el.textContent = zoned.format(at);
  }
}

// A value with data-copy gets a button that copies it.
function addCopyButtons(root) {
  for (const el of root.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => copy(el, button));
    el.after(button);
  }
}

async function copy(el, button) {
  try {
    await navigator.clipboard.writeText(el.dataset.copy || el.textContent.trim());
    say(button, "Copied");
  } catch {
    getSelection().selectAllChildren(el);
    say(button, "Selected");
  }
}

// say shows a word on a button for two seconds, and tells it to those who hear
// the page.
function say(button, word) {
  button.textContent = word;
  button.setAttribute("aria-live", "polite");
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

// A part with data-live is asked for again until it holds data-done: often at
// first, less often later, and for a minute at most.
const liveFor = 60_000;

async function live(el, began = Date.now()) {
  const waited = Date.now() - began;
  if (el.querySelector("[data-done]") || waited > liveFor) return;
  await new Promise((after) => setTimeout(after, Math.min(300 + waited / 10, 3000)));
  await refresh(el);
  live(el, began);
}

// refresh leaves what is there when the server can't be reached, and what did not
// change: a reader's place in it stays.
async function refresh(el) {
  const got = await fetch(el.dataset.live).catch(() => null);
  if (!got?.ok || got.redirected) return;
  const body = await got.text();
  if (body === el.lastBody) return;
  el.lastBody = body;
  el.innerHTML = body;
  enhance(el);
}

// A form is sent once: a second click waits for the first one's answer. A page
// that comes back from the browser's memory may send again.
function sendOnce() {
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    if (event.target.dataset.sent) event.preventDefault();
    mark(event.target, true);
  });
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => mark(form, false)));
}

// mark leaves the buttons enabled, so that the one that was pressed is sent along.
function mark(form, sent) {
  if (sent) form.dataset.sent = "yes";
  else delete form.dataset.sent;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", String(sent));
}

function enhance(root) {
  showTimes(root);
  addCopyButtons(root);
}

// Passkeys. A form with data-passkey names what its ceremony is for. The server
// asks by JSON, the authenticator answers, and the server says where to go on.
const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const encode = (bytes) => bytes && btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// creationOptions and requestOptions do by hand what older browsers lack.
function creationOptions(json) {
  if (PublicKeyCredential.parseCreationOptionsFromJSON) return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  return {
    ...json, challenge: decode(json.challenge), user: { ...json.user, id: decode(json.user.id) },
    excludeCredentials: json.excludeCredentials?.map((c) => ({ ...c, id: decode(c.id) })),
  };
}

function requestOptions(json) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  return { ...json, challenge: decode(json.challenge), allowCredentials: json.allowCredentials?.map((c) => ({ ...c, id: decode(c.id) })) };
}

function credentialJSON(c) {
  if (c.toJSON) return c.toJSON();
  const response = { clientDataJSON: encode(c.response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (c.response[name]) response[name] = encode(c.response[name]);
  }
  return { id: c.id, rawId: encode(c.rawId), type: c.type, response, clientExtensionResults: c.getClientExtensionResults() };
}

const authenticators = {
  "sign-in": async (options) => navigator.credentials.get({ publicKey: requestOptions(options.publicKey) }),
  add: async (options) => navigator.credentials.create({ publicKey: creationOptions(options.publicKey) }),
};

// ask posts a form and returns the JSON that is answered; what is wrong is thrown
// as a text for the person.
async function ask(path, form) {
  const got = await fetch(path, { method: "POST", body: new URLSearchParams(form) });
  const answer = await got.json().catch(() => ({}));
  if (!got.ok) throw new Error(answer.message || "The server did not answer as it should. Load the page again.");
  return answer;
}

const notAllowed = {
  NotAllowedError: "No passkey was used. Try again when you are ready.",
  InvalidStateError: "This device holds a passkey of yours already.",
};

async function ceremony(form) {
  const path = "/settings/passkeys/" + form.dataset.passkey;
  const fields = new FormData(form);
  const credential = await authenticators[form.dataset.passkey](await ask(path + "/begin", new FormData()));
  fields.set("credential", JSON.stringify(credentialJSON(credential)));
  location.assign((await ask(path + "/finish", fields)).location);
}

function offerPasskeys(form) {
  const problem = form.querySelector(".error");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    await ceremony(form).catch((error) => {
      problem.textContent = notAllowed[error.name] || error.message;
      problem.hidden = false;
    });
  });
  form.hidden = false;
}

if (globalThis.PublicKeyCredential) document.querySelectorAll("form[data-passkey]").forEach(offerPasskeys);
enhance(document);
sendOnce();
document.querySelectorAll("[data-live]").forEach((el) => live(el));
